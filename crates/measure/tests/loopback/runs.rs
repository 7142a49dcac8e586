//! Whole runs.

use std::{net::IpAddr, sync::atomic::AtomicBool};

use measure::{
    far::FarError,
    plans,
    run::{Event, ProbeKind, Start, Target, Third, measure},
};
use model::{
    net::Layer,
    run::{Run, StepKind, ThirdAnswers},
    units::Seed,
};
use traffic::wire::{Key, message::Limits};

use crate::common::{Serving, limits};

/// Carries a plan out against a server, with a key.
fn measure_with(server: &Serving, plan: &str, key: &Key) -> Result<Run, FarError> {
    measure_beside(server, plan, key, None)
}

/// The same with a third point.
fn measure_beside(
    server: &Serving,
    plan: &str,
    key: &Key,
    third: Option<&Third>,
) -> Result<Run, FarError> {
    measure_over(server, server.address.ip(), plan, key, third)
}

/// Carries a plan out over another address of the server.
pub(crate) fn measure_to(server: &Serving, far: IpAddr, plan: &str) -> Run {
    measure_over(server, far, plan, &server.key, None).unwrap()
}

fn measure_over(
    server: &Serving,
    far: IpAddr,
    plan: &str,
    key: &Key,
    third: Option<&Third>,
) -> Result<Run, FarError> {
    let plan = plans::parse(plan).unwrap();
    let start = Start {
        control: server.address,
        key,
        plan: &plan,
        seed: Seed(1),
        targets: &[Target {
            layer: Layer::Underlay,
            far,
        }],
        unreached: Vec::new(),
        third,
        slot: false,
        program: "test",
        id: "0".repeat(16),
        started_us: 0,
        lab: false,
        cancel: &AtomicBool::new(false),
    };
    measure(start, &mut |event| {
        if let Event::Note(note) = event {
            eprintln!("{note}");
        }
    })
}

const PLAN: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "idle"
duration_s = 0.3
[[step]]
kind = "pmtu"
duration_s = 1
[[step]]
kind = "udp"
direction = "down"
rate_bps = 8_000_000
payload = 1000
duration_s = 0.5
[[step]]
kind = "udp"
direction = "up"
rate_bps = 8_000_000
payload = 1000
duration_s = 0.5
[[step]]
kind = "tcp"
direction = "both"
flows = 2
cc = ["reno"]
warmup_s = 0.2
duration_s = 0.6
repeat = true
[[step]]
kind = "short"
bytes = 10_000
duration_s = 0.3
[[step]]
kind = "http"
bytes = 100_000
duration_s = 0.3
"#;

#[test]
fn a_run_over_loopback_has_a_sample_of_every_step() {
    let server = Serving::start(limits());
    let run = measure_with(&server, PLAN, &server.key).unwrap();
    assert_eq!(run.cut_short, None);
    let names: Vec<String> = run.samples.iter().map(|s| s.key.to_string()).collect();
    assert_eq!(
        names,
        [
            "underlay/v4 idle",
            "underlay/v4 pmtu",
            "underlay/v4 udp down 8mbit",
            "underlay/v4 udp up 8mbit",
            "underlay/v4 short 10kB",
            "underlay/v4 http 100kB",
            "underlay/v4 tcp down bidirectional x2 reno",
            "underlay/v4 tcp up bidirectional x2 reno",
        ]
    );
    for sample in &run.samples {
        let processor = sample
            .invalid
            .iter()
            .all(|i| i.to_string().contains("busy"));
        assert!(sample.valid || processor, "{:?}", sample.invalid);
        if let Some(udp) = sample.udp {
            // 8 Mbit/s of 1000 bytes for half a second.
            assert_eq!((udp.sent, udp.lost), (500, 0.0));
        }
        if let Some(short) = &sample.short {
            assert_eq!(short.failed, 0);
            assert!(short.n > 0 && short.complete_us.len() as u64 == short.n);
            assert_eq!(
                short.connect_p50_us.is_some(),
                sample.key.step == StepKind::Short
            );
            assert!(short.first_byte_p50_us <= short.complete_p50_us);
            assert_eq!(short.complete_p95_us.is_some(), short.n >= 20);
            assert!(sample.probes.is_some() && sample.near.is_some() && sample.far.is_some());
        }
        if let Some(tcp) = &sample.tcp {
            assert_eq!(tcp.cc_used.as_deref(), Some("reno"));
            assert_eq!(tcp.flows.len(), 2);
            assert!(tcp.goodput_bps > 1e6);
            let series = tcp.flows[0].series.as_ref().unwrap();
            assert!(series.columns.contains_key("min_rtt_us"));
        }
    }
    let text = serde_json::to_vec(&run).unwrap();
    assert!(Run::parse(&text).unwrap() == run, "read back as another");
}

const QUIC: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "quic"
direction = "down"
warmup_s = 0.2
duration_s = 0.5
[[step]]
kind = "quic"
direction = "up"
warmup_s = 0.2
duration_s = 0.5
repeat = true
"#;

#[cfg(feature = "quic")]
#[test]
fn quic_goes_either_way_and_names_its_congestion_control() {
    let server = Serving::start(limits());
    let run = measure_with(&server, QUIC, &server.key).unwrap();
    let names: Vec<String> = run.samples.iter().map(|s| s.key.to_string()).collect();
    assert_eq!(names, ["underlay/v4 quic down", "underlay/v4 quic up"]);
    for sample in &run.samples {
        let processor = sample
            .invalid
            .iter()
            .all(|i| i.to_string().contains("busy"));
        assert!(sample.valid || processor, "{:?}", sample.invalid);
        let tcp = sample.tcp.as_ref().unwrap();
        let cc = tcp.cc_used.as_deref().unwrap();
        assert!(
            cc.starts_with("quinn-proto ") && cc.ends_with(" cubic"),
            "{cc}"
        );
        assert!(
            tcp.goodput_bps > 1e6 && tcp.bytes > 100_000,
            "{}",
            tcp.goodput_bps
        );
        let flow = &tcp.flows[0];
        // The library's search ends at 1452 bytes of payload; 28 of IPv4 and UDP are around it.
        assert_eq!(flow.pmtu, Some(1480));
        assert!(flow.rtt_p50_us.is_some() && flow.cwnd_p50.is_some());
        assert!(flow.segments.unwrap() > 100);
        assert!(sample.probes.is_some() && sample.near.is_some() && sample.far.is_some());
    }
    let text = serde_json::to_vec(&run).unwrap();
    assert!(Run::parse(&text).unwrap() == run, "read back as another");
}

#[cfg(feature = "quic")]
#[test]
fn a_server_keeps_quic_within_its_limits() {
    let server = Serving::start(Limits {
        rate_bps: Some(8_000_000),
        ..limits()
    });
    // A load that a busy machine delayed may catch up on 80 ms (`traffic::admission::meter`): 4 %
    // of two seconds, and 16 % of the half second of the other tests.
    let longer = QUIC.replace("duration_s = 0.5", "duration_s = 2.0");
    let run = measure_with(&server, &longer, &server.key).unwrap();
    for sample in &run.samples {
        let tcp = sample.tcp.as_ref().unwrap();
        assert!(tcp.goodput_bps <= 8.8e6, "{}", tcp.goodput_bps);
    }
    let server = Serving::start(Limits {
        time_s: Some(0.1),
        ..limits()
    });
    let run = measure_with(&server, QUIC, &server.key).unwrap();
    let why = run.samples[0].invalid[0].to_string();
    assert!(why.contains("0.1 s"), "{why}");
}

#[cfg(not(feature = "quic"))]
#[test]
fn without_quic_its_steps_are_left_out_with_a_note() {
    let server = Serving::start(limits());
    let run = measure_with(&server, QUIC, &server.key).unwrap();
    assert!(run.samples.is_empty());
    assert!(run.notes[0].contains("without QUIC"), "{:?}", run.notes);
}

#[test]
fn without_the_key_nothing_is_measured() {
    let server = Serving::start(limits());
    let error = measure_with(&server, PLAN, &Key::OPEN).unwrap_err();
    assert!(error.to_string().contains("--key"), "{error}");
}

#[test]
fn a_test_the_server_refuses_is_a_failed_sample() {
    let server = Serving::start(Limits {
        rate_bps: Some(1_000_000),
        flows: 1,
        time_s: Some(0.1),
        bytes: None,
    });
    let run = measure_with(&server, PLAN, &server.key).unwrap();
    let why = |name: &str| {
        let sample = run
            .samples
            .iter()
            .find(|s| s.key.to_string().contains(name));
        sample.unwrap().invalid[0].to_string()
    };
    assert!(why("udp down").contains("rate"), "{}", why("udp down"));
    assert!(
        why("tcp down").contains("connections"),
        "{}",
        why("tcp down")
    );
}

#[test]
fn requests_end_where_the_limit_of_bytes_does() {
    let server = Serving::start(Limits {
        bytes: Some(35_000),
        ..limits()
    });
    let plan = r#"
        probe_ms = 20
        [[step]]
        kind = "short"
        bytes = 10_000
        duration_s = 0.2
        [[step]]
        kind = "http"
        bytes = 10_000
        duration_s = 0.2
    "#;
    let run = measure_with(&server, plan, &server.key).unwrap();
    assert_eq!(run.samples[0].short.as_ref().unwrap().n, 3);
    let why = run.samples[1].invalid[0].to_string();
    assert!(why.contains("byte limit"), "{why}");
}

const SHORT: &str = r#"
repeats = { min = 1, max = 1 }
[[step]]
kind = "idle"
duration_s = 0.3
[[step]]
kind = "tcp"
direction = "down"
flows = 1
cc = ["reno"]
warmup_s = 0.1
duration_s = 0.5
repeat = true
"#;

/// Each kind of third point answers on the idle path and during the load.
#[test]
fn a_third_point_is_probed_during_each_step() {
    let far = Serving::start(limits());
    let router = Serving::start(limits());
    let address = router.address.ip();
    let agent = ProbeKind::Agent(router.address.port(), router.key.clone());
    for (probes, answers, load) in [
        (agent, ThirdAnswers::Agent, true),
        (ProbeKind::Icmp, ThirdAnswers::Icmp, false),
        (
            ProbeKind::Tcp(router.address.port()),
            ThirdAnswers::Tcp,
            false,
        ),
    ] {
        if answers == ThirdAnswers::Icmp && sys::socket::icmp::echo_socket(address, 1).is_err() {
            continue;
        }
        let third = Third {
            address,
            probes,
            load,
        };
        let run = measure_beside(&far, SHORT, &far.key, Some(&third)).unwrap();
        let point = run.third.as_ref().unwrap();
        assert_eq!((point.address, point.answers), (address, answers));
        assert_eq!(run.samples.len(), 2, "{:?}", run.caveats);
        for sample in &run.samples {
            let probes = sample.third.as_ref().unwrap();
            assert!(probes.n > 2, "{answers:?}: {probes:?}");
        }
        assert_eq!(
            point.rates.len(),
            if load { 2 } else { 0 },
            "{:?}",
            run.caveats
        );
    }
}

/// A third point that does not answer causes a note, not a failed run.
#[test]
fn a_run_continues_without_its_third_point() {
    let far = Serving::start(limits());
    let third = Third {
        address: far.address.ip(),
        probes: ProbeKind::Agent(1, far.key.clone()),
        load: false,
    };
    let run = measure_beside(&far, SHORT, &far.key, Some(&third)).unwrap();
    assert!(run.third.is_none() && run.cut_short.is_none());
    assert_eq!(run.caveats.len(), 1);
    assert!(run.samples.iter().all(|s| s.third.is_none()));
}

/// Of two watching clients, the second gets the slot when the first one leaves. Others need no
/// slot.
#[test]
fn one_watching_client_at_a_time_has_the_slot() {
    let server = Serving::start(limits());
    let (mut first, mut second) = (server.connect(), server.connect());
    first.slot().unwrap();
    // A second request does not take another slot.
    first.slot().unwrap();
    assert!(second.slot().unwrap_err().is_busy());
    second.ping().unwrap();
    assert!(measure_with(&server, SHORT, &server.key).is_ok());
    first.bye();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while let Err(error) = second.slot() {
        assert!(
            error.is_busy() && std::time::Instant::now() < end,
            "{error}"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
