//! What is reported, when, and with what.

#![allow(clippy::expect_used, clippy::panic)]

mod common;

use common::{Planted, World};

fn slower(day: f64) -> Planted {
    Planted {
        path: 0,
        day,
        what: "both rates by 20 % less",
        apply: |t| t.goodput_bps = t.goodput_bps.map(|bps| bps * 0.8),
    }
}

/// A metric without its labels, at the end of a simulation.
fn metric(world: &World, name: &str) -> f64 {
    let text = watch::metrics::text(&world.watcher, "0.1.0", world.now);
    let line = text.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    let value = line.rsplit(' ').next().expect("a value");
    value.parse().expect("a number")
}

/// An alert on the start of a change did not fire for one that was found a day later.
#[test]
fn the_metrics_say_when_a_change_began_and_when_it_was_reported() {
    let mut world = World::new(1, "100GB", vec![slower(12.5)], 3);
    world.run(14.0);
    let message = world.changes().next().expect("a change is reported");
    let (at_s, found_s) = (message.at_us as f64 / 1e6, message.found_us as f64 / 1e6);
    assert_eq!(metric(&world, "pathtwin_change_timestamp_seconds"), at_s);
    let reported_s = metric(&world, "pathtwin_change_reported_timestamp_seconds");
    // After the run of the full plan, which takes minutes.
    assert!(
        (found_s..found_s + 7200.0).contains(&reported_s),
        "found at {found_s}, reported at {reported_s}"
    );
    assert!(reported_s > at_s + 3600.0);
}
