//! A test case: a host, a plan, an interruption, and the comparison.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
};

use model::change::{Change, Setting, State, Step};
use sys::Netns;
use tune::{Folder, NewFlows, Prober, Recovery, TuneError, Unobserved};

use super::{
    after::{self, wait_for_keeper},
    disk::Disk,
    kind::Kind,
    process::{self, Act, What},
    scene::{self, Random},
};

/// A case on a host.
struct Case {
    seed: u64,
    kind: Kind,
    plan: Change,
    journal: PathBuf,
    /// The system's files.
    root: PathBuf,
    disk: Option<Disk>,
    random: Random,
}

/// End of a case.
enum End {
    /// Everything is as before.
    Old,
    /// Everything is as in this dump.
    Kept(String),
}

/// Runs a case in a separate namespace; fails if the host is left changed.
pub fn run(seed: u64) -> ExitCode {
    let netns = Netns::create().and_then(|ns| ns.enter());
    if let Err(error) = netns {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let mut random = Random(seed);
    let kind = Kind::of(seed);
    // Those of a change that an earlier case kept.
    scene::guest::unload();
    scene::set_up(&mut random);
    let root = tempfile::tempdir().unwrap();
    scene::files(root.path(), &mut random);
    let folder = tempfile::tempdir().unwrap();
    let disk = kind.needs_disk().then(|| Disk::new(folder.path()));
    let _peer = (kind == Kind::Blackhole).then(scene::peer);
    let mut case = Case {
        seed,
        kind,
        plan: process::plan(seed, probe(kind)),
        journal: folder.path().join("journal"),
        root: root.path().to_owned(),
        disk,
        random,
    };
    if case.plan.steps.is_empty() || (kind == Kind::Clock && !scene::guest::is_guest()) {
        println!("nothing to do {seed} {kind:?}");
        return ExitCode::SUCCESS;
    }
    let before = case.dump();
    match case.interrupt().and_then(|end| case.judge(end, before)) {
        Ok(()) => {
            println!("ok {seed} {kind:?}");
            let steps = case.plan.steps.iter();
            steps.for_each(|step| println!("  of {}", name(&step.setting)));
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("FAILED {seed} {kind:?}\n{why}");
            for step in &case.plan.steps {
                println!("  {} (before {:?})", step.setting, step.old);
            }
            ExitCode::FAILURE
        }
    }
}

/// The kind of a setting.
fn name(setting: &Setting) -> String {
    let all = format!("{setting:?}");
    all.split_whitespace().next().unwrap_or_default().to_owned()
}

fn probe(kind: Kind) -> &'static str {
    match kind {
        Kind::Blackhole => scene::PEER,
        _ => "",
    }
}

impl Case {
    /// Applies the plan, interrupts it, and lets the host recover.
    fn interrupt(&mut self) -> Result<End, String> {
        let (own, keeper) = self.kind.events(&mut self.random, self.plan.steps.len());
        let status = self.controller(&format!("{own},{keeper}"));
        let may_fail = matches!(
            own.what,
            What::Fill | What::ReadOnly | What::LinkDown | What::KillKeeper
        );
        if status.code().is_some() && !status.success() && !may_fail {
            return Err("the controller failed".to_owned());
        }
        match self.kind {
            Kind::KeeperWhileApplied => self.is_undone_already(status)?,
            Kind::KeeperWhilePending => self.kill_keeper()?,
            Kind::Blackhole => self.is_unconfirmed()?,
            Kind::Clock => self.is_pending()?,
            Kind::NoJournal => {
                std::fs::remove_dir_all(&self.journal).map_err(|e| e.to_string())?;
            }
            Kind::PowerOff => after::power_off(self.seed, &self.journal)?,
            Kind::Undone | Kind::Confirmed | Kind::Confirm | Kind::Persist | Kind::UndoFiles => {
                return self.settled();
            }
            _ => {}
        }
        wait_for_keeper(&self.plan);
        if let Some(disk) = &self.disk {
            disk.repair();
        }
        if let What::Clock(days) = own.what {
            scene::jump(-days);
        }
        if self.kind == Kind::Blackhole {
            NewFlows.connect(scene::PEER).map_err(|e| e.to_string())?;
        }
        let recovery = after::next_start(&self.journal)?;
        let is_undone = matches!(recovery, Recovery::Undone(_));
        if self.kind == Kind::KeeperWhilePending && !is_undone {
            return Err(format!("the next start did not notice: {recovery:?}"));
        }
        match self.state()? {
            State::RolledBack => Ok(End::Old),
            state => Err(format!("its journal says {state}")),
        }
    }

    fn controller(&self, stop: &str) -> ExitStatus {
        Command::new(std::env::current_exe().unwrap())
            .arg("--controller")
            .arg(&self.journal)
            .args([
                self.seed.to_string(),
                stop.to_owned(),
                self.kind.window_ms().to_string(),
                self.kind.turns().to_string(),
                probe(self.kind).to_owned(),
            ])
            .status()
            .unwrap()
    }

    /// The controller that applies a change notices the death of its keeper.
    fn is_undone_already(&self, status: ExitStatus) -> Result<(), String> {
        match (status.code(), self.state()?) {
            (Some(1), State::RolledBack) => Ok(()),
            other => Err(format!("nobody noticed the death of the keeper: {other:?}")),
        }
    }

    fn kill_keeper(&self) -> Result<(), String> {
        let change = self.change()?.ok_or("no journal")?;
        let keeper = change.keeper.ok_or("no keeper")?;
        process::process(keeper).kill().map_err(|e| e.to_string())
    }

    /// No new connection succeeds, so that no confirmation is possible.
    fn is_unconfirmed(&self) -> Result<(), String> {
        let folder = self.journal.to_str().unwrap();
        let confirmed = process::with(folder, &mut Unobserved, |env| {
            tune::confirm(env, None, &mut NewFlows)
        });
        match confirmed {
            Err(TuneError::ProbeAfter { .. }) => Ok(()),
            // Real time passes while this process waits for a processor.
            Err(TuneError::TooLate(_)) if !scene::guest::is_guest() => Ok(()),
            other => Err(format!("confirmed over a dead path: {other:?}")),
        }
    }

    /// The deadline counts the time since boot: it is not moved to now by a clock that jumps.
    fn is_pending(&self) -> Result<(), String> {
        match self.state()? {
            State::Applied => Ok(()),
            state => Err(format!("the clock jumped, and it is {state}")),
        }
    }

    /// Confirms, persists and undoes it, each by a process; the last one of the kind is killed.
    fn settled(&mut self) -> Result<End, String> {
        let point = self.random.below(16) as usize;
        let end = match self.kind {
            Kind::Confirm => self.ends_after(Act::Confirm, point % 5)?,
            Kind::Confirmed => self.ends_after(Act::Confirm, usize::MAX)?,
            Kind::Undone => {
                self.ends_after(Act::Confirm, usize::MAX)?;
                self.ends_after(Act::Undo, usize::MAX)?
            }
            Kind::Persist => {
                self.ends_after(Act::Confirm, usize::MAX)?;
                self.ends_after(Act::Persist, point)?
            }
            _ => {
                self.ends_after(Act::Confirm, usize::MAX)?;
                self.ends_after(Act::Persist, usize::MAX)?;
                // Two states and two points for each step.
                let most = 10 + 4 * self.plan.steps.len() as u64;
                let point = self.random.below(most) as usize;
                self.ends_after(Act::Undo, point)?
            }
        };
        match (self.kind, &end) {
            (Kind::Undone, End::Kept(_)) | (Kind::Confirmed, End::Old) => {
                Err(format!("its journal says {}", self.state()?))
            }
            _ => Ok(end),
        }
    }

    /// Runs a process that is killed at a point, and lets the host recover.
    fn ends_after(&self, act: Act, point: usize) -> Result<End, String> {
        let applied = self.dump();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--act", act.name()])
            .arg(&self.journal)
            .arg(self.plan.id.as_str())
            .arg(&self.root)
            .arg(point.to_string())
            .status()
            .unwrap();
        if status.code().is_some_and(|code| code != 0) {
            return Err(format!("{}: {status}", act.name()));
        }
        wait_for_keeper(&self.plan);
        after::next_start(&self.journal)?;
        let change = self.change()?.ok_or("no journal")?;
        match change.state {
            State::RolledBack => return Ok(End::Old),
            State::Confirmed | State::Persisted => self.holds(&change)?,
            state => return Err(format!("its journal says {state}")),
        }
        // The kernel is as it was applied; the files are all there, or none.
        let is_complete = change.state == State::Persisted;
        match (act, is_complete) {
            (Act::Confirm | Act::Persist, false) | (Act::Undo, true) => Ok(End::Kept(applied)),
            (Act::Persist, true) => {
                let all = change.files.iter();
                let missing: Vec<_> = all.filter(|file| !after::is_written(file)).collect();
                match missing.is_empty() {
                    true => Ok(End::Kept(scene::dump() + &scene::tree(&self.root))),
                    false => Err(format!("files are missing: {missing:?}")),
                }
            }
            (act, _) => Err(format!("{} after {}", change.state, act.name())),
        }
    }

    /// A plan of the same settings has no step, but for those whose options it does not compare:
    /// they have the value that was applied.
    fn holds(&self, change: &Change) -> Result<(), String> {
        let is_applied = |step: &Step| {
            let mut all = change.steps.iter();
            all.any(|s| s.setting == step.setting && s.new.as_ref() == Some(&step.old))
        };
        match process::plan(self.seed, "").steps {
            again if again.iter().all(is_applied) => Ok(()),
            again => Err(format!("{}, and to be set: {again:?}", change.state)),
        }
    }

    /// All processes are over: compares the host with its expected end.
    fn judge(&self, end: End, before: String) -> Result<(), String> {
        if self.kind == Kind::LinkDown {
            after::restore_link();
        }
        let now = self.dump();
        let (expected, now) = match (&end, self.kind) {
            // Restored routes may be listed in another order.
            (End::Old, Kind::LinkDown) => (scene::sorted(&before), scene::sorted(&now)),
            // The routes of two devices that come up at once, too.
            (End::Old, Kind::PowerOff) => (
                scene::sorted(&after::renumbered(&before)),
                scene::sorted(&after::renumbered(&now)),
            ),
            (End::Old, _) => (before.clone(), now),
            (End::Kept(dump), _) => (dump.clone(), now),
        };
        if expected != now {
            return Err(scene::difference(&expected, &now));
        }
        match end {
            End::Kept(dump) if dump == before => Err("a kept change changed nothing".to_owned()),
            _ => Ok(()),
        }
    }

    fn dump(&self) -> String {
        scene::dump() + &scene::tree(&self.root)
    }

    /// The journal of the change; none if it was killed before the first, or the folder is gone.
    fn change(&self) -> Result<Option<Change>, String> {
        one(&self.journal)
    }

    /// The state in the journal; without one, nothing was written.
    fn state(&self) -> Result<State, String> {
        let change = self.change()?;
        Ok(change.map_or(State::RolledBack, |change| change.state))
    }
}

fn one(journal: &Path) -> Result<Option<Change>, String> {
    let folder = Folder::open(journal).map_err(|e| e.to_string())?;
    let mut all = folder.list().map_err(|e| e.to_string())?;
    let last = all.pop().map(|listed| listed.change);
    last.transpose().map_err(|e| e.to_string())
}
