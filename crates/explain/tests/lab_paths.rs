//! Runs of lab paths with the quick plan, whose truth is the spec they were measured on: named
//! after the wrong finding on them.

#![allow(clippy::unwrap_used)]

mod common;

use common::{DOWN, findings};
use model::{
    findings::{Findings, Severity},
    net::Direction,
};

/// Code and direction of each finding that asserts a problem.
fn found(findings: &Findings) -> Vec<(&str, Option<Direction>)> {
    let asserted = findings
        .findings
        .iter()
        .filter(|f| f.severity > Severity::Info);
    asserted
        .map(|f| (f.code.as_str(), f.place.direction))
        .collect()
}

fn down(code: &str) -> (&str, Option<Direction>) {
    (code, Some(Direction::Down))
}

fn up(code: &str) -> (&str, Option<Direction>) {
    (code, Some(Direction::Up))
}

/// 50 Mbit/s, 50 ms, 0.1 % down: nothing was found, as two seconds of cubic reach 2.3 to 2.8 times
/// the long-term rate of the formula.
#[test]
fn random_loss_is_found_by_its_events_with_an_empty_queue() {
    let findings = findings("loss-50m-50-01-down");
    assert_eq!(found(&findings)[0], down("random-loss"), "{findings:#?}");
}

/// 100 Mbit/s, 20 ms, 0.5 % both ways.
#[test]
fn random_loss_is_found_in_both_directions() {
    let findings = findings("loss-100m-20-05-both");
    let both = [down("random-loss"), up("random-loss")];
    assert_eq!(found(&findings), both);
}

/// 50 Mbit/s, 30 ms, a FIFO of one bandwidth-delay product with two downloads of others: random
/// loss was found with 98 %, and another congestion control advised.
#[test]
fn other_downloads_in_a_fifo_are_not_random_loss() {
    let findings = findings("shared-50m-2tcp-down");
    assert_eq!(found(&findings), [down("shared-line")], "{findings:#?}");
}

/// 16 Mbit/s, of which television takes 8: UDP gets more the more it sends.
#[test]
fn television_beside_the_measurement_is_a_shared_line() {
    let findings = findings("shared-iptv-16m");
    assert_eq!(found(&findings)[0], down("shared-line"), "{findings:#?}");
    let local = |c: &(&str, _)| c.0 == "bufferbloat-local";
    assert!(!found(&findings).iter().any(local), "{findings:#?}");
}

/// 20/5 Mbit/s, a neighbour's upload keeps 300 ms waiting: "a policer, down", as the RTT rises no
/// further.
#[test]
fn a_queue_that_an_upload_of_others_fills_is_the_upload_queue() {
    let findings = findings("shared-20-5-upload-bloat");
    let found = found(&findings);
    assert_eq!(found[0], up("shared-line"), "{findings:#?}");
    assert!(found.contains(&up("bufferbloat-remote")), "{findings:#?}");
    assert!(found.iter().all(|(_, dir)| *dir == Some(Direction::Up)));
}

/// 200/1 Mbit/s: the acknowledgements of a download fill the upload's queue, and the finding was a
/// queue of the download.
#[test]
fn acknowledgements_fill_the_queue_of_the_other_direction() {
    let findings = findings("acks-200-1");
    assert_eq!(found(&findings), [up("bufferbloat-remote")]);
}

/// 50 Mbit/s, 600 ms, no fault, 2.5 seconds of TCP: "healthy" was ruled out.
#[test]
fn a_clean_satellite_line_is_measured_too_briefly_to_tell() {
    let findings = findings("ok-sat");
    assert_eq!(found(&findings), []);
    for code in [
        "healthy",
        "random-loss",
        "receive-window",
        "bufferbloat-remote",
    ] {
        assert!(
            findings.ruled_out.iter().all(|r| r.code.as_str() != code),
            "{code}"
        );
        assert!(
            findings.cannot_tell.iter().any(|c| c.code.as_str() == code),
            "{code}: {findings:#?}"
        );
    }
}

/// 50 Mbit/s, 600 ms, a receive buffer of 512 kB at the near end: the quick plan missed the window,
/// as TCP had not reached it after three seconds.
#[test]
fn a_small_receive_window_on_a_satellite_line_is_found_by_the_quick_plan() {
    let findings = findings("sat-window");
    let both = [("receive-window", DOWN), ("host-settings", None)];
    assert_eq!(found(&findings), both, "{findings:#?}");
    let loss = |r: &&model::findings::RuledOut| r.code.as_str() == "random-loss";
    assert_eq!(
        findings.ruled_out.iter().filter(loss).count(),
        2,
        "slow start is over"
    );
}

/// 20 Mbit/s, 300 ms and a FIFO of 600 ms: the quick plan missed the queue, as TCP had not filled
/// it after three seconds.
#[test]
fn a_queue_of_600_ms_is_found_by_the_quick_plan() {
    let findings = findings("queue-600");
    assert_eq!(
        found(&findings),
        [down("bufferbloat-remote")],
        "{findings:#?}"
    );
}

/// Case 1 by the quick plan: 0.02 % of loss before a policer, which adds TCP's own losses. It was
/// ruled out, because TCP loses more than UDP may.
#[test]
fn loss_that_udp_was_too_short_to_see_is_not_ruled_out() {
    let findings = findings("policer-jitter-loss-quick");
    let up = |direction| direction == Some(Direction::Up);
    let mut ruled_out = findings.ruled_out.iter().filter(|r| up(r.place.direction));
    assert!(!ruled_out.any(|r| r.code.as_str() == "random-loss"));
    let mut open = findings
        .cannot_tell
        .iter()
        .filter(|c| up(c.place.direction));
    assert!(
        open.any(|c| c.code.as_str() == "random-loss"),
        "{findings:#?}"
    );
}
