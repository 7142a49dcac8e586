#![allow(clippy::unwrap_used)]
//! Comparison with iproute2 6.1: every golden is the message sent by the named command on a link
//! with index 3.

mod live;
mod queues;

use crate::netlink::{Attrs, Message};
use crate::testutil::{golden, wire};

use super::filter::matchall_message;
use super::message::{TCA_OPTIONS, TCMSG_LEN};
use super::*;

const GOLDENS: &str = include_str!("goldens.txt");
const LINK: u32 = 3;

fn replaced(qdisc: &Qdisc) -> Message {
    qdisc_message(
        NLM_F_CREATE | NLM_F_REPLACE,
        LINK,
        Handle::ROOT,
        Handle::new(1, 0),
        qdisc,
    )
}

fn assert_replace(arguments: &str, qdisc: &Qdisc) {
    let command = format!("tc qdisc replace dev v0 root handle 1: {arguments}");
    assert_eq!(
        wire(replaced(qdisc)),
        golden(GOLDENS, &command),
        "{command}"
    );
}

#[test]
fn plain_kinds_match_iproute2() {
    assert_replace("pfifo limit 100", &Qdisc::Pfifo { limit: Some(100) });
    assert_replace(
        "bfifo limit 100000",
        &Qdisc::Bfifo {
            limit: Some(100_000),
        },
    );
    let noqueue = qdisc_message(
        NLM_F_CREATE | NLM_F_REPLACE,
        LINK,
        Handle::ROOT,
        Handle::NONE,
        &Qdisc::Noqueue,
    );
    assert_eq!(
        wire(noqueue),
        golden(GOLDENS, "tc qdisc replace dev v0 root noqueue")
    );
    let added = |parent, handle, qdisc| {
        wire(qdisc_message(
            NLM_F_CREATE | NLM_F_EXCL,
            LINK,
            parent,
            handle,
            qdisc,
        ))
    };
    assert_eq!(
        added(Handle::ROOT, Handle::new(2, 0), &Qdisc::PfifoFast),
        golden(GOLDENS, "tc qdisc add dev v0 root handle 2: pfifo_fast")
    );
    assert_eq!(
        added(Handle::CLSACT, Handle::new(0xffff, 0), &Qdisc::Clsact),
        golden(GOLDENS, "tc qdisc add dev v0 clsact")
    );
}

/// iproute2 sends the 64-bit times only where the 32-bit ones do not hold them; here they are
/// always sent, so they are checked and removed before the comparison.
fn assert_netem(arguments: &str, netem: &Netem) {
    let message = replaced(&Qdisc::Netem(netem.clone()));
    let golden = golden(
        GOLDENS,
        &format!("tc qdisc replace dev v0 root handle 1: netem {arguments}"),
    );
    assert_eq!(
        netem_parts(&unhex(&wire(message)), netem),
        netem_parts(&unhex(&golden), netem)
    );
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'\n').collect();
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn netem_parts(message: &[u8], netem: &Netem) -> Vec<(u16, Vec<u8>)> {
    let options = Attrs::after(&message[16..], TCMSG_LEN)
        .get(TCA_OPTIONS)
        .unwrap()
        .payload;
    let mut parts = vec![(0, options[..24].to_vec())];
    for attr in Attrs::new(&options[24..]) {
        match attr.kind {
            10 => assert_eq!(attr.u64(), Some(netem.delay_ns)),
            11 => assert_eq!(attr.u64(), Some(netem.jitter_ns)),
            kind => parts.push((kind, attr.payload.to_vec())),
        }
    }
    parts
}

const MS: u64 = 1_000_000;

#[test]
fn netem_delay_and_loss_match_iproute2() {
    let netem = Netem {
        delay_ns: 10 * MS,
        jitter_ns: 2 * MS,
        limit_packets: Some(5000),
        loss: Some(Loss::Random(0.015)),
        ..Netem::default()
    };
    assert_netem("delay 10ms 2ms limit 5000 loss 1.5%", &netem);
    let model = Gemodel {
        p: 0.01,
        r: 0.3,
        bad_loss: 0.9,
        good_loss: 0.001,
    };
    let netem = Netem {
        delay_ns: 25 * MS,
        loss: Some(Loss::Gemodel(model)),
        ..Netem::default()
    };
    assert_netem("delay 25ms loss gemodel 1% 30% 90% 0.1%", &netem);
    let netem = Netem {
        delay_ns: 10_000 * MS,
        jitter_ns: 5_000 * MS,
        ..Netem::default()
    };
    assert_netem("delay 10s 5s", &netem);
}

#[test]
fn netem_reorder_and_rate_match_iproute2() {
    let netem = Netem {
        delay_ns: 10 * MS,
        reorder: Some(Reorder {
            probability: 0.99,
            gap: 5,
        }),
        duplicate: 0.005,
        ..Netem::default()
    };
    assert_netem("delay 10ms reorder 99% gap 5 duplicate 0.5%", &netem);
    let netem = Netem {
        rate_bps: Some(100_000_000),
        rate_overhead_bytes: 14,
        limit_packets: Some(200),
        ..Netem::default()
    };
    assert_netem("rate 100mbit 14 limit 200", &netem);
    let netem = Netem {
        rate_bps: Some(100_000_000_000),
        loss: Some(Loss::Random(0.02)),
        ecn: true,
        corrupt: 0.001,
        ..Netem::default()
    };
    assert_netem("rate 100gbit loss 2% ecn corrupt 0.1%", &netem);
}

#[test]
fn netem_seed_is_a_64_bit_attribute() {
    let m = replaced(&Qdisc::Netem(Netem {
        seed: Some(7),
        ..Netem::default()
    }));
    let options = Attrs::after(m.payload(), TCMSG_LEN)
        .get(TCA_OPTIONS)
        .unwrap()
        .payload;
    assert_eq!(Attrs::new(&options[24..]).get(14).unwrap().u64(), Some(7));
}

#[test]
fn token_buckets_match_iproute2() {
    let tbf = Tbf {
        rate_bps: 100_000_000,
        burst_bytes: 12_500,
        limit_bytes: 300_000,
        table_mtu_bytes: None,
        peak: None,
    };
    assert_replace(
        "tbf rate 100mbit burst 12500 limit 300000",
        &Qdisc::Tbf(tbf),
    );
    let htb = Htb {
        default_class: 0x10,
        direct_qlen: None,
    };
    assert_replace("htb default 10", &Qdisc::Htb(htb));
    let class = HtbClass {
        rate_bps: 10_000_000,
        ..HtbClass::default()
    };
    assert_class("1:10 htb rate 10mbit", 0x10, &class);
    let class = HtbClass {
        rate_bps: 10_000_000,
        ceil_bps: Some(20_000_000),
        burst_bytes: Some(100_000),
        ceil_burst_bytes: Some(200_000),
        quantum_bytes: Some(3000),
        priority: 3,
    };
    let arguments =
        "1:20 htb rate 10mbit ceil 20mbit burst 100000 cburst 200000 quantum 3000 prio 3";
    assert_class(arguments, 0x20, &class);
}

fn assert_class(arguments: &str, minor: u16, class: &HtbClass) {
    let m = htb_class_message(LINK, Handle::new(1, 0), Handle::new(1, minor), class);
    let command = format!("tc class add dev v0 parent 1: classid {arguments}");
    assert_eq!(wire(m), golden(GOLDENS, &command), "{command}");
}

#[test]
fn a_rate_beyond_32_bits_gets_its_attribute() {
    let m = replaced(&Qdisc::Tbf(Tbf {
        rate_bps: 40_000_000_000,
        burst_bytes: 1_000_000,
        limit_bytes: 1,
        table_mtu_bytes: None,
        peak: None,
    }));
    let options = Attrs::after(m.payload(), TCMSG_LEN)
        .get(TCA_OPTIONS)
        .unwrap()
        .nested();
    assert_eq!(options.get(4).unwrap().u64(), Some(5_000_000_000));
    let parms = options.get(1).unwrap().payload;
    assert_eq!(parms[8..12], [0xff; 4]);
    // 200 us in ticks of 64 ns.
    assert_eq!(parms[28..32], 3125u32.to_ne_bytes());
    assert_eq!(options.get(2).unwrap().payload.len(), 1024);
}

#[test]
fn filters_match_iproute2() {
    let slow = Action::Police {
        rate_bps: 20_000_000,
        burst_bytes: 50_000,
        mtu_bytes: None,
    };
    assert_eq!(
        wire(matchall_message(LINK, Hook::Egress, 1, &[slow])),
        golden(
            GOLDENS,
            "tc filter add dev v0 egress prio 1 matchall action police rate 20mbit burst 50000 \
             conform-exceed drop/ok"
        )
    );
    let fast = Action::Police {
        rate_bps: 100_000_000,
        burst_bytes: 500_000,
        mtu_bytes: Some(9000),
    };
    assert_eq!(
        wire(matchall_message(
            LINK,
            Hook::Ingress,
            2,
            &[fast, Action::DropEvery(100)]
        )),
        golden(
            GOLDENS,
            "tc filter add dev v0 ingress prio 2 matchall action police rate 100mbit burst 500000 \
             mtu 9000 conform-exceed drop/pipe action pass random determ drop 100"
        )
    );
    assert_eq!(
        wire(matchall_message(
            LINK,
            Hook::Ingress,
            3,
            &[Action::DropEvery(1000)]
        )),
        golden(
            GOLDENS,
            "tc filter add dev v0 ingress prio 3 matchall action pass random determ drop 1000"
        )
    );
}

#[test]
fn handles_are_written_as_tc_does() {
    assert_eq!(Handle::new(0x10, 0).to_string(), "10:");
    assert_eq!(Handle::new(1, 0xa).to_string(), "1:a");
    assert_eq!(Handle::ROOT.to_string(), "root");
}
