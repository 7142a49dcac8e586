//! Refusals before the first write.

use super::*;

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
