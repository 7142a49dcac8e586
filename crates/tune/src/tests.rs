//! Transactions on a host in memory, ended at every point.

#![allow(clippy::unwrap_used)]

use std::{cell::Cell, collections::BTreeMap, io, path::PathBuf, rc::Rc, time::Duration};

use model::change::{Change, ChangeId, ProcessId, Setting, State};
use proptest::prelude::*;
use sys::process::Process;

use crate::{
    fake::{Fake, StopAt},
    *,
};

mod aside;
mod confirmed;
mod interrupted;
mod refused;

/// A clock that only moves when a thread sleeps or sets it.
#[derive(Clone, Default)]
struct Hand(Rc<Cell<u64>>);

impl Clock for Hand {
    fn boottime_ns(&self) -> u64 {
        self.0.get()
    }

    fn sleep(&self, span: Duration) {
        self.0.set(self.0.get() + span.as_nanos() as u64);
    }
}

struct Reachable(bool);

impl Prober for Reachable {
    fn connect(&mut self, target: &str) -> io::Result<Vec<String>> {
        match self.0 {
            true => Ok(vec![target.to_owned()]),
            false => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

const DEAD: ProcessId = ProcessId {
    pid: 1,
    start_ticks: u64::MAX,
};

fn alive() -> ProcessId {
    let own = Process::own().unwrap();
    ProcessId {
        pid: own.pid,
        start_ticks: own.start_ticks,
    }
}

struct World {
    folder: tempfile::TempDir,
    host: Fake,
    clock: Hand,
}

const WINDOW: Duration = Duration::from_secs(60);

impl World {
    fn new() -> Self {
        let values = [("net.a", "1"), ("net.b", "2"), ("net.c", "3")];
        Self {
            folder: tempfile::tempdir().unwrap(),
            host: Fake::with(&values),
            clock: Hand::default(),
        }
    }

    /// The folder of the journals; their copy is beside it.
    fn journals(&self) -> PathBuf {
        self.folder.path().join("tune")
    }

    fn with<T>(&self, observer: &mut dyn Observer, act: impl FnOnce(&mut Env<'_>) -> T) -> T {
        let folder = Folder::open(&self.journals()).unwrap();
        let mut host = self.host.clone();
        act(&mut Env {
            folder: &folder,
            host: &mut host,
            clock: &self.clock,
            observer,
        })
    }

    fn plan(&self, settings: &[(&str, &str)]) -> Result<Change, TuneError> {
        let settings = settings.iter().map(|(name, value)| {
            let name = (*name).to_owned();
            let value = (*value).to_owned();
            (Setting::Sysctl { name, value }, None)
        });
        let request = Request {
            settings: settings.collect(),
            probes: vec!["far:22".to_owned()],
            program: "0".to_owned(),
            ..Request::default()
        };
        plan(&mut self.host.clone(), &request, fresh_id().unwrap())
    }

    /// Applies a plan; a keeper that is dead dies after that.
    fn apply(&self, plan: &Change, keeper: ProcessId, stop: usize) -> Result<Change, TuneError> {
        let mut observer = StopAt(stop, Vec::new());
        let mut arm = Arm {
            window: WINDOW,
            controller: DEAD,
            keeper: &mut |_: &ChangeId| Ok(alive()),
            prober: &mut Reachable(true),
        };
        let applied = self.with(&mut observer, |env| apply(env, plan, &mut arm));
        let folder = Folder::open(&self.journals()).unwrap();
        if let Ok(change) = folder.read(&plan.id) {
            let keeper = change.keeper.map(|_| keeper);
            folder.write(&Change { keeper, ..change }).unwrap();
        }
        applied
    }

    fn recover(&self) -> Result<Recovery, TuneError> {
        self.with(&mut Unobserved, recover)
    }

    fn journal(&self) -> Vec<Change> {
        let folder = Folder::open(&self.journals()).unwrap();
        let all = folder.list().unwrap().into_iter();
        all.map(|listed| listed.change.unwrap()).collect()
    }
}

const NEW: &[(&str, &str)] = &[("net.a", "10"), ("net.b", "20"), ("net.c", "30")];

fn new_values() -> BTreeMap<String, String> {
    Fake::with(NEW).dump()
}

/// Points of an undisturbed transaction.
fn points() -> usize {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    let mut observer = StopAt(usize::MAX, Vec::new());
    let mut arm = Arm {
        window: WINDOW,
        controller: DEAD,
        keeper: &mut |_: &ChangeId| Ok(alive()),
        prober: &mut Reachable(true),
    };
    world
        .with(&mut observer, |env| apply(env, &plan, &mut arm))
        .unwrap();
    observer.1.len()
}
