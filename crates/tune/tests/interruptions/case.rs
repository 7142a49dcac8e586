//! A test case: a host, a plan, an interruption, and the comparison.

use std::{
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

use model::change::{Change, State};
use sys::{Netns, clock::Instant};
use tune::{Folder, NewTcp, Prober, Recovery, TuneError, Unobserved};

use super::{
    disk::Disk,
    process::{self, Stop, What},
    scene::{self, Random},
};

/// Longest time for the keeper to end after the deadline.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Interruption of the transaction.
#[derive(Clone, Copy, Debug)]
enum Interruption {
    /// The controller is killed at a point; the keeper undoes.
    Controller(usize),
    /// Both are killed at a point; the next start undoes.
    Both(usize),
    /// The keeper is killed while it undoes; the next start completes it.
    Keeper(usize),
    /// It is suspended and applied again in turns, and the controller is killed at a point; the
    /// keeper undoes it at the deadline.
    Turns(usize),
    /// The same, and the keeper is killed before.
    TurnsBoth(usize),
    /// No confirmation.
    Deadline,
    /// The device goes down and up; no confirmation.
    LinkDown,
    /// The change itself drops every packet: it cannot be confirmed.
    Blackhole,
    /// The clock jumps by this many days, in a guest only.
    Clock(i64),
    /// The disk with the journals is full from a point on.
    Full(usize),
    /// It becomes read-only after the change was applied.
    ReadOnly,
    /// The power is cut at a point: all processes end, and the host starts as it always does.
    PowerOff(usize),
    /// The folder of journals disappears.
    NoJournal,
    /// It is confirmed and undone later.
    Undone,
    /// It is confirmed.
    Confirmed,
}

fn interruption(random: &mut Random) -> Interruption {
    // A transaction of some six steps has about forty points.
    let point = random.below(45) as usize;
    // Two turns of such a plan have some forty more.
    let later = 20 + random.below(80) as usize;
    match random.below(32) {
        0..=3 => Interruption::Controller(point),
        4..=7 => Interruption::Both(point),
        8..=9 => Interruption::Keeper(point),
        10 => Interruption::Deadline,
        11..=12 => Interruption::LinkDown,
        13 => Interruption::NoJournal,
        14..=15 => Interruption::Undone,
        16..=18 => Interruption::Turns(later),
        19 => Interruption::TurnsBoth(later),
        20..=21 => Interruption::Blackhole,
        22..=23 => Interruption::Clock([-3650, 3650, 400][random.below(3) as usize]),
        24..=26 => Interruption::Full(point),
        27 => Interruption::ReadOnly,
        28..=30 => Interruption::PowerOff(point),
        _ => Interruption::Confirmed,
    }
}

/// Runs a case in a separate namespace; fails if the host is left changed.
pub fn run(seed: u64) -> ExitCode {
    let netns = Netns::create().and_then(|ns| ns.enter());
    if let Err(error) = netns {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let mut random = Random(seed);
    scene::set_up(&mut random);
    let interruption = interruption(&mut random);
    let folder = tempfile::tempdir().unwrap();
    let disk = match interruption {
        Interruption::Full(_) | Interruption::ReadOnly => Some(Disk::new(folder.path())),
        _ => None,
    };
    let _peer = match interruption {
        Interruption::Blackhole => Some(scene::peer()),
        _ => None,
    };
    let journal = folder.path().join("journal");
    let before = scene::dump();
    let result = interrupt(seed, interruption, &journal, disk.as_ref());
    let after = scene::dump();
    // Restored routes may be listed in another order.
    let (before, after) = match interruption {
        Interruption::LinkDown => (scene::sorted(&before), scene::sorted(&after)),
        _ => (before, after),
    };
    let verdict = result.and_then(|kept| match (kept, after == before) {
        (false, true) | (true, false) => Ok(()),
        (false, false) => Err(scene::difference(&before, &after)),
        (true, true) => Err("a confirmed change changed nothing".to_owned()),
    });
    match verdict {
        Ok(()) => {
            println!("ok {seed} {interruption:?}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("FAILED {seed} {interruption:?}\n{why}");
            ExitCode::FAILURE
        }
    }
}

/// Applies and interrupts; returns true if the change is to be kept.
fn interrupt(
    seed: u64,
    interruption: Interruption,
    journal: &Path,
    disk: Option<&Disk>,
) -> Result<bool, String> {
    use Interruption as I;
    const NEVER: usize = 100_000;
    let at = |point, what| Stop { point, what };
    let never = at(NEVER, What::Kill);
    let (controller, keeper, window) = match interruption {
        I::Controller(point) | I::Turns(point) => (at(point, What::Kill), NEVER, 3000),
        I::Both(point) | I::TurnsBoth(point) | I::PowerOff(point) => {
            (at(point, What::KillBoth), NEVER, 3000)
        }
        I::Full(point) => (at(point, What::Fill), NEVER, 1500),
        I::Keeper(point) => (never, point, 800),
        I::Deadline | I::LinkDown | I::NoJournal | I::Blackhole | I::ReadOnly => {
            (never, NEVER, 800)
        }
        I::Clock(_) => (never, NEVER, 3000),
        I::Undone | I::Confirmed => (never, NEVER, 60_000),
    };
    let probe = match interruption {
        I::Blackhole => scene::PEER,
        _ => "",
    };
    let plan = process::plan(seed, probe);
    if plan.steps.is_empty() {
        return Ok(false);
    }
    let turns = match interruption {
        I::Turns(_) | I::TurnsBoth(_) => 2,
        _ => 0,
    };
    let status = Command::new(std::env::current_exe().unwrap())
        .arg("--controller")
        .arg(journal)
        .args([
            seed.to_string(),
            format!("{controller},{keeper}"),
            window.to_string(),
            turns.to_string(),
            probe.to_owned(),
        ])
        .status()
        .unwrap();
    let killed = status.code().is_none();
    let may_fail = matches!(interruption, I::Full(_));
    if !killed && !status.success() && !may_fail {
        return Err("the controller failed".to_owned());
    }
    match interruption {
        I::Blackhole => unconfirmed(journal)?,
        I::Clock(days) => return clock_jumps(journal, &plan, days).map(|()| false),
        I::ReadOnly => disk.ok_or("no disk")?.read_only(),
        I::PowerOff(_) => return power_off(seed, journal).map(|()| false),
        I::LinkDown => {
            scene::sh("ip link set v0 down && ip link set v0 up").ok_or("no link")?;
            return link_down(journal, &plan).map(|()| false);
        }
        I::NoJournal => std::fs::remove_dir_all(journal).map_err(|e| e.to_string())?,
        I::Undone | I::Confirmed => return settle(journal, matches!(interruption, I::Confirmed)),
        _ => {}
    }
    wait_for_keeper(&plan);
    if let Some(disk) = disk {
        disk.repair();
    }
    if matches!(interruption, I::Blackhole) {
        NewTcp.connect(scene::PEER).map_err(|e| e.to_string())?;
    }
    next_start(journal)?;
    Ok(false)
}

/// No new connection succeeds, so that no confirmation is possible.
fn unconfirmed(journal: &Path) -> Result<(), String> {
    let confirmed = process::with(journal.to_str().unwrap(), &mut Unobserved, |env| {
        tune::confirm(env, None, &mut NewTcp)
    });
    match confirmed {
        Err(TuneError::ProbeAfter { .. }) => Ok(()),
        other => Err(format!("confirmed over a dead path: {other:?}")),
    }
}

/// The deadline is neither immediate nor never: it counts the time since boot.
fn clock_jumps(journal: &Path, plan: &Change, days: i64) -> Result<(), String> {
    let jump = |days: i64| scene::sh(&format!("date -s @$(($(date +%s) + {days} * 86400))"));
    let jumped = is_guest() && jump(days).is_some();
    let state = Folder::open(journal).unwrap().read(&plan.id);
    let is_pending = state.is_ok_and(|change| change.state == State::Applied);
    wait_for_keeper(plan);
    if jumped {
        jump(-days).ok_or("the clock cannot be set back")?;
    }
    if !is_pending {
        return Err("it was undone as soon as the clock jumped".to_owned());
    }
    next_start(journal)
}

/// Returns true if this is the lab's guest, which has a separate clock.
fn is_guest() -> bool {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpus.contains("User Mode Linux")
}

/// The host reboots: without its processes, with the links and routes of its configuration, and
/// another boot id. A new namespace replaces the kernel's state, which a boot clears.
fn power_off(seed: u64, journal: &Path) -> Result<(), String> {
    let folder = Folder::open(journal).unwrap();
    for listed in folder.list().map_err(|e| e.to_string())? {
        let change = listed.change.map_err(|e| e.to_string())?;
        for process in change.keeper.into_iter().chain(change.controller) {
            let _ = process::process(process).kill();
        }
    }
    Netns::create()
        .and_then(|ns| ns.enter())
        .map_err(|e| e.to_string())?;
    scene::set_up(&mut Random(seed));
    let id = journal.with_extension("boot");
    std::fs::write(&id, "5f5c9d1a-0000-4000-8000-000000000000\n").map_err(|e| e.to_string())?;
    let id = id.display();
    scene::sh(&format!(
        "mount --bind {id} /proc/sys/kernel/random/boot_id"
    ))
    .ok_or("no other boot id")?;
    let again = next_start(journal);
    scene::sh("umount /proc/sys/kernel/random/boot_id").ok_or("the boot id stays")?;
    again
}

/// Confirms through the library, as `tune confirm` does, and undoes it unless it is to be kept.
fn settle(journal: &Path, keep: bool) -> Result<bool, String> {
    let folder = journal.to_str().unwrap();
    let say = |e: TuneError| e.to_string();
    process::with(folder, &mut Unobserved, |env| {
        tune::confirm(env, None, &mut NewTcp).map_err(say)
    })?;
    next_start(journal)?;
    if keep {
        return Ok(true);
    }
    let all = Folder::open(journal)
        .unwrap()
        .list()
        .map_err(|e| e.to_string())?;
    let id = all[0].id.clone();
    let (_, rollback) = process::with(folder, &mut Unobserved, |env| {
        tune::undo(env, Some(id.as_str())).map_err(say)
    })?;
    match rollback.is_complete() && rollback.left.is_empty() {
        true => Ok(false),
        false => Err(rollback.to_string()),
    }
}

/// Waits until no keeper of this case runs: its journal is final, or it was killed.
fn wait_for_keeper(plan: &Change) {
    let until = Instant::now().after(TIMEOUT);
    let name = plan.id.to_string();
    while Instant::now() < until && is_kept(&name) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns true if a process with this id on its command line runs.
fn is_kept(id: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|p| std::fs::read(p.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(id))
}

/// The next command on this host finds the leftovers.
fn next_start(journal: &Path) -> Result<(), String> {
    let until = Instant::now().after(TIMEOUT);
    let recovered = loop {
        let found = process::with(journal.to_str().unwrap(), &mut Unobserved, tune::recover);
        // A process that was killed takes a moment to end.
        if !matches!(found, Ok(Recovery::Waiting(_))) || Instant::now() > until {
            break found;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    match recovered {
        Ok(Recovery::Waiting(_)) => return Err("its keeper still waits".to_owned()),
        Ok(Recovery::Undone(all)) => {
            for (_, rollback) in all {
                if !rollback.is_complete() || !rollback.left.is_empty() {
                    return Err(rollback.to_string());
                }
            }
        }
        Ok(Recovery::Clean) => {}
        Err(error) => return Err(error.to_string()),
    }
    let all = Folder::open(journal)
        .unwrap()
        .list()
        .map_err(|e| e.to_string())?;
    for listed in all {
        let change = listed.change.map_err(|e| e.to_string())?;
        match change.state {
            State::RolledBack | State::Confirmed => {}
            state => return Err(format!("its journal says {state}")),
        }
    }
    Ok(())
}

/// A device that went down has lost its routes, changed or not; the rest must be as if nothing had
/// been changed.
fn link_down(journal: &Path, plan: &Change) -> Result<(), String> {
    wait_for_keeper(plan);
    let _ = process::with(journal.to_str().unwrap(), &mut Unobserved, tune::recover);
    // The routes and addresses that the device lost are restored as at the start.
    for line in scene::LOST_BY_DOWN {
        let _ = scene::sh(line);
    }
    std::thread::sleep(Duration::from_millis(300));
    Ok(())
}
