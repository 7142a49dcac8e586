//! Runs over paths that drop or delay datagrams.

use std::{net::IpAddr, time::Duration};

use model::{
    net::Layer,
    run::{Run, Sample},
};

use crate::{
    common::{Serving, limits},
    relay, runs,
};

/// The only sample of a plan with one step, carried out over `far`.
fn sample(server: &Serving, far: IpAddr, plan: &str) -> Sample {
    let run: Run = runs::measure_to(server, far, plan);
    let [sample] = run.samples.try_into().unwrap();
    assert_eq!(sample.key.layer, Layer::Underlay);
    sample
}

const SWEEP: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "udp_sweep"
direction = "up"
from_bps = 500_000
to_bps = 4_000_000
duration_s = 0.5
"#;

/// Bug: "capacity 0.004 Mbit/s", the rate of the probes, behind a device that drops full datagrams.
#[test]
fn a_sweep_of_which_nothing_arrives_shows_no_capacity() {
    let server = Serving::start(limits());
    let small = |bytes| (bytes <= 300).then_some(Duration::ZERO);
    let far = relay::start(server.address, "127.0.0.2", small);
    let sample = sample(&server, far, SWEEP);
    assert_eq!(sample.capacity_bps, None);
    let why = sample.invalid.iter().map(|i| i.text().to_string());
    assert!(
        why.collect::<String>().contains("no datagram"),
        "{sample:?}"
    );
    assert!(!sample.sweep.is_empty());
}

/// Bug: 138 MB for a budget of 10.
#[test]
fn a_sweep_ends_where_the_budget_does() {
    const BUDGET: u64 = 1_000_000;
    let server = Serving::start(limits());
    let plan = format!("budget = {{ bytes = {BUDGET} }}\n{SWEEP}");
    let sample = sample(&server, server.address.ip(), &plan);
    let sent = sample.sweep.iter();
    let sent: u64 = sent.map(|s| s.udp.sent * u64::from(s.udp.payload)).sum();
    assert!((1..=BUDGET).contains(&sent), "{sent}");
    assert_eq!((sample.valid, sample.capacity_bps), (false, None));
}

/// Bug: with replies after 700 ms nothing was found, "dropped silently", 13 s later.
#[test]
fn the_path_mtu_of_a_satellite_line_is_found_before_its_round_trip_is_known() {
    let server = Serving::start(limits());
    let slow = |_| Some(Duration::from_millis(700));
    let far = relay::start(server.address, "127.0.0.3", slow);
    let plan = r#"
        repeats = { min = 1, max = 1 }
        [[step]]
        kind = "pmtu"
        duration_s = 1
    "#;
    let pmtu = sample(&server, far, plan).pmtu.unwrap();
    assert_eq!((pmtu.up, pmtu.down), (Some(9216), Some(9216)));
    assert_eq!(pmtu.silent_up, Some(false));
}
