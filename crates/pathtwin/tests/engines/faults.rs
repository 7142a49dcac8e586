//! Loss, policers, and faults of the delay.

use serde_json::Value;

use crate::{
    PATCH,
    common::{patched, rows, spec},
    figure, pairs,
};

const LOSSES: &str = r#"
name = "losses"
duration = "20s"
warmup = "1s"
[path]
rtt = "10ms"
rate = "20mbit"
loss = "1%"
[traffic]
kind = "udp"
rate = "10mbit"
[matrix]
"path.loss" = ["1%", "gemodel(1%, 20%)", "every 50"]
engine = ["device", "chain"]
"#;

/// They draw the same random numbers, so constant traffic loses the same packets.
#[test]
fn one_seed_loses_the_same_packets_by_both_engines() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec(LOSSES);
    let rows = rows(&path, &[]);
    let pairs = pairs(&rows);
    assert_eq!(pairs.len(), 3);
    for [device, chain] in pairs {
        let [a, b] = [device, chain].map(|row| figure(row, "udp_lost"));
        assert!(a > 0.005, "{}: {a}", device["factors"]);
        assert!((a - b).abs() < 1e-4, "{}: {a} and {b}", device["factors"]);
    }
}

const DATAGRAMS: &str = r#"
name = "datagrams"
duration = "20s"
warmup = "1s"
[path]
rtt = "20ms"
rate = "20mbit"
[traffic]
kind = "udp"
rate = "10mbit"
[matrix]
engine = ["device", "chain"]
"#;

/// A row of either engine: of constant traffic, with settings of the path.
fn datagrams(settings: &[&str]) -> [Value; 2] {
    let (_folder, path) = spec(DATAGRAMS);
    let arguments: Vec<&str> = settings.iter().flat_map(|set| ["--set", set]).collect();
    let rows = rows(&path, &arguments);
    let pairs = pairs(&rows);
    let [pair] = &pairs[..] else {
        panic!("{settings:?}: {} pairs", pairs.len());
    };
    [pair[0].clone(), pair[1].clone()]
}

/// Faults of the delay draw the numbers that netem draws: the same packets are lost, doubled and
/// overtaken, and each is as late.
#[test]
fn one_seed_has_the_same_faults_by_both_engines() {
    if !patched(PATCH) {
        return;
    }
    // Each with the figure that shows it.
    let faults: [(&[&str], &str); 6] = [
        (&["path.jitter=3ms"], "udp_jitter_ms"),
        (
            &["path.jitter_quantiles=50% 1ms, 90% 4ms, 99% 20ms"],
            "udp_jitter_ms",
        ),
        (
            &["path.reorder=1%", "path.jitter=1ms", "path.loss=0.5%"],
            "udp_reordered_n",
        ),
        (&["path.duplicate=1%", "path.loss=1%"], "udp_duplicates"),
        (&["path.slots=5ms"], "udp_jitter_ms"),
        (
            &["path.faults_first=true", "path.loss=gemodel(1%, 20%)"],
            "udp_lost",
        ),
    ];
    for (settings, shown) in faults {
        let [device, chain] = datagrams(settings);
        assert!(figure(&device, shown) > 0.0, "{settings:?} have no effect");
        for (name, near) in [
            ("udp_lost", 1e-4),
            ("udp_reordered_n", 1.0),
            ("udp_duplicates", 1.0),
            ("udp_jitter_ms", 5e-3),
            ("probe_idle_p50_ms", 5e-3),
            ("probe_p50_ms", 5e-3),
        ] {
            let (a, b) = (figure(&device, name), figure(&chain, name));
            assert!((a - b).abs() <= near, "{settings:?}, {name}: {a} and {b}");
        }
    }
}

/// A token bucket without a queue passes its rate of constant traffic, and delays none of it: of 10
/// Mbit/s of datagrams, and of the headers that a policer counts (42 bytes each), 8 pass.
#[test]
fn a_policer_of_either_engine_passes_its_rate() {
    if !patched(PATCH) {
        return;
    }
    for (settings, after) in [
        (
            &["path.queue=policer", "path.rate=8mbit", "path.buffer=20kB"][..],
            0.0,
        ),
        (&["path.policer=8mbit", "path.policer_burst=20kB"], 0.0),
        // Bug: of a chain, the policer of one direction and the loss of the other have one device.
        (
            &[
                "path.queue=policer",
                "path.rate=8mbit",
                "path.buffer=20kB",
                "path.loss=every 100",
            ],
            0.01,
        ),
    ] {
        let rows = datagrams(settings);
        let passes = 8.0 / (10.0 * 1242.0 / 1200.0);
        let rest = 1.0 - passes * (1.0 - after);
        for row in &rows {
            let (lost, delay) = (figure(row, "udp_lost"), figure(row, "probe_p50_ms"));
            // Probes take half a per cent of the tokens.
            assert!((lost - rest).abs() < 6e-3, "{settings:?}: {lost}, {rest}");
            assert!(delay < 21.5, "{settings:?}: {delay} ms");
        }
        let [a, b] = [0, 1].map(|at| figure(&rows[at], "queue_drops"));
        assert!(a > 1e3 && (a - b).abs() <= 2.0, "{settings:?}: {a}, {b}");
    }
}
