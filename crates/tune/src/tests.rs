//! Transactions on a host in memory, ended at every point.

#![allow(clippy::unwrap_used)]

use std::{cell::Cell, collections::BTreeMap, io, rc::Rc, time::Duration};

use model::change::{Change, ChangeId, ProcessId, Setting, State};
use proptest::prelude::*;
use sys::process::Process;

use crate::{fake::Fake, *};

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

/// Stops at the n-th point.
struct StopAt(usize, Vec<Point>);

impl Observer for StopAt {
    fn at(&mut self, point: &Point) -> Result<(), Interrupted> {
        self.1.push(point.clone());
        match self.1.len() > self.0 {
            true => Err(Interrupted),
            false => Ok(()),
        }
    }
}

struct Reachable(bool);

impl Prober for Reachable {
    fn connect(&mut self, _: &str) -> io::Result<()> {
        match self.0 {
            true => Ok(()),
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

    fn with<T>(&self, observer: &mut dyn Observer, act: impl FnOnce(&mut Env<'_>) -> T) -> T {
        let folder = Folder::open(self.folder.path()).unwrap();
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
            created_unix_s: None,
        };
        plan(&mut self.host.clone(), &request, fresh_id().unwrap())
    }

    fn apply(&self, plan: &Change, keeper: ProcessId, stop: usize) -> Result<Change, TuneError> {
        let mut observer = StopAt(stop, Vec::new());
        let mut arm = Arm {
            window: WINDOW,
            controller: DEAD,
            keeper: &mut |_: &ChangeId| Ok(keeper),
            prober: &mut Reachable(true),
        };
        self.with(&mut observer, |env| apply(env, plan, &mut arm))
    }

    fn recover(&self) -> Result<Recovery, TuneError> {
        self.with(&mut Unobserved, recover)
    }

    fn journal(&self) -> Vec<Change> {
        let folder = Folder::open(self.folder.path()).unwrap();
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

#[test]
fn a_confirmed_change_stays() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let confirmed = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true)).unwrap()
    });
    assert_eq!(confirmed.change.state, State::Confirmed);
    assert!(matches!(world.recover().unwrap(), Recovery::Clean));
    assert_eq!(world.host.dump(), new_values());
}

#[test]
fn controller_and_keeper_killed_at_any_point_leave_the_old_values_after_the_next_start() {
    let all = points();
    assert!(all > 12, "{all}");
    for stop in 0..all {
        let world = World::new();
        let before = world.host.dump();
        let plan = world.plan(NEW).unwrap();
        let stopped = world.apply(&plan, DEAD, stop);
        assert!(matches!(stopped, Err(TuneError::Interrupted(_))), "{stop}");
        world.recover().unwrap();
        assert_eq!(world.host.dump(), before, "{stop}");
        for change in world.journal() {
            assert_eq!(change.state, State::RolledBack, "{stop}");
        }
    }
}

#[test]
fn an_undoing_that_is_killed_at_any_point_is_completed_by_the_next() {
    for stop in 0..100 {
        let world = World::new();
        let before = world.host.dump();
        let plan = world.plan(NEW).unwrap();
        world.apply(&plan, DEAD, usize::MAX).unwrap();
        let mut observer = StopAt(stop, Vec::new());
        let first = world.with(&mut observer, recover);
        world.recover().unwrap();
        assert_eq!(world.host.dump(), before, "{stop}");
        if first.is_ok() {
            assert!(stop > 8, "{stop}");
            return;
        }
    }
    panic!("an undoing has fewer points than that");
}

/// The keeper alone, after the controller was killed at any point at which the keeper runs.
#[test]
fn a_killed_controller_is_noticed_by_the_keeper_without_any_other_start() {
    for stop in 0..points() {
        let world = World::new();
        let before = world.host.dump();
        let plan = world.plan(NEW).unwrap();
        let stopped = world.apply(&plan, alive(), stop);
        assert!(stopped.is_err());
        let folder = Folder::open(world.folder.path()).unwrap();
        if folder.read(&plan.id).is_err() {
            // Killed before the first journal: nothing was written, and there is no keeper.
            assert_eq!(world.host.dump(), before);
            continue;
        }
        let kept = world.with(&mut Unobserved, |env| keep(env, &plan.id, &mut |_| Ok(())));
        kept.unwrap();
        assert_eq!(world.host.dump(), before, "{stop}");
        assert_eq!(folder.read(&plan.id).unwrap().state, State::RolledBack);
    }
}

#[test]
fn the_keeper_undoes_at_the_deadline_and_not_before() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let start = world.clock.boottime_ns();
    let rollback = world.with(&mut Unobserved, |env| keep(env, &plan.id, &mut |_| Ok(())));
    assert!(rollback.unwrap().unwrap().is_complete());
    assert_eq!(world.host.dump(), before);
    assert_eq!(world.clock.boottime_ns() - start, WINDOW.as_nanos() as u64);
}

#[test]
fn a_confirmation_after_the_deadline_is_refused_and_undoes() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.clock.sleep(WINDOW);
    let late = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true))
    });
    assert!(matches!(late, Err(TuneError::TooLate(_))), "{late:?}");
    assert_eq!(world.host.dump(), before);
}

#[test]
fn a_confirmation_whose_keeper_died_is_too_late() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    let late = world.with(&mut Unobserved, |env| {
        confirm(env, Some(plan.id.short()), &mut Reachable(true))
    });
    assert!(matches!(late, Err(TuneError::TooLate(_))), "{late:?}");
    assert_eq!(world.host.dump(), before);
}

/// An established connection survives changes that break new ones, so only a new one counts.
#[test]
fn a_change_that_breaks_new_connections_is_not_confirmed() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let refused = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(false))
    });
    assert!(matches!(refused, Err(TuneError::ProbeAfter { .. })));
    assert!(world.journal()[0].is_pending());
}

#[test]
fn a_second_change_waits_for_the_first() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let second = world.plan(&[("net.a", "5")]).unwrap();
    let refused = world.apply(&second, alive(), usize::MAX);
    assert!(matches!(refused, Err(TuneError::Pending(id)) if id == plan.id));
}

#[test]
fn a_prolonged_change_has_the_later_deadline() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let later = Duration::from_secs(600);
    world.with(&mut Unobserved, |env| {
        prolong(env, None, &mut Reachable(true), later).unwrap()
    });
    world.clock.sleep(WINDOW * 2);
    let kept = world.with(&mut Unobserved, |env| {
        confirm(env, None, &mut Reachable(true))
    });
    assert_eq!(kept.unwrap().change.state, State::Confirmed);
}

#[test]
fn a_step_that_fails_undoes_those_before_it() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.host.stubborn.borrow_mut().push("net.c".to_owned());
    let failed = world.apply(&plan, alive(), usize::MAX);
    let Err(TuneError::Step { step, rollback, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(step, 2);
    assert!(rollback.is_complete());
    assert_eq!(world.host.dump(), before);
}

#[test]
fn a_value_that_cannot_be_set_again_does_not_stop_the_others() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    world.host.stubborn.borrow_mut().push("net.b".to_owned());
    world.recover().unwrap();
    let now = world.host.dump();
    assert_eq!((now["net.a"].as_str(), now["net.c"].as_str()), ("1", "3"));
    let state = world.journal()[0].state.clone();
    assert!(
        matches!(state, State::RollbackFailed { step: 1, .. }),
        "{state:?}"
    );
    // It can be tried again.
    world.host.stubborn.borrow_mut().clear();
    world.with(&mut Unobserved, |env| {
        undo(env, Some(plan.id.as_str())).unwrap()
    });
    assert_eq!(world.host.dump()["net.b"], "2");
}

#[test]
fn a_value_changed_by_another_program_is_reported_and_left() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    world.host.set("net.b", "77");
    let (_, rollback) = world.with(&mut Unobserved, |env| undo(env, None).unwrap());
    assert_eq!(rollback.left.len(), 1);
    assert_eq!(world.host.dump()["net.b"], "77");
    assert_eq!(world.host.dump()["net.a"], "1");
}

#[test]
fn a_reboot_undoes_a_pending_change_and_nothing_is_written() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    // Another boot, whose values are its own.
    *world.host.boot.borrow_mut() = "another".to_owned();
    world.host.set("net.a", "42");
    assert!(matches!(world.recover().unwrap(), Recovery::Clean));
    assert_eq!(world.journal()[0].state, State::RolledBack);
    assert_eq!(world.host.dump()["net.a"], "42");
}

#[test]
fn without_privilege_every_step_names_the_missing_one_and_nothing_is_written() {
    let mut world = World::new();
    world.host.unprivileged = true;
    let plan = world.plan(NEW).unwrap();
    let refused = world.apply(&plan, alive(), usize::MAX).unwrap_err();
    let text = refused.to_string();
    assert_eq!(text.matches("CAP_NET_ADMIN").count(), 3, "{text}");
    assert!(world.journal().is_empty());
}

#[test]
fn a_plan_names_every_refusal_at_once() {
    let mut world = World::new();
    world.host = Fake::with(&[("net.refused1", "0"), ("net.refused2", "0"), ("net.a", "1")]);
    let settings = [
        ("net.refused1", "1"),
        ("net.a", "2"),
        ("net.refused2", "1"),
        ("net.a", "3"),
    ];
    let refused = world.plan(&settings).unwrap_err();
    let TuneError::Refused(all) = refused else {
        panic!("{refused}");
    };
    assert_eq!(all.len(), 3, "{all:?}");
}

#[test]
fn a_plan_that_is_out_of_date_is_not_applied() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.host.set("net.b", "9");
    let refused = world.apply(&plan, alive(), usize::MAX);
    assert!(matches!(refused, Err(TuneError::Stale(_))));
}

#[test]
fn a_connection_that_does_not_work_before_is_named_before() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    let mut arm = Arm {
        window: WINDOW,
        controller: DEAD,
        keeper: &mut |_: &ChangeId| Ok(alive()),
        prober: &mut Reachable(false),
    };
    let refused = world.with(&mut Unobserved, |env| apply(env, &plan, &mut arm));
    assert!(matches!(refused, Err(TuneError::ProbeBefore { .. })));
    assert!(world.journal().is_empty());
}

#[test]
fn a_keeper_that_does_not_start_leaves_everything_unchanged() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    let mut arm = Arm {
        window: WINDOW,
        controller: DEAD,
        keeper: &mut |_: &ChangeId| Err(io::ErrorKind::NotFound.into()),
        prober: &mut Reachable(true),
    };
    let refused = world.with(&mut Unobserved, |env| apply(env, &plan, &mut arm));
    assert!(matches!(refused, Err(TuneError::NoKeeper(_))));
    assert_eq!(world.host.dump(), before);
    assert_eq!(world.journal()[0].state, State::RolledBack);
}

/// The folder of journals disappears while the change is applied: everything is rolled back,
/// although nothing of it can be recorded.
#[test]
fn a_journal_that_cannot_be_written_any_more_undoes_the_change() {
    struct Remove(std::path::PathBuf);
    impl Observer for Remove {
        fn at(&mut self, point: &Point) -> Result<(), Interrupted> {
            if *point == Point::AfterWrite(1) {
                std::fs::remove_dir_all(&self.0).unwrap();
            }
            Ok(())
        }
    }
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    let mut arm = Arm {
        window: WINDOW,
        controller: DEAD,
        keeper: &mut |_: &ChangeId| Ok(alive()),
        prober: &mut Reachable(true),
    };
    let mut observer = Remove(world.folder.path().to_owned());
    let failed = world.with(&mut observer, |env| apply(env, &plan, &mut arm));
    let Err(TuneError::Step { rollback, .. }) = failed else {
        panic!("{failed:?}");
    };
    assert!(rollback.is_complete() && rollback.journal.is_some());
    assert_eq!(world.host.dump(), before);
}

/// The keeper has the old values in its memory.
#[test]
fn a_keeper_whose_journal_is_gone_undoes_from_memory() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let path = world.folder.path().to_owned();
    let rollback = world.with(&mut Unobserved, |env| {
        keep(env, &plan.id, &mut |_| std::fs::remove_dir_all(&path))
    });
    assert!(rollback.unwrap().unwrap().is_complete());
    assert_eq!(world.host.dump(), before);
}

#[test]
fn journals_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let file = world.folder.path().join(format!("{}.json", plan.id));
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Random plans, ended at random points of applying and of undoing.
    #[test]
    fn random_plans_ended_anywhere_leave_all_old_values(
        values in proptest::collection::vec((0..6_usize, 0..100_u32), 1..6),
        stop in 0..40_usize,
        stop_again in 0..40_usize,
        keeper: bool,
    ) {
        let names: Vec<String> = (0..6).map(|n| format!("net.n{n}")).collect();
        let mut world = World::new();
        world.host = Fake::default();
        for name in &names {
            world.host.set(name, "0");
        }
        let before = world.host.dump();
        let mut wanted: Vec<(&str, String)> = Vec::new();
        for (name, value) in &values {
            if wanted.iter().all(|(n, _)| n != &names[*name]) {
                wanted.push((&names[*name], value.to_string()));
            }
        }
        let wanted: Vec<(&str, &str)> = wanted.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let plan = world.plan(&wanted).unwrap();
        let _ = world.apply(&plan, if keeper { alive() } else { DEAD }, stop);
        let mut observer = StopAt(stop_again, Vec::new());
        if keeper && !world.journal().is_empty() {
            let _ = world.with(&mut observer, |env| keep(env, &plan.id, &mut |_| Ok(())));
        } else {
            let _ = world.with(&mut observer, recover);
        }
        // The next start, after the keeper is gone too.
        let folder = Folder::open(world.folder.path()).unwrap();
        for mut change in world.journal() {
            change.keeper = Some(DEAD);
            folder.write(&change).unwrap();
        }
        world.recover().unwrap();
        prop_assert_eq!(world.host.dump(), before);
    }
}
