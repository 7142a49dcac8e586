//! Runs of drawn lab paths whose queue is short, or adds little, with the quick plan: named after
//! the wrong or missing finding.

#![allow(clippy::unwrap_used)]

mod common;

use common::{DOWN, Found, UP, findings, problems};
use model::remedy::Action;

/// 300 Mbit/s, 160 ms, FIFOs of 9 and 15 ms: cubic loses 640 packets of its slow start, and reaches
/// 44 % up; UDP loses nothing. Nothing was found up.
#[test]
fn a_queue_that_ends_slow_start_is_shallow() {
    let findings = findings("short-fifo-300m-160ms");
    assert!(
        problems(&findings).contains(&("shallow-queue", UP)),
        "{findings:#?}"
    );
}

/// 10 Mbit/s, 199 ms, cake: it drops one packet of slow start, and cubic reaches 13 %.
#[test]
fn queue_management_that_drops_too_early_is_shallow() {
    let findings = findings("cake-10m-199ms");
    assert_eq!(
        problems(&findings)[0],
        ("shallow-queue", DOWN),
        "{findings:#?}"
    );
}

/// 200/24 Mbit/s, 206 ms, FIFOs of 23 and 13 ms: three losses of TCP after slow start, where UDP
/// has none, were random loss.
#[test]
fn losses_of_a_shallow_queue_are_not_random() {
    let findings = findings("short-fifo-200m-206ms");
    let found = problems(&findings);
    assert!(found.contains(&("shallow-queue", UP)), "{findings:#?}");
    assert!(!found.iter().any(|f| f.0 == "random-loss"), "{findings:#?}");
}

/// 75 Mbit/s, 1.5 ms, a queue of a few packets down: cubic reaches a fifth, and bbr a third of
/// that, since its bursts do not fit, either. "bbr reaches only 0.3 times as much" ruled it out,
/// and nothing was found. Bbr is no remedy there.
#[test]
fn a_queue_into_which_no_burst_fits_is_found_although_bbr_is_slower() {
    let findings = findings("short-queue-74m-bursts");
    assert_eq!(
        problems(&findings)[0],
        ("shallow-queue", DOWN),
        "{findings:#?}"
    );
    let remedies = findings.findings.iter().flat_map(|f| &f.remedies);
    for remedy in remedies {
        let bbr = matches!(remedy.action, Action::CongestionControl { .. });
        assert!(!bbr, "{remedy:#?}");
    }
}

/// 269 Mbit/s, 1.1 ms, hosts that use bbr, queues of a few packets: it reaches a seventh, and lost
/// a third of its packets. "bbr is not known to be loss-based".
#[test]
fn a_queue_into_which_no_burst_fits_limits_hosts_with_bbr_as_well() {
    let findings = findings("short-queue-bbr-bursts");
    let found = problems(&findings);
    assert!(found.iter().any(|f| f.0 == "shallow-queue"), "{found:?}");
}

/// 63 Mbit/s, 20 ms, behind CoDel: TCP waits for its send buffer half of the time, in bursts that
/// end before CoDel drops. "A queue on the path adds high delay", of a queue that is managed.
#[test]
fn what_a_send_buffer_allows_to_wait_is_no_deep_queue() {
    let findings = findings("send-buffer-fills-codel-63m");
    let deep = |f: &Found<'_>| f.0 == "bufferbloat-remote";
    assert!(!problems(&findings).iter().any(deep), "{findings:#?}");
}

/// The same of 16 kB, which are 37 ms at 3 Mbit/s, where PIE does not drop.
#[test]
fn what_a_send_buffer_allows_to_wait_is_no_deep_queue_on_a_slow_line() {
    let findings = findings("send-buffer-fills-pie-3m");
    let deep = |f: &Found<'_>| f.0 == "bufferbloat-remote";
    assert!(!problems(&findings).iter().any(deep), "{findings:#?}");
}

/// 25 Mbit/s, 548 ms, jitter of 5 % of that: the RTT under load is 49 ms higher, as late as the
/// latest packets of the idle path. "A queue on the path adds high delay", both ways.
#[test]
fn packets_that_arrive_with_late_ones_wait_in_no_queue() {
    let findings = findings("late-packets-25m-550ms");
    let deep = |f: &Found<'_>| f.0 == "bufferbloat-remote";
    assert!(!problems(&findings).iter().any(deep), "{findings:#?}");
}

/// 1.4 Mbit/s, 0.3 ms, behind CoDel: 33 ms, which are under four packets. "A queue on the path adds
/// high delay".
#[test]
fn the_packets_of_the_smallest_window_are_no_deep_queue() {
    let found = findings("codel-1m-four-packets");
    assert_eq!(problems(&found), []);
    // Those of Reno on 1 Mbit/s.
    let found = findings("codel-1m-reno");
    let deep = |f: &Found<'_>| f.0 == "bufferbloat-remote";
    assert!(!problems(&found).iter().any(deep), "{found:#?}");
}
