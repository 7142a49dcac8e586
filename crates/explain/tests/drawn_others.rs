//! Runs of drawn lab paths that others use, too: named after the wrong or missing finding.

#![allow(clippy::unwrap_used)]

mod common;

use common::{DOWN, Found, UP, findings, problems};
use model::findings::Value;

/// A neighbour's upload fills the upload's queue, and the download loses packets at random: the
/// finding was "shared line, down". Datagrams of the download arrive as evenly as they were sent.
#[test]
fn a_queue_of_the_upload_is_not_in_a_download_that_loses_packets() {
    let findings = findings("shared-upload-lossy-download");
    let found = problems(&findings);
    let queues = ["shared-line", "bufferbloat-remote"];
    assert!(found.contains(&("shared-line", UP)), "{findings:#?}");
    assert!(
        !found
            .iter()
            .any(|(code, dir)| queues.contains(code) && *dir == DOWN),
        "{findings:#?}"
    );
}

/// 6 Mbit/s behind CoDel with five flows of others, round trips of 0.6 to 73 ms while nothing of
/// our own runs: "random loss".
#[test]
fn a_queue_that_others_empty_and_fill_within_moments_is_not_random_loss() {
    let findings = findings("codel-others-6m");
    let found = problems(&findings);
    assert!(found.contains(&("shared-line", DOWN)), "{found:?}");
    assert!(!found.iter().any(|f| f.0 == "random-loss"), "{found:?}");
}

/// 768 kbit/s behind `fq_codel`, which gives a sixth to each of six flows: "a policer", with "no
/// queue" beside round trips of TCP that wait for a packet and more.
#[test]
fn a_share_of_a_fair_queue_is_not_a_policer() {
    let findings = findings("fq-codel-others-768k");
    assert_eq!(problems(&findings), [("shared-line", DOWN)]);
}

/// 50 Mbit/s behind CoDel with six flows of others up, whose queue of 5 ms is small beside a round
/// trip of 102 ms: "random loss", and "no queue stands". It varies slowly, which jitter does not.
#[test]
fn a_short_queue_of_others_on_a_long_path_is_not_random_loss() {
    let findings = findings("codel-others-50m-tunnel");
    let found = problems(&findings);
    assert!(!found.iter().any(|f| f.0 == "random-loss"), "{found:?}");
    let is_out = |out: &model::findings::RuledOut| out.code.as_str() == "shared-line";
    assert!(!findings.ruled_out.iter().any(is_out));
}

/// A shaper of the far host with `fq_codel` that five flows of others share: "random loss", since
/// datagrams above the fair share get lost, and the queue of the measured flow is short.
#[test]
fn a_share_of_a_fair_shaper_is_not_random_loss() {
    let findings = findings("shaper-shared-by-others");
    let found = problems(&findings);
    assert!(!found.iter().any(|f| f.0 == "random-loss"), "{found:?}");
}

/// 30 Mbit/s that six flows of others fill up, which pushed the sweep of the default plan aside:
/// "the path delivers less UDP than TCP".
#[test]
fn udp_that_the_flows_of_others_push_aside_is_not_throttled() {
    let findings = findings("udp-beside-others-30m");
    assert_eq!(problems(&findings), []);
}

/// 2 Mbit/s down, 263 kbit/s up behind cake, which six flows of others fill: what is left for one
/// flow carries no acknowledgements of 2 Mbit/s. TCP got a tenth of UDP's rate, "a faulty offload".
#[test]
fn a_download_without_room_for_its_acknowledgements_is_no_faulty_offload() {
    let findings = findings("acknowledgements-beside-others");
    let faulty = |f: &Found<'_>| f.0 == "offload-fault";
    assert!(!problems(&findings).iter().any(faulty), "{findings:#?}");
}

/// 150 Mbit/s of which others take 86 in UDP: the own UDP gets 71 of 99 and 79 of 122 Mbit/s, where
/// a queue that it does not share gives it the same of both. Nothing was found.
#[test]
fn udp_that_gets_more_the_more_it_sends_shares_its_line() {
    let findings = findings("others-86m-of-150m");
    assert_eq!(
        problems(&findings)[0],
        ("shared-line", DOWN),
        "{findings:#?}"
    );
    let shared = &findings.findings[0];
    let share = shared.evidence.iter().find_map(|item| match item.value {
        Value::Share(share) => Some(share),
        _ => None,
    });
    // 57 %; a queue that drops at its tail does not serve both in exact proportion.
    assert!((0.4..0.95).contains(&share.unwrap()), "{shared:#?}");
}

/// 150 Mbit/s to which others send 188 in UDP: 45 % of the own are lost at any rate, between those
/// of others, and the RTT never falls. It was "random loss".
#[test]
fn loss_between_datagrams_of_others_is_not_random() {
    let findings = findings("others-above-150m");
    let found = problems(&findings);
    assert!(found.contains(&("shared-line", DOWN)), "{findings:#?}");
    assert!(!found.contains(&("random-loss", DOWN)), "{findings:#?}");
}

/// 4 Mbit/s up through a tunnel, 0.4 ms, which five flows of others fill: a fifth of the datagrams
/// below the capacity get lost, and the idle RTT varies, as by chance, up to that of the full
/// queue. It was "random loss".
#[test]
fn loss_beside_an_idle_rtt_up_to_that_of_the_full_queue_is_not_random() {
    let findings = findings("others-fill-4m-tunnel");
    assert_eq!(problems(&findings)[0], ("shared-line", UP), "{findings:#?}");
}

/// 2.6 Mbit/s up, 20 ms, of which others take a third in UDP: TCP gets all that they leave.
/// "Nothing is wrong".
#[test]
fn a_line_that_tcp_fills_beside_others_is_shared() {
    let findings = findings("others-leave-2m");
    assert_eq!(problems(&findings)[0], ("shared-line", UP), "{findings:#?}");
}

/// A policer of 1.6 Mbit/s up: its bucket of 15 kB lets 19 % more pass in a short, fast step than
/// in a slower one of 2.3 s. "They take 33.8 % of the line".
#[test]
fn what_a_policers_bucket_lets_pass_is_no_other_traffic() {
    let findings = findings("policer-bucket-1600k");
    let found = problems(&findings);
    assert!(!found.iter().any(|f| f.0 == "shared-line"), "{found:?}");
}

/// 161 Mbit/s, 1.4 ms, a deep queue up, which others fill, too: a queue down was found as well,
/// with 74 %, and came first.
#[test]
fn a_finding_in_doubt_comes_after_one_that_is_sure() {
    let findings = findings("full-upload-beside-others-161m");
    let found = problems(&findings);
    let queue = "bufferbloat-remote";
    assert_eq!(found, [(queue, UP), (queue, DOWN)]);
    let sure: Vec<bool> = findings.findings[..2]
        .iter()
        .map(|f| f.confidence >= 0.9)
        .collect();
    assert_eq!(sure, [true, false]);
}
