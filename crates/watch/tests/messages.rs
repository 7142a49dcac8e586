//! What is reported, when, and with what.

#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;

use common::{Planted, START, World};
use model::text::Text;
use stats::Random;
use watch::{Watcher, config, message::Event, moment::HOUR_NS, state::Folder};

/// A watch of one path, with more keys of it.
fn watcher(more: &str, random: &mut Random) -> Watcher {
    let text = format!("[[path]]\nname = \"office\"\nhost = \"192.0.2.1\"\n{more}");
    let config = config::parse("messages", &text).expect("a config");
    Watcher::new(config, "boot", START, random)
}

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

fn drift(settings: &[&str]) -> BTreeMap<String, Vec<Text>> {
    let settings = settings.iter().map(|setting| Text::name(*setting));
    BTreeMap::from([("c1".to_owned(), settings.collect())])
}

/// Events and causes of the messages that wait.
fn drifts(watcher: &Watcher) -> Vec<String> {
    let all = watcher.waiting().iter();
    let drifts = all.filter(|message| message.event == Event::Drifted);
    drifts
        .map(|message| message.causes[0].text.to_string())
        .collect()
}

#[test]
fn a_drift_is_reported_once_and_again_after_it_was_set_back() {
    let mut random = Random::new(1);
    let mut watcher = watcher("", &mut random);
    let at = |watcher: &mut Watcher, hour: u64, found: BTreeMap<String, Vec<Text>>| {
        watcher.drifted("host", found, START.after(hour * HOUR_NS));
        drifts(watcher).len()
    };
    assert_eq!(at(&mut watcher, 0, BTreeMap::new()), 0);
    assert_eq!(at(&mut watcher, 1, drift(&["cc is reno"])), 1);
    assert_eq!(at(&mut watcher, 2, drift(&["cc is reno"])), 1);
    // Set back, which is no message, and drifted again.
    assert_eq!(at(&mut watcher, 3, BTreeMap::new()), 1);
    assert_eq!(at(&mut watcher, 4, drift(&["cc is reno"])), 2);
    // Another setting of the same change.
    assert_eq!(
        at(&mut watcher, 5, drift(&["cc is reno", "mtu is 1280"])),
        3
    );
    let message = watcher.waiting().last().expect("a message");
    assert_eq!(
        (message.path.as_str(), &message.changes[..]),
        ("host", &["c1".to_owned()][..])
    );
    assert!(message.words().contains("pathtwin tune undo c1"));

    // A restart does not repeat it.
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Folder::open(folder.path()).expect("a state");
    watcher.save(&folder, true).expect("save the state");
    let config = watcher.config().clone();
    let opened = Watcher::open(&folder, config, ("boot", START), &mut random);
    let mut again = opened.expect("a state that can be read");
    assert_eq!(at(&mut again, 6, drift(&["cc is reno", "mtu is 1280"])), 3);
}
