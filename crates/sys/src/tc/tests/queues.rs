//! Fair queues and active queue management against iproute2.

use super::*;

#[test]
fn fair_queues_match_iproute2() {
    let fq = Fq {
        limit_packets: Some(10_000),
        flow_limit_packets: Some(200),
        buckets_log: Some(10),
        quantum_bytes: Some(3028),
        initial_quantum_bytes: Some(15_140),
        max_rate_bps: Some(100_000_000),
        pacing: Some(false),
        low_rate_threshold_bps: Some(1_000_000),
        refill_delay_us: Some(40_000),
        orphan_mask: Some(1023),
        ce_threshold_us: Some(5000),
        timer_slack_ns: Some(10_000),
        horizon_us: Some(10_000_000),
        horizon_drop: Some(true),
    };
    assert_replace(
        "fq limit 10000 flow_limit 200 quantum 3028 initial_quantum 15140 maxrate 100mbit nopacing \
         buckets 1024 low_rate_threshold 1mbit refill_delay 40ms orphan_mask 1023 ce_threshold 5ms \
         timer_slack 10us horizon 10s horizon_drop",
        &Qdisc::Fq(fq),
    );
    let fq_codel = FqCodel {
        limit_packets: Some(10_240),
        flows: Some(1024),
        target_us: Some(5000),
        interval_us: Some(100_000),
        quantum_bytes: Some(1514),
        ecn: Some(true),
        ce_threshold_us: Some(1000),
        memory_limit_bytes: Some(32 << 20),
        drop_batch: Some(64),
    };
    assert_replace(
        "fq_codel limit 10240 flows 1024 quantum 1514 interval 100ms target 5ms ecn \
         ce_threshold 1ms memory_limit 32Mb drop_batch 64",
        &Qdisc::FqCodel(fq_codel),
    );
}

#[test]
fn codel_and_pie_match_iproute2() {
    let codel = Codel {
        limit_packets: Some(1000),
        target_us: Some(5000),
        interval_us: Some(100_000),
        ecn: Some(true),
        ce_threshold_us: Some(2000),
    };
    assert_replace(
        "codel limit 1000 target 5ms interval 100ms ecn ce_threshold 2ms",
        &Qdisc::Codel(codel),
    );
    let pie = Pie {
        limit_packets: Some(1000),
        target_us: Some(15_000),
        tupdate_us: Some(16_000),
        alpha: Some(2),
        beta: Some(20),
        ecn: Some(true),
        bytemode: Some(false),
    };
    assert_replace(
        "pie limit 1000 target 15ms tupdate 16ms alpha 2 beta 20 ecn nobytemode",
        &Qdisc::Pie(pie.clone()),
    );
    let pie = Pie {
        limit_packets: Some(10_240),
        bytemode: Some(true),
        ..pie
    };
    let fq_pie = FqPie {
        pie,
        flows: Some(1024),
        quantum_bytes: Some(1514),
        memory_limit_bytes: Some(32 << 20),
    };
    assert_replace(
        "fq_pie limit 10240 flows 1024 target 15ms tupdate 16ms alpha 2 beta 20 quantum 1514 \
         memory_limit 32Mb ecn bytemode",
        &Qdisc::FqPie(fq_pie),
    );
}

#[test]
fn cake_matches_iproute2() {
    let cake = Cake {
        rate_bps: Some(50_000_000),
        rtt_us: Some(50_000),
        target_us: None,
        diffserv: Some(CakeDiffserv::BestEffort),
        flow_mode: Some(CakeFlowMode::Triple),
        split_gso: Some(true),
        overhead_bytes: Some(44),
        mpu_bytes: Some(84),
        memory_bytes: Some(4 << 20),
        ack_filter: Some(CakeAckFilter::Filter),
        nat: Some(true),
        wash: Some(true),
        ingress: Some(true),
    };
    assert_replace(
        "cake bandwidth 50mbit rtt 50ms besteffort triple-isolate nat wash split-gso ack-filter \
         overhead 44 mpu 84 memlimit 4Mb ingress",
        &Qdisc::Cake(cake),
    );
}

fn red() -> Red {
    Red {
        limit_bytes: 400_000,
        min_bytes: 30_000,
        max_bytes: 90_000,
        packet_bytes: 1000,
        burst_packets: Some(55),
        probability: 0.02,
        bandwidth_bps: 100_000_000,
        ecn: true,
        harddrop: false,
        adaptive: false,
        nodrop: false,
    }
}

#[test]
fn red_matches_iproute2() {
    assert_replace(
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02 \
         bandwidth 100mbit ecn",
        &Qdisc::Red(red()),
    );
    let other = Red {
        limit_bytes: 1_000_000,
        min_bytes: 100_000,
        max_bytes: 300_000,
        packet_bytes: 1500,
        burst_packets: None,
        probability: 0.1,
        bandwidth_bps: 10_000_000,
        harddrop: true,
        nodrop: true,
        ..red()
    };
    assert_replace(
        "red limit 1000000 min 100000 max 300000 avpkt 1500 probability 0.1 bandwidth 10mbit \
         ecn harddrop nodrop",
        &Qdisc::Red(other),
    );
}

/// The kernel refuses flags in both places and adapts only for the old one.
#[test]
fn adaptive_red_uses_the_old_flags() {
    let m = replaced(&Qdisc::Red(Red {
        adaptive: true,
        ..red()
    }));
    let options = Attrs::after(m.payload(), TCMSG_LEN)
        .get(TCA_OPTIONS)
        .unwrap()
        .nested();
    assert_eq!(options.get(1).unwrap().payload[15], 1 | 4);
    assert!(options.get(4).is_none());
}

/// No available iproute2 supports dualpi2; lengths and the nest flag are those of `dualpi2_policy`
/// (sch_dualpi2.c, Linux 7.2).
#[test]
fn dualpi2_has_the_lengths_of_the_kernels_policy() {
    let m = replaced(&Qdisc::DualPi2(DualPi2 {
        limit_packets: Some(1000),
        step: Some(DualPi2Step::Us(1000)),
        coupling: Some(2),
        drop_early: Some(false),
        ecn_mask: Some(1),
        ..DualPi2::default()
    }));
    let payload = m.payload();
    let options = Attrs::after(payload, TCMSG_LEN).get(TCA_OPTIONS).unwrap();
    let parts: Vec<(u16, usize)> = options
        .nested()
        .map(|a| (a.kind, a.payload.len()))
        .collect();
    assert_eq!(parts, [(1, 4), (8, 4), (10, 1), (12, 1), (14, 1)]);
    // After tcmsg (20) and the kind (4 + 8): length, then the type with NLA_F_NESTED.
    assert_eq!(payload[34..36], 0x8002u16.to_ne_bytes());
}
