//! Changes that are set aside for a measurement, and applied again.

use super::*;

/// A change that is set aside, while somebody else sets one of its values.
fn foreign() -> World {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let aside = |env: &mut Env<'_>| set_aside(env, None);
    world.with(&mut Unobserved, aside).unwrap();
    world.host.set("net.b", "77");
    world
}

fn is_left(world: &World, rollback: &Rollback) {
    assert_eq!(rollback.left.len(), 1, "{rollback}");
    let expected = Fake::with(&[("net.a", "1"), ("net.b", "77"), ("net.c", "3")]);
    assert_eq!(world.host.dump(), expected.dump());
}

#[test]
fn a_change_can_be_set_aside_and_applied_again_and_again() {
    let world = World::new();
    let before = world.host.dump();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    for _ in 0..2 {
        let aside = |env: &mut Env<'_>| set_aside(env, None);
        world.with(&mut Unobserved, aside).unwrap();
        assert_eq!(world.host.dump(), before);
        let again = |env: &mut Env<'_>| set_again(env, None);
        world.with(&mut Unobserved, again).unwrap();
        assert_eq!(world.host.dump(), new_values());
    }
}

/// It was overwritten, and the undoing at the end of the proof set the old value.
#[test]
fn what_somebody_else_sets_while_a_change_is_set_aside_is_not_overwritten() {
    let world = foreign();
    let ended = world.with(&mut Unobserved, |env| set_again(env, None));
    let Err(TuneError::Step {
        step: 1, rollback, ..
    }) = ended
    else {
        panic!("{ended:?}");
    };
    is_left(&world, &rollback);
}

/// As after a measurement that failed.
#[test]
fn what_somebody_else_sets_while_a_change_is_set_aside_is_left_by_its_undoing() {
    let world = foreign();
    let (_, rollback) = world.with(&mut Unobserved, |env| undo(env, None).unwrap());
    is_left(&world, &rollback);
}

/// Bug: after a proof that was killed, a change was kept whose old values were set.
#[test]
fn a_change_that_is_set_aside_is_not_confirmed_until_it_is_applied_again() {
    let world = World::new();
    let plan = world.plan(NEW).unwrap();
    world.apply(&plan, alive(), usize::MAX).unwrap();
    let set = |on: bool| {
        world.with(&mut Unobserved, |env| match on {
            true => set_again(env, None).unwrap(),
            false => set_aside(env, None).unwrap(),
        });
    };
    let confirmed = || {
        world.with(&mut Unobserved, |env| {
            confirm(env, None, &mut Reachable(true))
        })
    };
    set(false);
    let refused = confirmed();
    assert!(
        matches!(&refused, Err(TuneError::Aside(id)) if *id == plan.id),
        "{refused:?}"
    );
    set(true);
    assert_eq!(confirmed().unwrap().drift, []);
    assert_eq!(world.host.dump(), new_values());
}
