//! What is reported, when, and with what.

#![allow(clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;

use common::{Planted, START, World};
use model::{
    net::{Direction, IpVersion, Layer},
    text::Text,
    watch::WatchFigure,
};
use stats::Random;
use watch::{
    Begin, Candidate, Line, Measured, Next, Postponed, Watcher, Work, config,
    figures::Figure,
    message::{Event, Message},
    moment::{HOUR_NS, Moment, SECOND_NS},
    state::Folder,
};

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

const LOAD: Candidate = Candidate {
    path: 0,
    work: Work::Load,
};

fn begin(watcher: &mut Watcher, work: Work, line: Line, random: &mut Random) -> Begin {
    watcher.begin(Candidate { path: 0, work }, line, START, random)
}

#[test]
fn a_metered_line_gets_probes_and_no_load_unless_it_is_allowed() {
    let metered = Line {
        metered: true,
        ..Line::default()
    };
    for (key, line, loads) in [
        ("", Line::default(), true),
        ("", metered, false),
        ("metered = \"yes\"", Line::default(), false),
        ("metered = \"no\"", metered, true),
    ] {
        let mut random = Random::new(1);
        let mut watcher = watcher(key, &mut random);
        let begun = begin(&mut watcher, Work::Load, line, &mut random);
        assert_eq!(matches!(begun, Begin::Run(_)), loads, "{key} {begun:?}");
        if !loads {
            assert_eq!(begun, Begin::Postponed(Postponed::Metered));
            // It is not tried again at once, and cost nothing.
            assert_ne!(watcher.next(START), Next::Due(LOAD));
            assert_eq!(watcher.spent(START), 0);
        }
        let probe = begin(&mut watcher, Work::Probe, line, &mut random);
        assert!(matches!(probe, Begin::Run(_)), "{probe:?}");
    }
}

#[test]
fn a_busy_line_gets_no_load_until_others_use_at_most_a_tenth_of_it() {
    let used = |others_bps: f64| Line {
        others_bps: Some(others_bps),
        metered: false,
    };
    let mut random = Random::new(1);
    let mut watcher = watcher("rate = \"100mbit\"", &mut random);
    for work in [Work::Load, Work::Full] {
        let begun = begin(&mut watcher, work, used(11e6), &mut random);
        assert_eq!(begun, Begin::Postponed(Postponed::Busy(11e6)));
        let next = watcher.next(START);
        assert!(next != Next::Due(Candidate { path: 0, work }), "{next:?}");
    }
    assert_eq!(watcher.spent(START), 0);
    // Probes are as quiet as the line.
    let probe = begin(&mut watcher, Work::Probe, used(90e6), &mut random);
    assert!(matches!(probe, Begin::Run(_)), "{probe:?}");
    let begun = begin(&mut watcher, Work::Load, used(9e6), &mut random);
    assert!(matches!(begun, Begin::Run(_)), "{begun:?}");
}

#[test]
fn quiet_hours_hold_a_message_back_and_it_is_sent_after_them() {
    let mut random = Random::new(1);
    let text = "[alarm]\nquiet = \"22:00-07:00\"\n[[path]]\nhost = \"192.0.2.1\"\n";
    let config = config::parse("messages", text).expect("a config");
    let mut watcher = Watcher::new(config, "boot", START, &mut random);
    // 01:00 of the local time.
    watcher.drifted("host", drift(&["cc is reno"]), START);
    let sent = |watcher: &Watcher, minutes: u64| {
        let at = START.after(minutes * 60 * SECOND_NS);
        watcher.outgoing(at).map(|message| message.id)
    };
    assert_eq!(sent(&watcher, 0), None);
    assert_eq!(sent(&watcher, 6 * 60 - 1), None);
    let id = sent(&watcher, 6 * 60).expect("it is 07:00");
    // Undelivered, it waits again during the next quiet hours.
    assert_eq!(sent(&watcher, 21 * 60), None);
    assert_eq!(sent(&watcher, 30 * 60), Some(id));
    watcher.delivered(id);
    assert_eq!(sent(&watcher, 30 * 60), None);
}

/// A path that is loaded every two hours, with the facts of its hosts.
struct Loaded {
    watcher: Watcher,
    random: Random,
    now: Moment,
    facts: BTreeMap<String, String>,
}

impl Loaded {
    fn new() -> Self {
        let mut random = Random::new(5);
        let text =
            "[budget]\nmonth = \"900GB\"\n[[path]]\nname = \"office\"\nhost = \"192.0.2.1\"\n";
        let config = config::parse("messages", text).expect("a config");
        Self {
            watcher: Watcher::new(config, "boot", START, &mut random),
            random,
            now: START,
            facts: BTreeMap::new(),
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        self.facts.insert(name.to_owned(), value.to_owned());
    }

    fn run(&mut self, work: Work, goodput_bps: f64, changes: Vec<(u64, String)>) {
        let candidate = Candidate { path: 0, work };
        let begun = self
            .watcher
            .begin(candidate, Line::default(), self.now, &mut self.random);
        let Begin::Run(job) = begun else {
            panic!("{begun:?}");
        };
        let figure = Figure {
            kind: WatchFigure::Goodput,
            layer: Layer::Underlay,
            family: IpVersion::V4,
            direction: Some(Direction::Down),
        };
        let noise = 0.99 + 0.02 * self.random.unit();
        let measured = Measured {
            run: Some("r".to_owned()),
            payload: Some(1_000_000),
            figures: vec![(figure, goodput_bps * noise)],
            facts: self.facts.clone(),
            changes,
            ..Measured::default()
        };
        self.watcher
            .measured(job, measured, self.now, &mut self.random);
    }

    /// Loads for so many hours.
    fn hours(&mut self, hours: u64, goodput_bps: f64) {
        for _ in 0..hours / 2 {
            self.run(Work::Load, goodput_bps, Vec::new());
            self.now = self.now.after(2 * HOUR_NS);
        }
    }

    fn changes(&self) -> Vec<&Message> {
        let all = self.watcher.waiting().iter();
        all.filter(|m| m.event == Event::Changed).collect()
    }
}

/// Half of the loads of a day and a half, so that a change is certain but for its repeat.
#[test]
fn loads_alone_are_no_change_until_a_repeat_confirms_them() {
    let mut path = Loaded::new();
    path.hours(10 * 24, 94e6);
    path.hours(36, 47e6);
    assert!(path.changes().is_empty());
    path.run(Work::Full, 47e6, Vec::new());
    assert!(path.changes().is_empty(), "a full plan is no repeat");
    path.run(Work::Retest, 47e6, Vec::new());
    assert!(path.changes().is_empty(), "it is reported with its causes");
    path.run(Work::Full, 47e6, Vec::new());
    assert_eq!(path.changes().len(), 1);
}

#[test]
fn a_message_has_what_changed_within_a_day_and_nothing_from_before() {
    let mut path = Loaded::new();
    path.fact("near.kernel", "6.1");
    path.fact("far.kernel", "6.1");
    path.fact("tunnel.mode", "direct");
    path.hours(10 * 24, 94e6);
    // Two days before the change, and six hours before it.
    path.fact("far.kernel", "6.12");
    path.hours(42, 94e6);
    path.fact("tunnel.mode", "relayed");
    path.hours(6, 94e6);
    let at_us = path.now.wall_us;
    path.hours(36, 47e6);
    path.run(Work::Retest, 47e6, Vec::new());
    let hours = |n: u64| n * 3_600_000_000;
    let changes = [
        (at_us - hours(48), "before"),
        (at_us - hours(3), "at-it"),
        (at_us + hours(35), "after"),
    ];
    let changes = changes.map(|(at, id)| (at, id.to_owned())).to_vec();
    path.run(Work::Full, 47e6, changes);
    let changes = path.changes();
    let message = changes.first().expect("a change is reported");
    assert!(
        message.at_us.abs_diff(at_us) <= hours(4),
        "{} for {at_us}",
        message.at_us
    );
    let facts: Vec<&str> = message.facts.iter().map(|f| f.fact.as_str()).collect();
    assert_eq!(facts, ["tunnel.mode"]);
    assert_eq!(message.changes, ["at-it"]);
    let words = message.words();
    assert!(
        words.contains("at that time tunnel.mode: direct to relayed"),
        "{words}"
    );
    assert!(
        words.contains("at that time: change at-it of pathtwin tune"),
        "{words}"
    );
}

/// Bug: a far end's other congestion control was never reported, since loads name theirs.
#[test]
fn a_change_of_a_host_is_reported_within_a_day_though_no_figure_changes() {
    let mut path = Loaded::new();
    path.fact("near.congestion.default", "cubic");
    path.fact("far.kernel", "6.1");
    path.hours(10 * 24, 94e6);
    path.fact("near.congestion.default", "bbr");
    path.fact("far.kernel", "6.12");
    path.fact("far.clock", "another");
    path.hours(4, 94e6);
    // One was taken back.
    path.fact("near.congestion.default", "cubic");
    path.hours(20, 94e6);
    path.watcher.report_overdue(path.now);
    let of_host = |path: &Loaded| -> Vec<Message> {
        let all = path.watcher.waiting().iter();
        let all = all.filter(|m| m.event == Event::HostChanged);
        all.cloned().collect()
    };
    let told = of_host(&path);
    let [message] = &told[..] else {
        panic!("{told:?}");
    };
    let words = message.words();
    assert!(
        words.contains("at that time far.kernel: 6.1 to 6.12"),
        "{words}"
    );
    assert_eq!(message.facts.len(), 1, "{words}");
    path.hours(48, 94e6);
    path.watcher.report_overdue(path.now);
    assert_eq!(of_host(&path).len(), 1, "once");
}

/// It is in the message of the figures that changed with it.
#[test]
fn a_change_of_a_host_that_changes_a_figure_is_one_message() {
    let mut path = Loaded::new();
    path.fact("far.kernel", "6.1");
    path.hours(10 * 24, 94e6);
    path.fact("far.kernel", "6.12");
    path.hours(36, 47e6);
    path.watcher.report_overdue(path.now);
    path.run(Work::Retest, 47e6, Vec::new());
    path.run(Work::Full, 47e6, Vec::new());
    path.hours(48, 47e6);
    path.watcher.report_overdue(path.now);
    let events: Vec<Event> = path.watcher.waiting().iter().map(|m| m.event).collect();
    assert_eq!(events, [Event::Changed]);
    assert_eq!(path.changes()[0].facts[0].fact, "far.kernel");
}

#[test]
fn facts_of_the_last_run_are_info_metrics() {
    let mut path = Loaded::new();
    path.fact("near.kernel", "6.1");
    path.fact("near.congestion.default", "bbr");
    path.fact("near.program", "0.1.0");
    path.fact("near.path.layers.0.tunnel.kind", "kernel_wireguard");
    path.fact("near.path.layers.0.tunnel.path", "direct");
    path.fact("far.kernel", "6.12");
    let info = |path: &mut Loaded| {
        path.run(Work::Load, 94e6, Vec::new());
        let text = watch::metrics::text(&path.watcher, "0.1.0", path.now);
        let is_fact = |line: &&str| {
            line.starts_with("pathtwin_host_info") || line.starts_with("pathtwin_tunnel_info")
        };
        let lines: Vec<String> = text.lines().filter(is_fact).map(str::to_owned).collect();
        lines
    };
    let mut expected = [
        "pathtwin_host_info{congestion_control=\"bbr\",end=\"near\",kernel=\"6.1\",path=\"office\",version=\"0.1.0\"} 1",
        "pathtwin_host_info{end=\"far\",kernel=\"6.12\",path=\"office\"} 1",
        "pathtwin_tunnel_info{end=\"near\",kind=\"kernel_wireguard\",mode=\"direct\",path=\"office\"} 1",
    ];
    assert_eq!(info(&mut path), expected);
    path.fact("near.path.layers.0.tunnel.path", "relayed");
    expected[2] = "pathtwin_tunnel_info{end=\"near\",kind=\"kernel_wireguard\",mode=\"relayed\",path=\"office\"} 1";
    assert_eq!(info(&mut path), expected);
}
