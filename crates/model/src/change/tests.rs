#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::{Scope as Scope_, parse::Scope, *};

pub(super) fn change(state: State, steps: usize) -> Change {
    let step = |n: usize| Step {
        setting: Setting::parse_set(&format!("net.ipv4.tcp_x{n}=1"), Scope::Host).unwrap(),
        old: Saved::Parameter {
            value: "0".to_owned(),
            allowed: None,
        },
        new: None,
        link: None,
        origin: None,
    };
    Change {
        schema: State::Planned.schema(),
        program: "0".to_owned(),
        id: ChangeId::from_random([7; 16]),
        state,
        scope: Scope_ {
            boot: "b".to_owned(),
            netns: 1,
            initial: None,
            host: "h".to_owned(),
        },
        created_unix_s: None,
        controller: None,
        keeper: None,
        deadline_boottime_ns: Some(5),
        probes: Vec::new(),
        steps: (0..steps).map(step).collect(),
        files: Vec::new(),
        warnings: Vec::new(),
        events: Vec::new(),
        aside: false,
        undone_because: None,
    }
}

fn all_states(steps: usize) -> Vec<State> {
    use State as S;
    let mut all = vec![
        S::Planned,
        S::Armed,
        S::Applied,
        S::Verified,
        S::Confirmed,
        S::Persisting,
        S::Persisted,
        S::Unpersisting,
        S::RolledBack,
    ];
    for step in 0..steps {
        all.push(S::Applying { step });
        all.push(S::RollingBack { step });
        let error = Text::fixed("e");
        all.push(S::RollbackFailed { step, error });
    }
    all
}

#[test]
fn a_change_of_every_state_is_read_back() {
    for state in all_states(3) {
        let written = change(state, 3);
        let text = written.to_json().unwrap();
        assert_eq!(Change::parse(&text).unwrap(), written);
    }
}

#[test]
fn a_state_that_names_a_missing_step_is_refused() {
    let written = change(State::Applying { step: 3 }, 3).to_json().unwrap();
    assert!(matches!(Change::parse(&written), Err(ChangeError::NoStep)));
}

#[test]
fn a_change_of_a_later_program_is_named_as_such() {
    let text = br#"{"schema": 99, "whatever": true}"#;
    assert!(matches!(Change::parse(text), Err(ChangeError::Newer(99))));
}

/// Every state in which something was written leads back to the old values, and from those no state
/// leads to new ones.
#[test]
fn every_state_leads_back_and_never_forward_again() {
    let states = all_states(2);
    for state in &states {
        let back = [
            State::RollingBack { step: 1 },
            State::RollingBack { step: 0 },
        ];
        let can = back.iter().any(|next| state.may_become(next));
        assert!(can || *state == State::RolledBack, "{state}");
    }
    for next in &states {
        assert!(!State::RolledBack.may_become(next), "{next}");
        let rolling = State::RollingBack { step: 1 };
        if rolling.may_become(next) {
            assert!(!next.is_kept(), "{next}");
        }
    }
    assert!(!State::Planned.may_become(&State::Applying { step: 0 }));
    assert!(!State::Armed.may_become(&State::Applied));
    assert!(!State::Applying { step: 0 }.may_become(&State::Confirmed));
}

#[test]
fn settings_are_read_from_text() {
    let host = Setting::parse_set("cc=bbr", Scope::Host).unwrap();
    assert_eq!(host.to_string(), "net.ipv4.tcp_congestion_control = bbr");
    let route: Scope = "route:10.0.0.0/8".parse().unwrap();
    let route = Setting::parse_set("cc=bbr", route).unwrap();
    assert_eq!(
        route.to_string(),
        "congestion control bbr for connections to 10.0.0.0/8"
    );
    let triple = Setting::parse_set("net.ipv4.tcp_rmem=4096\t131072  9", Scope::Host);
    // A tab is no printable character.
    assert!(triple.is_err());
    let queue = Setting::parse_queue("eth0=fq_codel target=5ms ecn=off limit=900").unwrap();
    assert_eq!(
        queue.commands(),
        [
            "tc qdisc del dev eth0 root 2>/dev/null || true",
            "tc qdisc replace dev eth0 root fq_codel limit 900 target 5ms noecn"
        ]
    );
    let cake = Setting::parse_queue("wan=cake bandwidth=9500kbit ingress=on").unwrap();
    assert_eq!(
        cake.commands(),
        [
            "tc qdisc del dev wan root 2>/dev/null || true",
            "tc qdisc replace dev wan root cake bandwidth 9.5mbit ingress"
        ]
    );
    let clamp = Setting::parse_mss_clamp("mtu").unwrap();
    assert!(clamp.commands()[2].ends_with("maxseg size set rt mtu"));
    assert!(Setting::parse_mss_clamp("535").is_err());
    assert_eq!(
        Setting::parse_offload("eth0=gro off").unwrap().commands(),
        ["ethtool -K eth0 rx-gro off"]
    );
    assert!(Setting::parse_offload("eth0=gro").is_err());
    let masks = [
        (0, "0"),
        (1, "1"),
        (4, "f"),
        (32, "ffffffff"),
        (34, "3,ffffffff"),
    ];
    for (cpus, mask) in masks {
        assert_eq!(processors(cpus), mask);
    }
    let shaped = Setting::parse_shape("wan=47.5mbit fq_codel").unwrap();
    assert_eq!(
        shaped.commands(),
        [
            "tc qdisc del dev wan root 2>/dev/null || true",
            "tc qdisc replace dev wan root handle 1: htb default 1",
            "tc class add dev wan parent 1: classid 1:1 htb rate 47.5mbit burst 5937 cburst 5937 \
             quantum 1514",
            "tc qdisc add dev wan parent 1:1 fq_codel"
        ]
    );
    assert_eq!(
        Setting::parse_shape("wan=47.5mbit"),
        Setting::parse_queue("wan=cake bandwidth=47.5mbit")
    );
    let received = Setting::parse_shape_ingress("wan=95mbit").unwrap();
    assert_eq!(
        received.commands()[4],
        "tc filter add dev wan ingress pref 1 matchall action mirred egress redirect dev \
         pt-ifb$(cat /sys/class/net/wan/ifindex)"
    );
    for wrong in ["wan=", "wan=0mbit", "wan=5mbit red", "wan=5mbit cake x"] {
        assert!(Setting::parse_shape(wrong).is_err(), "{wrong}");
    }
    // Known, and refused with the reason.
    let dualpi2 = Setting::parse_queue("wan=dualpi2").unwrap_err().to_string();
    assert!(dualpi2.contains("--shape"), "{dualpi2}");
    assert_eq!(
        Setting::parse_mtu("wg0=1380").unwrap().commands(),
        ["ip link set dev wg0 mtu 1380"]
    );
    for wrong in [
        "a/b=fq",
        "eth0",
        "=fq",
        "eth0=red",
        "eth0=fq target=5ms",
        "eth0=fq limit=0",
        "eth0=htb",
        "eth0=htb rate=5mbit queue=cake",
    ] {
        assert!(Setting::parse_queue(wrong).is_err(), "{wrong}");
    }
    for wrong in [
        "cc=",
        "cc=a b",
        "cc=sixteen_letters_",
        "nodots=1",
        "net..=",
        "net.$x=1",
        "cc",
    ] {
        assert!(Setting::parse_set(wrong, Scope::Host).is_err(), "{wrong}");
    }
}

fn queues() -> impl Strategy<Value = Queue> {
    let number = || proptest::option::of(1..=u32::MAX);
    prop_oneof![
        (number(), number()).prop_map(|(limit_packets, flow_limit_packets)| Queue::Fq(Fq {
            limit_packets,
            flow_limit_packets
        })),
        (number(), number(), number(), any::<Option<bool>>()).prop_map(
            |(limit_packets, target_us, interval_us, ecn)| Queue::FqCodel(FqCodel {
                limit_packets,
                target_us,
                interval_us,
                ecn
            })
        ),
        (
            proptest::option::of(1..=1_000_000_000_u64),
            number(),
            proptest::option::of(-64..=256),
            any::<Option<bool>>(),
            any::<Option<bool>>()
        )
            .prop_map(
                |(rate_bps, rtt_us, overhead_bytes, nat, ingress)| Queue::Cake(Cake {
                    rate_bps,
                    rtt_us,
                    overhead_bytes,
                    nat,
                    ingress
                })
            ),
        (1..=1_000_000_000_u64, any::<bool>()).prop_map(|(rate_bps, fq)| Queue::shaper(
            rate_bps,
            if fq {
                crate::remedy::Discipline::Fq
            } else {
                crate::remedy::Discipline::FqCodel
            }
        )),
        number().prop_map(|limit_packets| Queue::Pfifo { limit_packets }),
        number().prop_map(|limit_bytes| Queue::Bfifo { limit_bytes }),
    ]
}

proptest! {
    /// The parser accepts the printed form of every queue.
    #[test]
    fn a_printed_queue_is_the_queue(queue in queues()) {
        prop_assert_eq!(queue.to_string().parse::<Queue>(), Ok(queue));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = Setting::parse_set(&text, Scope::Host);
        let _ = Setting::parse_queue(&text);
        let _ = Setting::parse_mtu(&text);
        let _ = text.parse::<Scope>();
        let _ = text.parse::<ChangeId>();
        let _ = Change::parse(text.as_bytes());
    }

    /// A journal cut off anywhere, as by a full disk, is refused and never half read.
    #[test]
    fn a_part_of_a_journal_is_not_a_change(cut in 0.0..1.0_f64) {
        let text = change(State::Applied, 4).to_json().unwrap();
        let part = &text[..((text.len() - 2) as f64 * cut) as usize];
        prop_assert!(Change::parse(part).is_err());
    }

    #[test]
    fn bytes_of_the_kernel_survive_a_document(bytes: Vec<u8>) {
        let text: String = Blob(bytes.clone()).into();
        prop_assert_eq!(Blob::try_from(text), Ok(Blob(bytes)));
    }
}
