#![allow(clippy::unwrap_used)]

use super::*;
use crate::{
    tc::{Htb, HtbClass, Qdisc, add, add_htb_class, replace},
    testutil::{netns, pair},
};

#[test]
fn the_kernels_own_discipline_comes_back_when_another_is_deleted() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    let before = read(&mut nl, index).unwrap();
    assert!(before.is_default());
    let limit = Qdisc::Pfifo { limit: Some(77) };
    replace(&mut nl, index, Handle::ROOT, Handle::NONE, &limit).unwrap();
    assert_ne!(read(&mut nl, index).unwrap(), before);
    restore(&mut nl, index, &before).unwrap();
    assert_eq!(read(&mut nl, index).unwrap(), before);
    // A second time: the default cannot be deleted, and need not be.
    restore(&mut nl, index, &before).unwrap();
}

#[test]
fn htb_with_nested_classes_is_restored_with_handles_rates_and_leaves() {
    let Some(ns) = netns() else { return };
    let mut nl = ns.route().unwrap();
    let index = pair(&mut nl);
    let h = Handle::new;
    let htb = Qdisc::Htb(Htb {
        default_class: 0x20,
        direct_qlen: Some(7),
    });
    add(&mut nl, index, Handle::ROOT, h(1, 0), &htb).unwrap();
    let class = |mbit: u64| HtbClass {
        rate_bps: mbit * 1_000_000,
        ..HtbClass::default()
    };
    // The child has a lower number than its parent.
    add_htb_class(&mut nl, index, h(1, 0), h(1, 0x90), &class(50)).unwrap();
    add_htb_class(&mut nl, index, h(1, 0x90), h(1, 0x20), &class(40_000)).unwrap();
    let leaf = Qdisc::Bfifo { limit: Some(9000) };
    add(&mut nl, index, h(1, 0x20), h(5, 0), &leaf).unwrap();
    let before = read(&mut nl, index).unwrap();
    assert_eq!((before.qdiscs.len(), before.classes.len()), (2, 2));
    assert_eq!(irreversible(&mut nl, index, &before).unwrap(), None);
    let other = Qdisc::Pfifo { limit: Some(1) };
    replace(&mut nl, index, Handle::ROOT, Handle::NONE, &other).unwrap();
    restore(&mut nl, index, &before).unwrap();
    assert_eq!(read(&mut nl, index).unwrap(), before);
}

#[test]
fn a_report_of_htb_becomes_a_request() {
    let mut m = Message::new(0, 0);
    m.nest(TCA_OPTIONS, |m| {
        m.attr(TCA_HTB_INIT, &[9; 20]).u32(5, 100);
    });
    let mut options = m.payload().to_vec();
    settable_htb(&mut options);
    assert_eq!(options[8..12], 0x0909_u32.to_ne_bytes());
    assert_eq!(options[12..24], [9; 12]);
    assert_eq!(options[24..28], [0; 4]);
    // Other input is left unchanged, without a panic.
    for cut in 0..options.len() {
        settable_htb(&mut options[..cut].to_vec());
    }
}

/// A time as the kernel holds it, and as it reports it (include/net/codel.h).
fn codel_report(us: u32) -> u32 {
    ((((u64::from(us) * 1000) >> 10) << 10) / 1000) as u32
}

/// Converts like codel, with ticks of 64 ns (include/net/pkt_sched.h).
fn pie_report(us: u32) -> u32 {
    ((((u64::from(us) * 1000) >> 6) << 6) / 1000) as u32
}

#[test]
fn a_time_that_the_kernel_rounds_does_not_shrink_when_it_is_set_again() {
    type Report = fn(u32) -> u32;
    let rules: [(&str, Report); 2] = [("fq_codel", codel_report), ("pie", pie_report)];
    for us in (0..70_000).chain([999_999, 4_000_000]) {
        for (kind, report) in rules {
            let mut m = Message::new(0, 0);
            m.nest(TCA_OPTIONS, |m| {
                m.u32(2, 100).u32(1, report(us));
            });
            let node = Node {
                kind: kind.to_owned(),
                handle: Handle::NONE,
                parent: Handle::ROOT,
                options: m.payload().to_vec(),
            };
            let request = request_of(&node);
            let sent = |kind| Attrs::new(&request[4..]).get(kind).and_then(|a| a.u32());
            assert_eq!(sent(1).map(report), Some(report(us)), "{kind} {us}");
            assert_eq!(sent(2), Some(100));
        }
    }
}

/// Such a kernel restores cake only without the option for NAT.
#[test]
fn cake_on_a_kernel_without_connection_tracking_is_set_up_again() {
    let options = |nat: Option<u32>| {
        let mut m = Message::new(0, 0);
        m.nest(TCA_OPTIONS, |m| {
            m.u64(2, 2_500_000).opt_u32(11, nat).u32(7, 50_000);
        });
        m.payload().to_vec()
    };
    assert_eq!(without_nat(&options(Some(0))), options(None));
    assert_eq!(without_nat(&options(Some(1))), options(Some(1)));
}
