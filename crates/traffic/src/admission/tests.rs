#![allow(clippy::unwrap_used)]

use super::*;
use crate::wire::message::Limits;

fn limits() -> Limits {
    Limits {
        flows: 8,
        ..Limits::default()
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

const LOAD: Need = Need {
    amounts: Amounts {
        loads: 1,
        connections: 8,
        threads: 9,
        descriptors: 26,
        ..Amounts::NONE
    },
    duration: None,
    bytes: 0,
};

#[test]
fn everything_held_is_released_when_the_last_copy_is_dropped() {
    let admission = Admission::new(limits(), Totals::default());
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let lease = session.lease(&LOAD).unwrap();
    let copy = lease.clone();
    let hold = lease.hold_memory(1000);
    drop(session);
    drop(lease);
    let held = admission.held();
    assert_eq!((held.sessions, held.connections, held.memory), (1, 8, 1000));
    assert!(copy.is_over(), "its session has ended");
    drop(copy);
    assert_eq!(admission.held().threads, 10, "the hold keeps its load");
    drop(hold);
    assert_eq!(admission.held(), Amounts::NONE);
}

#[test]
fn a_refusal_at_one_level_holds_nothing_at_all_levels() {
    let totals = Totals {
        connections: 12,
        ..Totals::default()
    };
    let admission = Admission::new(limits(), totals);
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let before = admission.held();
    // Half of twelve for an address.
    let refused = session.lease(&LOAD).unwrap_err();
    let Refused::Limit {
        resource: Resource::Connections,
        scope: Scope::Address,
        most: 6,
    } = refused
    else {
        panic!("{refused}");
    };
    assert!(refused.is_passing());
    assert_eq!(admission.held(), before);
}

/// Bug: a session held 2,048 threads.
#[test]
fn a_session_has_a_load_each_way_and_no_more() {
    let admission = Admission::new(limits(), Totals::default());
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let _both = [session.lease(&LOAD).unwrap(), session.lease(&LOAD).unwrap()];
    let refused = session.lease(&LOAD).unwrap_err();
    assert_eq!(refused.to_string(), "a client may have 16 connections here");
    assert!(!refused.is_passing());
}

/// Bug: one address took all sessions.
#[test]
fn no_address_or_network_takes_every_slot() {
    let admission = Admission::new(limits(), Totals::default());
    let admit = |peer: &str| admission.admit(ip(peer));
    let mut held: Vec<_> = (0..4).map(|_| admit("192.0.2.1").unwrap()).collect();
    assert!(admission.would_admit(ip("192.0.2.1")).is_err());
    assert!(
        admit("192.0.2.1")
            .unwrap_err()
            .to_string()
            .contains("one address")
    );
    held.extend((0..2).map(|_| admit("192.0.2.2").unwrap()));
    assert!(
        admit("192.0.2.3")
            .unwrap_err()
            .to_string()
            .contains("one network")
    );
    held.push(admit("198.51.100.1").unwrap());
    held.push(admit("2001:db8::1").unwrap());
    assert!(
        admit("203.0.113.1")
            .unwrap_err()
            .to_string()
            .contains("all clients")
    );
    held.clear();
    assert_eq!(admission.held(), Amounts::NONE);
    assert!(admit("192.0.2.1").is_ok());
}

#[test]
fn a_server_for_one_client_takes_one_and_gives_it_all() {
    let totals = Totals {
        connections: 16,
        ..Totals::of(1, 4096, None)
    };
    let admission = Admission::new(limits(), totals);
    let first = admission.admit(ip("192.0.2.1")).unwrap();
    let both = [first.lease(&LOAD), first.lease(&LOAD)];
    assert!(both.iter().all(Result::is_ok));
    drop(both);
    assert!(admission.admit(ip("198.51.100.1")).is_err());
    drop(first);
    assert!(admission.admit(ip("198.51.100.1")).is_ok());
}

#[test]
fn time_and_bytes_are_limits_of_a_load_before_it_starts() {
    let admission = Admission::new(
        Limits {
            time_s: Some(5.0),
            bytes: Some(1000),
            ..limits()
        },
        Totals::default(),
    );
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let lease = |seconds, bytes| {
        session.lease(&Need {
            duration: Some(Duration::from_secs(seconds)),
            bytes,
            ..Need::default()
        })
    };
    let most = Duration::from_secs(5);
    assert_eq!(lease(6, 0).unwrap_err(), Refused::Time { most });
    assert_eq!(
        lease(5, 1001).unwrap_err(),
        Refused::MoreBytes { left: 1000 }
    );
    let lease = lease(5, 1000).unwrap();
    assert_eq!(lease.take(700), Ok(700));
    assert_eq!(lease.sent(700, 600), None);
    assert_eq!(lease.received(399), Ok(None));
    assert_eq!(lease.take(700), Ok(1));
    assert_eq!(lease.take(700), Err(Spent));
    assert_eq!(session.lease(&LOAD).unwrap_err(), Refused::Bytes);
}

#[test]
fn datagrams_are_taken_whole_or_not_at_all() {
    let lease = Lease::own(Duration::MAX, Some(2500), None);
    assert_eq!(lease.take_datagrams(1000, 32), Ok(2));
    assert_eq!(lease.take_datagrams(1000, 1), Err(Spent));
    assert_eq!(lease.bytes_left(), Some(500));
}

/// Rates of parallel loads of datagrams exceeded the limit in sum.
#[test]
fn agreed_rates_are_counted_together_and_by_direction() {
    let admission = Admission::new(
        Limits {
            rate_bps: Some(50_000_000),
            ..limits()
        },
        Totals::default(),
    );
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let lease = |send_bps, receive_bps| {
        session.lease(&Need {
            amounts: Amounts {
                send_bps,
                receive_bps,
                ..Amounts::NONE
            },
            ..Need::default()
        })
    };
    let _down = lease(50_000_000, 0).unwrap();
    let refused = lease(1, 0).unwrap_err();
    assert!(
        refused.to_string().contains("50000000 bit/s as the rate"),
        "{refused}"
    );
    assert!(lease(0, 50_000_000).is_ok());
}

#[test]
fn no_address_takes_the_whole_rate_of_the_server_for_datagrams() {
    let totals = Totals::of(8, 4096, Some(100_000_000));
    let admission = Admission::new(limits(), totals);
    let load = |send_bps| Need {
        amounts: Amounts {
            send_bps,
            ..Amounts::NONE
        },
        ..Need::default()
    };
    let greedy = admission.admit(ip("192.0.2.1")).unwrap();
    let _half = greedy.lease(&load(50_000_000)).unwrap();
    let more = greedy.lease(&load(1)).unwrap_err();
    assert!(more.is_passing(), "{more}");
    let other = admission.admit(ip("198.51.100.1")).unwrap();
    assert!(other.lease(&load(50_000_000)).is_ok());
}

/// Bug: each service had a separate full budget.
#[test]
fn answers_larger_than_their_questions_share_one_budget_a_session() {
    let admission = Admission::new(limits(), Totals::default());
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let echoes: Vec<_> = (0..3)
        .map(|_| session.lease(&Need::default()).unwrap())
        .collect();
    let answered: usize = echoes
        .iter()
        .map(|lease| (0..1000).filter(|_| lease.may_answer(22, 65_507)).count())
        .sum();
    assert_eq!(answered as u64, (8 << 20) / 65_507);
    // Replies that are not larger than their request continue.
    assert!(echoes[0].may_answer(22, 22));
}

#[test]
fn memory_is_given_as_far_as_there_is_some() {
    let admission = Admission::new(limits(), Totals::default());
    let session = admission.admit(ip("192.0.2.1")).unwrap();
    let lease = session.lease(&LOAD).unwrap();
    let first = lease.hold_memory(60 << 20);
    let second = lease.hold_memory(60 << 20);
    let third = lease.hold_memory(1);
    let memory = |hold: &Hold| hold.amounts().memory >> 20;
    assert_eq!(
        (memory(&first), memory(&second), memory(&third)),
        (60, 20, 0)
    );
    drop(first);
    assert_eq!(memory(&lease.hold_memory(100 << 20)), 60);
}
