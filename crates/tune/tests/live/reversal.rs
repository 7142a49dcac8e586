//! Random plans on a real kernel: after undo the state is as before, byte for byte.

#[path = "../scene/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
pub(super) mod scene;

use super::*;

/// Plans that are tried.
const PLANS: u64 = 12;

/// Links, addresses, routes, queues, offloads, nf_tables, parameters and files are as before, for
/// the same seeds each time. `PATHTWIN_TUNE_PLANS` sets their number.
#[test]
fn a_random_plan_that_is_undone_leaves_no_trace() {
    if !in_own_process("reversal::a_random_plan_that_is_undone_leaves_no_trace") {
        return;
    }
    let count = std::env::var("PATHTWIN_TUNE_PLANS").ok();
    let count = count.and_then(|c| c.parse().ok()).unwrap_or(PLANS);
    let mut steps = 0;
    for seed in 5000..5000 + count {
        steps += one(seed);
    }
    println!("{count} plans with {steps} steps left no trace");
    assert!(steps > count, "plans of nothing show nothing");
}

/// Applies the plan of a seed, persists it, and undoes it; returns the number of its steps.
fn one(seed: u64) -> u64 {
    Netns::create().and_then(|ns| ns.enter()).unwrap();
    // Shows the devices of the namespace that it is mounted in.
    sh("umount /sys; mount -t sysfs sysfs /sys");
    let mut random = scene::Random(seed);
    scene::set_up(&mut random);
    let root = tempfile::tempdir().unwrap();
    scene::files(root.path(), &mut random);
    let mut settings = scene::settings(&mut random);
    // This kernel may lack queues.
    settings.retain(|setting| planned(std::slice::from_ref(setting)).is_ok());
    let dump = || scene::dump() + &scene::tree(root.path());
    let before = dump();
    let planned = planned(&settings).unwrap();
    let steps = planned.steps.len() as u64;
    if steps == 0 {
        return 0;
    }
    let rollback = applied_with(&settings, |env| {
        assert_ne!(dump(), before, "{seed}: nothing was changed");
        let change = tune::confirm(env, None, &mut NewFlows).unwrap().change;
        let kept = tune::persist(env, change.id.as_str(), root.path());
        kept.unwrap_or_else(|error| panic!("{seed}: {error}"));
    });
    assert!(
        rollback.is_complete() && rollback.left.is_empty(),
        "{seed}: {rollback}"
    );
    let after = dump();
    assert!(
        after == before,
        "{seed}:\n{}",
        scene::difference(&before, &after)
    );
    steps
}
