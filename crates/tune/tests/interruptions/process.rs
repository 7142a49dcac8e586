//! Processes of a transaction, killed at the point of the case.

use std::{
    cell::Cell,
    io::Write,
    path::Path,
    process::{Command, ExitCode},
    rc::Rc,
    time::Duration,
};

use model::change::{Change, ChangeId, ProcessId};
use sys::process::Process;
use tune::{
    Arm, BootClock, Env, Folder, Interrupted, Live, NewFlows, Observer, Point, Request, TuneError,
};

use super::{
    disk,
    scene::{self, Random},
};

/// Event at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The process is killed.
    Kill,
    /// Its keeper and the process are killed.
    KillBoth,
    /// Its keeper is killed.
    KillKeeper,
    /// The disk with the journals is filled.
    Fill,
    /// The disk with the journals becomes read-only.
    ReadOnly,
    /// The device goes down and up.
    LinkDown,
    /// The clock jumps by this many days.
    Clock(i64),
}

/// Point at which an event interrupts a process.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The point; the process may end before it.
    pub point: usize,
    /// The event.
    pub what: What,
}

impl Stop {
    /// Later than any process lasts.
    pub fn never() -> Self {
        Self {
            point: 100_000,
            what: What::Kill,
        }
    }
}

impl std::str::FromStr for Stop {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (point, what) = text.split_once(':').unwrap();
        let what = match what {
            "both" => What::KillBoth,
            "keeper" => What::KillKeeper,
            "fill" => What::Fill,
            "read-only" => What::ReadOnly,
            "link" => What::LinkDown,
            "kill" => What::Kill,
            days => What::Clock(days.parse()?),
        };
        let point = point.parse()?;
        Ok(Self { point, what })
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.what {
            What::Kill => "kill",
            What::KillBoth => "both",
            What::KillKeeper => "keeper",
            What::Fill => "fill",
            What::ReadOnly => "read-only",
            What::LinkDown => "link",
            What::Clock(days) => return write!(f, "{}:{days}", self.point),
        };
        write!(f, "{}:{what}", self.point)
    }
}

/// Applies the event of a point to this process.
struct Fate<'a> {
    left: usize,
    keeper: Rc<Cell<Option<ProcessId>>>,
    what: What,
    folder: &'a Path,
}

impl Fate<'_> {
    /// The process ends by it.
    fn kill(&self) {
        Process::own().unwrap().kill().unwrap();
    }

    fn kill_keeper(&self) {
        if let Some(keeper) = self.keeper.get() {
            process(keeper).kill().unwrap();
            while process(keeper).is_alive() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Observer for Fate<'_> {
    fn at(&mut self, _: &Point) -> Result<(), Interrupted> {
        if self.left > 0 {
            self.left -= 1;
            return Ok(());
        }
        let disk = self.folder.parent().unwrap();
        match self.what {
            What::Kill => self.kill(),
            What::KillBoth => {
                self.kill_keeper();
                self.kill();
            }
            What::KillKeeper => self.kill_keeper(),
            What::Fill => disk::fill(disk),
            What::ReadOnly => disk::make_read_only(disk),
            What::LinkDown => scene::down_and_up(),
            What::Clock(days) => scene::jump(days),
        }
        self.left = usize::MAX;
        Ok(())
    }
}

pub fn process(id: ProcessId) -> Process {
    Process {
        pid: id.pid,
        start_ticks: id.start_ticks,
    }
}

/// The plan of a seed on the host in its present state. Settings that this kernel refuses are left
/// out. With a probe, it drops all packets.
pub fn plan(seed: u64, probe: &str) -> Change {
    let mut random = Random(seed ^ 0x7073);
    let mut settings: Vec<_> = scene::settings(&mut random)
        .into_iter()
        .map(|s| (s, None))
        .collect();
    if !probe.is_empty() {
        settings.retain(|(s, _)| !scene::blackhole().is_same_place(s));
        settings.push((scene::blackhole(), None));
    }
    let mut host = Live::open().unwrap();
    loop {
        let request = Request {
            settings: settings.clone(),
            probes: probe.split_whitespace().map(str::to_owned).collect(),
            program: "test".to_owned(),
            ..Request::default()
        };
        // The same id for all processes of the case.
        let id = ChangeId::from_random([seed as u8; 16]);
        match tune::plan(&mut host, &request, id) {
            Ok(plan) => return plan,
            Err(TuneError::Refused(all)) => {
                for refusal in &all {
                    println!("  left out: {refusal}");
                }
                settings.retain(|(s, _)| all.iter().all(|r| r.setting != *s));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Applies the plan of a seed, and suspends and applies it again this many times; `stop` is
/// `controller:what,keeper`.
pub fn controller(
    folder: &str,
    seed: u64,
    stop: &str,
    window_ms: u64,
    turns: u32,
    probe: &str,
) -> ExitCode {
    let (own, keepers) = stop.split_once(',').unwrap();
    let own: Stop = own.parse().unwrap();
    let plan = plan(seed, probe);
    let keeper = Rc::new(Cell::new(None));
    let mut observer = Fate {
        left: own.point,
        keeper: keeper.clone(),
        what: own.what,
        folder: Path::new(folder),
    };
    let this = Process::own().unwrap();
    let mut arm = Arm {
        window: Duration::from_millis(window_ms),
        controller: ProcessId {
            pid: this.pid,
            start_ticks: this.start_ticks,
        },
        keeper: &mut |id: &ChangeId| {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["--keeper", folder, id.as_str(), keepers]);
            let started = tune::start_keeper(command)?;
            keeper.set(Some(started));
            Ok(started)
        },
        prober: &mut NewFlows,
    };
    let applied = with(folder, &mut observer, |env| {
        let applied = tune::apply(env, &plan, &mut arm)?;
        for _ in 0..turns {
            tune::set_aside(env, None)?;
            tune::set_again(env, None)?;
        }
        Ok(applied)
    });
    match applied {
        Ok(_) | Err(TuneError::Nothing) => ExitCode::SUCCESS,
        Err(error) => {
            println!("  controller: {error}");
            ExitCode::FAILURE
        }
    }
}

pub fn keeper(folder: &str, id: &str, stop: usize) -> ExitCode {
    sys::process::ignore_requests_to_end().unwrap();
    let mut observer = Fate {
        left: stop,
        keeper: Rc::default(),
        what: What::Kill,
        folder: Path::new(folder),
    };
    let id: ChangeId = id.parse().unwrap();
    let kept = with(folder, &mut observer, |env| {
        tune::keep(env, &id, &mut |word| {
            let mut out = std::io::stdout().lock();
            out.write_all(&[word]).and_then(|()| out.flush())
        })
    });
    ExitCode::from(u8::from(kept.is_err()))
}

/// What a process does with a change.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Confirm,
    Persist,
    Undo,
}

impl Act {
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Persist => "persist",
            Self::Undo => "undo",
        }
    }
}

/// Confirms the change, writes its files below a root, or undoes it; killed at a point.
pub fn act(act: &str, folder: &str, id: &str, root: &str, stop: usize) -> ExitCode {
    let mut observer = Fate {
        left: stop,
        keeper: Rc::default(),
        what: What::Kill,
        folder: Path::new(folder),
    };
    let done = with(folder, &mut observer, |env| match act {
        "confirm" => tune::confirm(env, Some(id), &mut NewFlows).map(drop),
        "persist" => tune::persist(env, id, Path::new(root)).map(drop),
        _ => tune::undo(env, Some(id)).map(drop),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("  {act}: {error}");
            ExitCode::FAILURE
        }
    }
}

pub fn with<T>(
    folder: &str,
    observer: &mut dyn Observer,
    act: impl FnOnce(&mut Env<'_>) -> T,
) -> T {
    let folder = Folder::open(Path::new(folder)).unwrap();
    let mut host = Live::open().unwrap();
    act(&mut Env {
        folder: &folder,
        host: &mut host,
        clock: &BootClock,
        observer,
    })
}
