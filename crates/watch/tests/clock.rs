//! Clocks that are set, by years.

#![allow(clippy::expect_used)]

mod common;

use common::{Planted, World};
use model::text;
use stats::Random;
use watch::{
    Begin, Candidate, Line, Watcher, Work, config,
    message::Event,
    moment::{Moment, SECOND_NS},
};

const YEARS_US: i64 = 10 * 31_556_952_000_000;

/// All values were dropped as from the future when the clock was set back, so that after its return
/// no level was known for days.
#[test]
fn a_clock_that_is_set_by_years_and_back_loses_no_values() {
    for by in [-YEARS_US, YEARS_US] {
        let planted = Planted {
            path: 0,
            day: 12.5,
            what: "both rates by 20 % less",
            apply: |t| t.goodput_bps = t.goodput_bps.map(|bps| bps * 0.8),
        };
        let mut world = World::new(1, "100GB", vec![planted], 3);
        world.run(10.0);
        world.set_clock(by);
        world.run(12.0);
        world.set_clock(-by);
        world.run(14.0);
        let found: Vec<u64> = world.changes().map(|m| m.found_us).collect();
        let at = World::at_us(12.5);
        assert_eq!(found.len(), 1, "set by {by}");
        assert!(
            found[0] >= at && found[0] - at < 86_400_000_000,
            "set by {by}: {found:?}"
        );
    }
}

/// The time since the first failure was negative, so that it was never long enough.
#[test]
fn a_far_end_that_is_gone_is_reported_although_the_clock_was_set_back() {
    let config = config::parse("simulated", "[[path]]\nhost = \"192.0.2.1\"\n").expect("a config");
    let mut random = Random::new(1);
    let mut now = Moment {
        boot_ns: 1000 * SECOND_NS,
        wall_us: 1_795_392_000_000_000,
        offset_s: 0,
    };
    let mut watcher = Watcher::new(config, "boot", now, &mut random);
    let probe = Candidate {
        path: 0,
        work: Work::Probe,
    };
    for minute in 0..8 {
        if minute == 1 {
            now.wall_us = now.wall_us.saturating_add_signed(-YEARS_US);
        }
        let Begin::Run(job) = watcher.begin(probe, Line::default(), now, &mut random) else {
            panic!("probes are in the budget");
        };
        watcher.failed(job, text!("connection refused"), now, &mut random);
        now = now.after(60 * SECOND_NS);
    }
    let events: Vec<Event> = watcher.waiting().iter().map(|m| m.event).collect();
    assert_eq!(events, [Event::Unreachable]);
    // By the clock as it is now.
    let message = &watcher.waiting()[0];
    assert!(message.found_us.abs_diff(now.wall_us) < 600_000_000);
}
