//! Which kept changes of `tune` are found to help no longer, over simulated weeks.

#![allow(clippy::expect_used)]

mod common;

use common::{Planted, START, Truth, World};
use model::change::ChangeId;
use watch::{KeptChange, Watcher, message::Event, moment::HOUR_NS, state::Folder};

/// The day of the change.
const MADE: f64 = 20.0;

fn id() -> ChangeId {
    ChangeId::from_random([0xab; 16])
}

fn planted(day: f64, apply: fn(&mut Truth)) -> Planted {
    Planted {
        path: 0,
        day,
        what: "",
        apply,
    }
}

/// A path whose change is made at [`MADE`], and may be undone.
fn world(planted: Vec<Planted>, seed: u64) -> World {
    let more = "undo_when_useless = [\"abababab\"]\n";
    let mut world = World::with(1, "100GB", planted, (seed, more));
    world.kept = vec![KeptChange {
        id: id(),
        at_us: World::at_us(MADE),
    }];
    world
}

fn faster(truth: &mut Truth) {
    truth.goodput_bps = truth.goodput_bps.map(|bps| bps * 1.4);
}

fn as_before(truth: &mut Truth) {
    truth.goodput_bps = truth.goodput_bps.map(|bps| bps / 1.4);
}

/// The days of the reports of useless changes.
fn reports(world: &World) -> Vec<f64> {
    let all = world.messages.iter().filter(|m| m.event == Event::Useless);
    all.map(|m| (m.found_us - START.wall_us) as f64 / 86_400e6)
        .collect()
}

#[test]
fn a_change_whose_gain_is_lost_is_reported_once_and_its_undoing_requested() {
    for seed in 0..3 {
        let lost = MADE + 20.0;
        let mut world = world(vec![planted(MADE, faster), planted(lost, as_before)], seed);
        world.run(lost + 5.0);
        assert_eq!(
            world.watcher.request(),
            None,
            "less than a week without gain"
        );
        world.run(lost + 14.0);
        let request = world.watcher.request().expect("a request").clone();
        assert_eq!(request.change, id());
        let reports = reports(&world);
        assert_eq!(reports.len(), 1);
        // Of 7 and 14 days, the 99 % interval leaves out the 15 largest of 98 differences (the
        // distribution of U), which are those of one day. The day of the loss has repeated loads,
        // so that it may count as one without gain.
        assert!(
            (lost + 5.0..lost + 12.0).contains(&reports[0]),
            "{reports:?}"
        );
        // Both directions gained: both have to have nothing left.
        assert_eq!(request.figures.len(), 2, "{}", request.reason);
        for figure in &request.figures {
            let share = figure.after / figure.before;
            assert!((0.93..1.05).contains(&share), "{share}");
        }
        let message = world.messages.iter().find(|m| m.event == Event::Useless);
        let words = message.expect("a message").words();
        assert!(words.contains("pathtwin tune recheck"), "{words}");
        assert!(words.contains("in its first week"), "{words}");

        // It stays until the change is undone, also over a restart.
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(folder.path()).expect("a state");
        world.watcher.save(&folder, true).expect("save it");
        let config = world.watcher.config().clone();
        let random = &mut stats::Random::new(1);
        let mut again =
            Watcher::open(&folder, config, ("boot", world.now), random).expect("open it");
        assert_eq!(again.request(), Some(&request));
        again.consider(&world.kept, world.now, random);
        assert_eq!(again.request(), Some(&request));
        again.consider(&[], world.now, random);
        assert_eq!(again.request(), None);
        // Without a retest there is none, however often it is considered.
        for hour in 0..3 {
            again.consider(&world.kept, world.now.after(hour * HOUR_NS), random);
            assert_eq!(again.request(), None);
        }
    }
}

/// A retest before it was away does not count after that: what is doubted is measured again.
#[test]
fn a_listing_that_lacks_the_change_for_an_hour_forgets_nothing_but_the_doubt() {
    let lost = MADE + 20.0;
    let mut world = world(vec![planted(MADE, faster), planted(lost, as_before)], 3);
    world.run(lost + 14.0);
    let request = world.watcher.request().expect("a request").clone();
    let kept = std::mem::take(&mut world.kept);
    world.run(lost + 14.1);
    assert_eq!(world.watcher.request(), None);
    world.kept = kept;
    world.run(lost + 17.0);
    let again = world.watcher.request().expect("another request");
    let before = |request: &watch::undo::Request| -> Vec<f64> {
        request.figures.iter().map(|figure| figure.before).collect()
    };
    assert_eq!(
        before(again),
        before(&request),
        "the gains of its first week"
    );
}

/// Its line wanders, has evenings and meets other traffic; a tenth is left of a gain of 40 %.
#[test]
fn a_change_that_still_helps_stays() {
    for seed in 10..13 {
        let less = planted(MADE + 15.0, |t| {
            t.goodput_bps = t.goodput_bps.map(|bps| bps / 1.4 * 1.1);
        });
        let mut world = world(vec![planted(MADE, faster), less], seed);
        world.run(100.0);
        assert_eq!(world.watcher.request(), None, "seed {seed}");
        assert!(reports(&world).is_empty());
    }
}

#[test]
fn a_gain_of_delay_counts_although_the_rate_is_the_same() {
    let shaped = planted(MADE, |t| t.added_s = t.added_s.map(|s| s / 5.0));
    let bloated = planted(MADE + 20.0, |t| t.added_s = t.added_s.map(|s| s * 5.0));
    let mut world = world(vec![shaped, bloated], 20);
    world.run(MADE + 20.0);
    assert_eq!(world.watcher.request(), None);
    world.run(MADE + 34.0);
    assert!(world.watcher.request().is_some());
}

#[test]
fn a_change_of_unknown_gain_is_not_judged() {
    // Too few days before it.
    let mut early = world(vec![planted(5.0, faster), planted(25.0, as_before)], 30);
    early.kept[0].at_us = World::at_us(5.0);
    // Lost in its first week.
    let lost = vec![planted(MADE, faster), planted(MADE + 2.0, as_before)];
    for mut world in [early, world(lost, 31), world(Vec::new(), 32)] {
        world.run(60.0);
        assert_eq!(world.watcher.request(), None);
        assert!(reports(&world).is_empty());
    }
}

#[test]
fn a_change_that_the_config_does_not_name_is_not_judged() {
    let lost = vec![planted(MADE, faster), planted(MADE + 20.0, as_before)];
    let mut world = world(lost, 40);
    world.kept[0].id = ChangeId::from_random([0xcd; 16]);
    world.run(60.0);
    assert_eq!(world.watcher.request(), None);
}

/// The request is withdrawn while nobody has followed it.
#[test]
fn a_gain_that_returns_withdraws_the_request() {
    let lost = MADE + 20.0;
    let planted = vec![
        planted(MADE, faster),
        planted(lost, as_before),
        planted(lost + 14.0, faster),
    ];
    let mut world = world(planted, 50);
    world.run(lost + 14.0);
    assert!(world.watcher.request().is_some());
    world.run(lost + 24.0);
    assert_eq!(world.watcher.request(), None);
}
