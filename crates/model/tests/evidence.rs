//! Counters, their increase, and facts as documents.

use model::{
    evidence::{CounterKind, Counters, Evidence, difference},
    facts::{DeviceFacts, HostFacts, IrqSpread, LayerFacts, Machine, PathFacts, TunnelFacts},
};
use proptest::prelude::*;

fn counters() -> impl Strategy<Value = Counters> {
    proptest::collection::btree_map("[a-d]", 0..9u64, 0..5)
}

proptest! {
    #[test]
    fn a_counter_that_only_grows_keeps_its_sum(before in counters(), by in counters()) {
        let mut after = before.clone();
        for (name, by) in &by {
            *after.entry(name.clone()).or_default() += by;
        }
        let moved: Counters = by.into_iter().filter(|(_, by)| *by > 0).collect();
        prop_assert_eq!(difference(&before, &after), moved);
    }

    #[test]
    fn nothing_moves_between_a_moment_and_itself(at in counters()) {
        prop_assert!(difference(&at, &at).is_empty());
    }
}

#[test]
fn a_reset_counter_counts_from_zero() {
    let one = |n| Counters::from([("a".to_owned(), n)]);
    assert_eq!(difference(&one(9), &one(4)), one(4));
}

/// 0 means read and unchanged; a counter that was not read is unknown.
#[test]
fn a_counter_of_an_unread_group_is_unknown() {
    let evidence = Evidence {
        counters: Counters::from([("nstat.UdpRcvbufErrors".to_owned(), 7)]),
        groups: vec!["nstat".to_owned()],
        ..Evidence::default()
    };
    assert_eq!(evidence.counter("nstat.UdpRcvbufErrors"), Some(7));
    assert_eq!(evidence.counter("nstat.UdpSndbufErrors"), Some(0));
    assert_eq!(evidence.counter("nstats.other"), None);
    assert_eq!(evidence.counter("softnet.dropped"), None);
    assert_eq!(evidence.sum(CounterKind::ReceiveBufferErrors), 7);
}

#[test]
fn unknown_facts_are_absent_from_the_document() {
    let facts = HostFacts {
        machine: Some(Machine::Virtual { hypervisor: None }),
        ..HostFacts::default()
    };
    let text = serde_json::to_string(&facts).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert!(text.contains(r#""machine":{"kind":"virtual"}"#), "{text}");
    assert_eq!(serde_json::from_str::<HostFacts>(&text).unwrap(), facts);
}

#[test]
fn parameters_are_read_as_numbers() {
    let mut facts = HostFacts::default();
    let name = "net.ipv4.tcp_rmem".to_owned();
    facts
        .sysctls
        .insert(name.clone(), "4096 131072 6291456".to_owned());
    assert_eq!(facts.sysctl_triple(&name), Some([4096, 131_072, 6_291_456]));
    assert_eq!(facts.sysctl(&name), Some(4096));
    assert_eq!(facts.sysctl("net.ipv4.tcp_sack"), None);
}

#[test]
fn fluctuating_facts_are_not_a_change() {
    let facts = |interrupts, age, relay: &str| HostFacts {
        path: Some(PathFacts {
            toward: [10, 9, 0, 1].into(),
            layers: vec![LayerFacts {
                toward: [10, 9, 0, 1].into(),
                route: None,
                devices: vec![DeviceFacts {
                    irqs: Some(IrqSpread {
                        lines: 1,
                        per_cpu: vec![interrupts],
                    }),
                    ..DeviceFacts::default()
                }],
                tunnel: Some(TunnelFacts {
                    handshake_age_s: Some(age),
                    relay: Some(relay.to_owned()),
                    ..TunnelFacts::default()
                }),
            }],
        }),
        ..HostFacts::default()
    };
    let before = facts(5, 100, "a");
    assert_eq!(before.settled(), facts(9, 4, "a").settled());
    assert_ne!(before.settled(), facts(5, 100, "b").settled());
}
