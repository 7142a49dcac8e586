//! Quantities of a path and a load, from arithmetic.

#![allow(clippy::unwrap_used)]

use analysis::view::{Sweep, View};
use model::{
    net::{Direction, IpVersion, Layer},
    run::{FlowResult, Key, Probes, Run, Sample, StepKind, SweepStep, Tcp, Udp},
};

fn run(samples: Vec<Sample>) -> Run {
    let text = r#"{"schema": 1, "id": "", "program": "", "started_us": 0, "took_s": 1.0,
        "plan": {"step": []}, "near": {"program": "", "facts": {"schema": 1}},
        "far": {"program": "", "facts": {"schema": 1}}, "layers": [], "samples": [],
        "figures": [], "ratios": []}"#;
    let mut run = Run::parse(text.as_bytes()).unwrap();
    run.samples = samples;
    for (number, sample) in run.samples.iter_mut().enumerate() {
        sample.number = number as u32;
    }
    run
}

fn sample(step: StepKind, family: IpVersion, cc: Option<&str>, block: u32) -> Sample {
    let key = Key {
        step,
        layer: Layer::Underlay,
        family,
        direction: (step != StepKind::Idle).then_some(Direction::Down),
        bidirectional: false,
        flows: cc.map(|_| 1),
        cc: cc.map(str::to_owned),
        rate_bps: None,
        bytes: None,
    };
    let mut sample = Sample::new(key, 0);
    (sample.valid, sample.block) = (true, block);
    sample
}

fn probes(min_us: f64, p50_us: f64) -> Probes {
    Probes {
        sent: 100,
        n: 100,
        min_us: Some(min_us),
        p50_us: Some(p50_us),
        ..Probes::default()
    }
}

/// Idle with these smallest and median round trips, ms.
fn idle(family: IpVersion, block: u32, min_ms: f64, p50_ms: f64) -> Sample {
    let mut sample = sample(StepKind::Idle, family, None, block);
    sample.probes = Some(probes(min_ms * 1e3, p50_ms * 1e3));
    sample
}

/// One flow with full segments of 1448 bytes, beside probes of 50 ms.
fn tcp(family: IpVersion, cc: &str, block: u32, mbps: f64) -> Sample {
    let mut sample = sample(StepKind::Tcp, family, Some(cc), block);
    sample.tcp = Some(Tcp {
        cc_used: Some(cc.to_owned()),
        goodput_bps: mbps * 1e6,
        window_us: [0, 1_000_000],
        flows: vec![FlowResult {
            goodput_bps: mbps * 1e6,
            mss: Some(1448),
            rtt_p50_us: Some(40e3),
            min_rtt_us: Some(30e3 + f64::from(block)),
            ..FlowResult::default()
        }],
        ..Tcp::default()
    });
    sample.probes = Some(probes(45e3, 50e3));
    sample
}

/// A sweep of datagrams of 1000 bytes with these rates of payload, Mbit/s, on a path that carries
/// `capacity_mbps` of IP packets.
fn sweep(family: IpVersion, capacity_mbps: f64, rates: &[f64]) -> Sample {
    let mut sample = sample(StepKind::UdpSweep, family, None, 1);
    sample.capacity_bps = Some(capacity_mbps * 1e6);
    let step = |mbps: &f64| SweepStep {
        rate_bps: (mbps * 1e6) as u64,
        udp: Udp {
            payload: 1000,
            sent: 100,
            received: 100,
            sent_bps: mbps * 1e6,
            received_bps: mbps * 1e6,
            ..Udp::default()
        },
        rtt_p50_us: Some(40e3),
    };
    sample.sweep = rates.iter().map(step).collect();
    sample
}

/// Payload was divided by a rate of IP packets, so that a path that TCP fills was 96 % full.
#[test]
fn tcp_that_takes_every_packet_fills_the_path_whatever_its_headers() {
    for (family, headers) in [(IpVersion::V4, 52.0), (IpVersion::V6, 72.0)] {
        let goodput = 100.0 * 1448.0 / (1448.0 + headers);
        let run = run(vec![
            sweep(family, 100.0, &[20.0, 90.0]),
            tcp(family, "cubic", 1, goodput),
        ]);
        let dir = View::new(&run).unwrap().direction(Direction::Down);
        let load = dir.default_load().unwrap();
        for share in [dir.utilization(&load), dir.over_udp(&load)] {
            assert!((share.unwrap() - 1.0).abs() < 1e-12);
        }
        let payload = dir.payload_capacity_bps(&load).unwrap();
        assert!((payload - goodput * 1e6).abs() < 1e-3);
        // 100 Mbit/s for 40 ms are 500 kB of packets; as much is in flight.
        let in_flight = dir.packets_bps(&load) * 0.04 / 8.0;
        assert!((in_flight - 500e3).abs() < 1e-6);
    }
}

/// A limit of UDP alone was reported as the capacity of the path, and a shaper was set by it.
#[test]
fn the_rate_of_tcp_is_a_lower_bound_of_the_capacity() {
    let fast = tcp(IpVersion::V4, "cubic", 1, 1448.0 / 1500.0 * 80.0);
    let limited = run(vec![sweep(IpVersion::V4, 20.0, &[5.0, 19.0]), fast.clone()]);
    let alone = run(vec![fast]);
    for run in [&limited, &alone] {
        let dir = View::new(run).unwrap().direction(Direction::Down);
        assert!((dir.carried_bps().unwrap() - 80e6).abs() < 1e-3);
    }
    let dir = View::new(&alone).unwrap().direction(Direction::Down);
    assert_eq!(dir.flow_capacity_bps(), None, "it is not known without UDP");
}

/// Two crates had different rules for TCP that gets more through than UDP. A little more is what
/// was left of a queue; much more shows that UDP was limited.
#[test]
fn a_little_more_tcp_than_udp_is_left_of_a_queue() {
    let v4 = IpVersion::V4;
    for (tcp_mbps, line_mbps) in [(105.0, 100.0), (120.0, 120.0)] {
        let run = run(vec![
            sweep(v4, 100.0, &[50.0, 200.0]),
            tcp(v4, "cubic", 1, tcp_mbps * 1448.0 / 1500.0),
        ]);
        let dir = View::new(&run).unwrap().direction(Direction::Down);
        let line = dir.line_capacity().unwrap();
        assert!((line.bps - line_mbps * 1e6).abs() < 1e-3, "{line:?}");
        assert!(!line.is_least);
        assert_eq!(dir.flow_capacity_bps(), Some(line.bps), "of one flow");
        let used = dir.utilization(&dir.default_load().unwrap()).unwrap();
        assert!((used - 1.0).abs() < 1e-12);
    }
}

/// The twin and the cause of a policer had different round trips without and with a full queue.
#[test]
fn a_full_queue_adds_to_the_round_trip_beside_dense_datagrams() {
    let v4 = IpVersion::V4;
    let mut udp = sweep(v4, 100.0, &[10.0, 50.0, 150.0, 200.0]);
    for (step, ms) in udp.sweep.iter_mut().zip([33.0, 36.0, 80.0, 86.0]) {
        step.rtt_p50_us = Some(ms * 1e3);
        // Half a second.
        step.udp.sent = step.rate_bps / 16_000;
    }
    let mut full = tcp(v4, "cubic", 1, 1448.0 / 1500.0 * 95.0);
    full.probes = Some(Probes {
        p95_us: Some(83e3),
        ..probes(45e3, 70e3)
    });
    let mut still = idle(v4, 1, 30.0, 33.0);
    still.probes = Some(Probes {
        p95_us: Some(37e3),
        ..probes(30e3, 33e3)
    });
    let run = run(vec![still, udp, full]);
    let dir = View::new(&run).unwrap().direction(Direction::Down);
    assert_eq!(dir.calm_us(), Some(36e3), "of the denser step");
    assert_eq!(dir.overload_rise_us(), Some(50e3));
    let rises = dir.rises().unwrap();
    assert_eq!(rises.overload_us, Some([44e3, 50e3]));
    assert_eq!((rises.loaded_us, rises.own_us), (Some(50e3), Some(7e3)));
    // 0.3 of 4 ms, and 4 ms; 1.5 packets of 1500 bytes take 180 us.
    assert_eq!(rises.chance_us, [1200.0, 4000.0]);
}

/// A full queue drops the excess: of 200 Mbit/s half where 100 arrive.
#[test]
fn a_queue_is_full_most_of_the_time_if_the_excess_is_lost() {
    let step = |lost: f64| Udp {
        sent_bps: 200e6,
        received_bps: 100e6,
        lost,
        ..Udp::default()
    };
    assert!(Sweep::is_mostly_full(&step(0.3)) && !Sweep::is_mostly_full(&step(0.29)));
    assert!(!Sweep::is_mostly_full(&Udp::default()), "nothing was lost");
}

/// A step of 107.5 Mbit/s of payload is one of 110.5 Mbit/s of IP packets: more than 1.1 times
/// 100 Mbit/s, which its payload is not.
#[test]
fn an_overload_offers_a_tenth_more_packets_than_the_path_carries() {
    let run = run(vec![sweep(
        IpVersion::V4,
        100.0,
        &[79.0, 80.0, 106.5, 107.5, 200.0],
    )]);
    let sweep = View::new(&run).unwrap().direction(Direction::Down).sweep();
    let sweep = sweep.unwrap();
    let rates = |steps: Vec<&SweepStep>| -> Vec<u64> {
        steps.iter().map(|s| s.rate_bps / 100_000).collect()
    };
    assert_eq!(rates(sweep.overloads().iter().collect()), [1075, 2000]);
    // 82 Mbit/s of packets are 79.8 of payload.
    let room = sweep.steps.iter().filter(|s| sweep.leaves_room(&s.udp));
    assert_eq!(rates(room.collect()), [790]);
    assert!((sweep.above.unwrap().offered_bps - 205.6e6).abs() < 1.0);
}

/// The median of the minima of the repeats was called the smallest.
#[test]
fn the_smallest_round_trip_is_the_smallest_of_all_repeats() {
    let v4 = IpVersion::V4;
    let mut samples: Vec<Sample> = [(1, 30.0), (2, 31.0), (3, 32.0)]
        .map(|(block, min)| idle(v4, block, min, 33.0))
        .to_vec();
    samples.extend((1..=3).map(|block| tcp(v4, "cubic", block, 10.0)));
    let run = run(samples);
    let view = View::new(&run).unwrap();
    assert_eq!(view.idle().unwrap().min_us, 30e3);
    let load = view.direction(Direction::Down).default_load().unwrap();
    assert_eq!(load.min_rtt_us, Some(30_001.0));
    assert_eq!(view.floor_us(), Some(30e3));
}

/// Two rules computed added delay from two different base round trips.
#[test]
fn added_delay_is_over_the_base_round_trip() {
    let v4 = IpVersion::V4;
    let added = |idle_ms: [f64; 2]| {
        let run = run(vec![
            idle(v4, 1, idle_ms[0], idle_ms[1]),
            tcp(v4, "cubic", 1, 10.0),
        ]);
        let view = View::new(&run).unwrap();
        let dir = view.direction(Direction::Down);
        let load = dir.default_load().unwrap();
        (view.base_us().unwrap(), dir.added_delay_us(&load).unwrap())
    };
    // 50 ms beside the load.
    assert_eq!(added([30.0, 33.0]), (33e3, 17e3));
    // Idle never returned to the 30 ms that TCP saw: others queued, and the base is without them.
    assert_eq!(added([40.0, 42.0]), (30_001.0, 19_999.0));
    // Noise of a microsecond is not a delay.
    assert_eq!(analysis::figures::added_us(30e3, 30_001.0), 0.0);
}

/// A line that was half as fast in one block is not a gain of the variant that ran in it.
#[test]
fn a_gain_is_that_of_blocks_as_the_ratios_of_a_run() {
    let v4 = IpVersion::V4;
    let blocks = [(1, 10.0), (2, 20.0), (3, 40.0)];
    let mut samples: Vec<Sample> = blocks
        .map(|(block, mbps)| tcp(v4, "cubic", block, mbps))
        .to_vec();
    // Ratios of 3, 3.5 and 2 within blocks; the ratio of the medians is 3.5.
    let gains = [(1, 30.0), (2, 70.0), (3, 80.0)];
    samples.extend(gains.map(|(block, mbps)| tcp(v4, "bbr", block, mbps)));
    let ratios = analysis::summary::ratios(&samples);
    let run = run(samples);
    let dir = View::new(&run).unwrap().direction(Direction::Down);
    let (bbr, cubic) = (
        dir.load_with("bbr").unwrap(),
        dir.load_with("cubic").unwrap(),
    );
    let gain = dir.gain(&bbr, &cubic);
    assert_eq!(gain, Some(3.0), "the median of 3, 3.5 and 2");
    assert_eq!(ratios[0].ratio, 3.0);
}
