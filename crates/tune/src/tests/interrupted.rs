//! Transactions that end in the middle: killed processes, failing steps, lost journals.

use super::*;

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

/// A damaged journal of another change kept all of them from being undone.
#[test]
fn a_damaged_journal_is_reported_after_the_others_are_undone() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    assert_ne!(world.host.dump(), before);
    let other = ChangeId::from_random([0; 16]);
    std::fs::write(world.journals().join(format!("{other}.json")), "{").unwrap();
    assert!(matches!(world.recover(), Err(TuneError::Journal(_))));
    assert_eq!(world.host.dump(), before);
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
        let folder = Folder::open(&world.journals()).unwrap();
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

/// Nobody would undo it at its deadline.
#[test]
fn a_change_whose_keeper_dies_while_it_is_applied_is_undone_by_its_controller() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    let mut arm = Arm {
        window: WINDOW,
        controller: DEAD,
        keeper: &mut |_: &ChangeId| Ok(DEAD),
        prober: &mut Reachable(true),
    };
    let failed = world.with(&mut Unobserved, |env| apply(env, &plan, &mut arm));
    let Err(TuneError::Step {
        error, rollback, ..
    }) = failed
    else {
        panic!("{failed:?}");
    };
    assert!(matches!(*error, TuneError::KeeperDied), "{error}");
    assert!(rollback.is_complete());
    assert_eq!(world.host.dump(), before);
    assert_eq!(world.journal()[0].state, State::RolledBack);
}

#[test]
fn a_failed_step_undoes_the_previous_ones() {
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
fn a_reboot_undoes_a_pending_change_and_nothing_is_written() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, DEAD, usize::MAX).unwrap();
    // Another boot, with its default values.
    *world.host.boot.borrow_mut() = "another".to_owned();
    world.host.set("net.a", "42");
    assert!(matches!(world.recover().unwrap(), Recovery::Clean));
    assert_eq!(world.journal()[0].state, State::RolledBack);
    assert_eq!(world.host.dump()["net.a"], "42");
}

/// The folder of journals disappears while the change is applied: everything is rolled back,
/// although it cannot be recorded.
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
    let mut observer = Remove(world.journals());
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
    let path = world.journals();
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
    let file = world.journals().join(format!("{}.json", plan.id));
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
        // The next start, after the keeper has died, too.
        let folder = Folder::open(&world.journals()).unwrap();
        for mut change in world.journal() {
            change.keeper = Some(DEAD);
            folder.write(&change).unwrap();
        }
        world.recover().unwrap();
        prop_assert_eq!(world.host.dump(), before);
    }
}

/// Journals of schema 1: one with files, after a boot; one whose rollback failed, before it.
#[test]
fn changes_of_an_older_program_are_undone() {
    const PERSISTED: &str = include_str!("../../../model/tests/data/change-1-persisted.json");
    const FAILED: &str = include_str!("../../../model/tests/data/change-1-rollback-failed.json");
    for (text, is_same_boot) in [(PERSISTED, false), (FAILED, true)] {
        let world = World::new();
        let before = world.host.dump();
        let mut change = Change::parse(text.as_bytes()).unwrap();
        let folder = Folder::open(&world.journals()).unwrap();
        change.scope.netns = 1;
        if is_same_boot {
            *world.host.boot.borrow_mut() = change.scope.boot.clone();
        }
        folder.write(&change).unwrap();
        world.host.set("net.a", "10");
        world.host.set("net.b", "20");
        let id = Some(change.id.as_str());
        let (_, rollback) = world.with(&mut Unobserved, |env| undo(env, id)).unwrap();
        assert!(rollback.is_complete() && rollback.left.is_empty());
        assert_eq!(world.host.dump(), before);
        assert_eq!(world.journal()[0].state, State::RolledBack);
    }
}

/// Bug: what a restore of several operations had left half-way was taken for a change by another
/// program, left as it was, and recorded as undone.
#[test]
fn an_undoing_that_failed_amid_a_restore_is_completed_when_it_is_repeated() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let undone = || world.with(&mut Unobserved, |env| undo(env, Some(plan.id.as_str())));
    world.host.half.borrow_mut().push("net.b".to_owned());
    let (_, failed) = undone().unwrap();
    assert!(!failed.is_complete());
    assert_ne!(world.host.dump(), before);
    world.host.half.borrow_mut().clear();
    let (_, repeated) = undone().unwrap();
    assert!(
        repeated.is_complete() && repeated.left.is_empty(),
        "{repeated}"
    );
    assert_eq!(world.host.dump(), before);
    assert_eq!(world.journal()[0].state, State::RolledBack);
}
