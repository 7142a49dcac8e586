//! Short loads whose bytes are too few for their line.

#![allow(clippy::expect_used, clippy::panic)]

use model::{net::Direction, watch::WatchFigure};
use stats::Random;
use watch::{
    Begin, Candidate, Line, Measured, TooSmall, Watcher, Work, config,
    figures::Figure,
    message::{Event, Message},
    moment::{Moment, SECOND_NS},
    state::Folder,
};

const START: Moment = Moment {
    boot_ns: 1000 * SECOND_NS,
    wall_us: 1_795_392_000_000_000,
    offset_s: 0,
};

fn config(load_bytes: &str) -> config::Config {
    let text = format!("[[path]]\nhost = \"192.0.2.1\"\nload_bytes = \"{load_bytes}\"\n");
    config::parse("loads", &text).expect("a config")
}

/// Results of a load that its bytes ended before it counted.
fn cut(load_bytes: u64) -> Measured {
    Measured {
        cut_bps: Some(100e6),
        too_small: Some(TooSmall {
            load_bytes,
            rate_bps: 100e6,
            least_bytes: 26_000_000,
        }),
        ..Measured::default()
    }
}

fn load(watcher: &mut Watcher, measured: Measured, random: &mut Random) {
    let candidate = Candidate {
        path: 0,
        work: Work::Load,
    };
    let Begin::Run(job) = watcher.begin(candidate, Line::default(), START, random) else {
        panic!("the load is in the budget");
    };
    watcher.measured(job, measured, START, random);
}

fn reports(watcher: &Watcher) -> Vec<&Message> {
    let all = watcher.waiting().iter();
    all.filter(|m| m.event == Event::LoadsTooSmall).collect()
}

/// All loads of such a path were skipped for good, and nothing said so.
#[test]
fn loads_that_are_too_small_are_reported_once_with_the_least_bytes() {
    let mut random = Random::new(1);
    let mut watcher = Watcher::new(config("5MB"), "boot", START, &mut random);
    for _ in 0..3 {
        load(&mut watcher, cut(5_000_000), &mut random);
    }
    let found = reports(&watcher);
    assert_eq!(found.len(), 1);
    let words = found[0].words();
    for part in ["\"5MB\"", "100 Mbit/s", "\"26MB\""] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(watcher.status()[0].troubles.len(), 1);

    // It is not reported again after a restart, but for another size that is too small, too.
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Folder::open(folder.path()).expect("a state");
    watcher.save(&folder, true).expect("save the state");
    let open = |bytes: &str, random: &mut Random| {
        Watcher::open(&folder, config(bytes), ("boot", START), random).expect("a state")
    };
    let mut same = open("5MB", &mut random);
    load(&mut same, cut(5_000_000), &mut random);
    assert_eq!(reports(&same).len(), 1);
    let mut larger = open("6MB", &mut random);
    load(&mut larger, cut(6_000_000), &mut random);
    assert_eq!(reports(&larger).len(), 2);
}

#[test]
fn a_load_that_measures_ends_the_trouble() {
    let mut random = Random::new(1);
    let mut watcher = Watcher::new(config("5MB"), "boot", START, &mut random);
    load(&mut watcher, cut(5_000_000), &mut random);
    let figure = Figure {
        kind: WatchFigure::Goodput,
        layer: model::net::Layer::Underlay,
        family: model::net::IpVersion::V4,
        direction: Some(Direction::Down),
    };
    let measured = Measured {
        figures: vec![(figure, 94e6)],
        ..Measured::default()
    };
    load(&mut watcher, measured, &mut random);
    assert!(watcher.status()[0].troubles.is_empty());
}
