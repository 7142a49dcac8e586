//! Runs of drawn lab paths with the quick plan, whose truth was derived by removing each fault:
//! named after the wrong or missing finding.

#![allow(clippy::unwrap_used)]

mod common;

use common::{DOWN, Found, UP, findings, first, problems};
use model::{findings::Severity, net::Side};

/// 111/44 Mbit/s behind cake, 0.4 % of the packets overtaken, TCP fills both directions. Cake shut
/// the overload of UDP out for a while, so that it got 27 Mbit/s after that: "UDP is throttled".
/// "Reordering" was a problem although it costs nothing.
#[test]
fn a_queue_that_shuts_an_overload_out_throttles_no_udp() {
    let findings = findings("cake-reordered-both");
    assert_eq!(problems(&findings), []);
    assert_eq!(first(&findings), Some("healthy"));
}

/// The same behind a shaper with cake of 16 Mbit/s, the cause: UDP got 15.6 and then 7.8 Mbit/s.
#[test]
fn a_shaper_that_shuts_an_overload_out_is_the_shaper() {
    let findings = findings("cake-shaper-overload");
    let throttled = |f: &Found<'_>| f.0 == "udp-throttled";
    assert!(!problems(&findings).iter().any(throttled), "{findings:#?}");
    let shapers = findings
        .findings
        .iter()
        .filter(|f| f.code.as_str() == "leftover-shaper");
    let ends: Vec<_> = shapers.filter_map(|f| f.place.end).collect();
    assert_eq!(ends, [Side::Near, Side::Far]);
}

/// 25 Mbit/s, 1 ms, policers both ways, and cubic reaches 98 % of their rate.
#[test]
fn a_policer_without_a_cost_is_not_a_problem() {
    let findings = findings("policer-25m-1ms-full");
    assert_eq!(problems(&findings), []);
    assert!(
        findings
            .findings
            .iter()
            .any(|f| f.code.as_str() == "policer")
    );
}

/// 25 Mbit/s, 0.7 ms, a policer down of which cubic reaches 87 %, and all without it: "nothing is
/// wrong".
#[test]
fn a_policer_that_costs_a_tenth_is_a_problem_although_the_path_counts_as_full() {
    let findings = findings("policer-25m-costs");
    assert_eq!(problems(&findings)[0], ("policer", DOWN), "{findings:#?}");
    assert_eq!(findings.findings[0].severity, Severity::Low);
}

/// 150 Mbit/s, 4 ms, a policer with a bucket of 521 kB: cubic, which still grows, reaches 85 % in a
/// short load and loses nothing, and all later. It was a problem, with `low` severity.
#[test]
fn a_policer_that_drops_nothing_of_the_load_is_not_a_problem() {
    let findings = findings("policer-150m-lossless");
    assert_eq!(problems(&findings), [], "{findings:#?}");
    let codes = findings.findings.iter().map(|f| f.code.as_str());
    assert_eq!(codes.collect::<Vec<_>>(), ["healthy", "policer"]);
}

/// A policer of 22 Mbit/s with a bucket of ten packets: the bursts of TCP exceed it, and TCP
/// reaches a tenth, which was "a fault of offloads".
#[test]
fn a_policer_of_few_packets_is_not_an_offload_fault() {
    let findings = findings("policer-10p-bursts");
    assert_eq!(problems(&findings)[0], ("policer", UP), "{findings:#?}");
}

/// 319/256 kbit/s behind PIE and DualPI2: one and a half packets of 47 ms wait, 75 ms.
#[test]
fn one_packet_on_a_slow_line_is_not_a_deep_queue() {
    let findings = findings("pie-256k-one-packet");
    let deep = |f: &Found<'_>| f.0.starts_with("bufferbloat");
    assert!(!problems(&findings).iter().any(deep), "{findings:#?}");
}

/// 918 kbit/s, 0.7 ms behind CoDel: three to four packets of 13 ms wait, as with any queue, since
/// TCP needs four to repair a loss. "A queue on the path adds high delay".
#[test]
fn the_window_that_repairs_a_loss_is_no_deep_queue() {
    let findings = findings("codel-918k");
    assert_eq!(problems(&findings), [], "{findings:#?}");
}

/// 200/148 Mbit/s, 72 ms, CoDel: it drops one packet 10 ms above the empty path, and cubic needs
/// longer than the load to grow back. "Random loss, down, use bbr", 96 %.
#[test]
fn drops_of_a_managed_queue_are_not_random_loss() {
    let findings = findings("codel-200m-72ms");
    let random = |f: &Found<'_>| f.0 == "random-loss";
    assert!(!problems(&findings).iter().any(random), "{findings:#?}");
}

/// 75 Mbit/s, 0.6 ms, two uploads of others in a FIFO of 9 ms, in which idle probes wait, too:
/// 0.7 % of the datagrams are lost, and "random loss, up, use bbr", 93 %, which carries no more.
#[test]
fn loss_beside_others_that_keep_the_queue_full_is_not_random() {
    let findings = findings("others-full-75m");
    assert_eq!(problems(&findings), [], "{findings:#?}");
    let open = &findings.cannot_tell;
    let random = open.iter().filter(|c| c.code.as_str() == "random-loss");
    assert!(
        random.clone().any(|c| c.place.direction == UP),
        "{findings:#?}"
    );
}

/// 4.8 Mbit/s, 570 ms, 0.6 %: the smoothed round trip of TCP is 1 % above that of the probes, and
/// nothing was found.
#[test]
fn random_loss_on_a_satellite_line_is_found() {
    let findings = findings("loss-4m-570ms-up");
    let found = problems(&findings);
    assert!(found.contains(&("random-loss", UP)), "{findings:#?}");
}

/// 30 Mbit/s, 4 ms, random loss down at which cubic reaches 82 %: bbr gains 1.12 times, more than
/// half of what is missing, and "reaches only 1.12 times as much" ruled it out.
#[test]
fn random_loss_is_found_where_bbr_recovers_most_of_the_little_that_it_costs() {
    let findings = findings("loss-30m-costs-a-fifth");
    assert_eq!(
        problems(&findings)[0],
        ("random-loss", DOWN),
        "{findings:#?}"
    );
}

/// A shaper on the near host's device drops traffic above its rate: "a host drops packets in its
/// own queues".
#[test]
fn drops_of_a_shaper_are_not_drops_of_a_host() {
    let findings = findings("own-shaper-lossy");
    assert_eq!(first(&findings), Some("leftover-shaper"), "{findings:#?}");
}

/// A tunnel between routers with packets 54 bytes too long: after an overload all of UDP is lost at
/// a rate that passed before, and the finding was "a policer", at 40 kbit/s.
#[test]
fn a_full_reassembly_buffer_is_not_a_policer() {
    let findings = findings("wg-routers-fragments");
    assert_eq!(first(&findings), Some("fragmentation"), "{findings:#?}");
    let policer = |f: &Found<'_>| f.0 == "policer";
    assert!(!problems(&findings).iter().any(policer), "{findings:#?}");
}

/// 1.7 % of the packets are overtaken, and bbr, whose share of a line with others varies,
/// retransmits 13 of 5113 segments.
#[test]
fn reordering_with_few_retransmissions_is_not_a_problem() {
    let findings = findings("reordering-bbr-fair-share");
    let reordering = |f: &Found<'_>| f.0 == "reordering";
    assert!(!problems(&findings).iter().any(reordering), "{findings:#?}");
}

/// A send buffer of 138 kB holds 240 kB of segmentation offload: the finding was "the sending
/// program does not provide enough data".
#[test]
fn a_send_buffer_that_holds_one_write_more_is_full() {
    let findings = findings("send-buffer-gso");
    assert_eq!(problems(&findings)[0], ("send-buffer", UP), "{findings:#?}");
}

/// 74/7.7 Mbit/s, 19 ms ± 6 ms up, a receive buffer of 246 kB that limits TCP down all the time, at
/// 72 %. The window "would wait in a queue", compared with the shortest of the varying round trips.
#[test]
fn a_window_is_the_limit_although_the_delay_varies() {
    let findings = findings("window-behind-jitter");
    assert!(problems(&findings).contains(&("receive-window", DOWN)));
}

/// 6 Mbit/s with a bucket of ten packets and 0.3 ms: TCP's bursts are lost, it waits for timeouts
/// and gets 10 % of the rate, at which UDP loses nothing.
#[test]
fn a_policer_is_found_although_tcp_stays_far_below_its_rate() {
    let findings = findings("policer-6m-timeouts");
    assert!(problems(&findings).contains(&("policer", DOWN)));
}

/// 461 Mbit/s, reordering both ways and a fair queue down, of which TCP reaches 7 %: "a policer".
#[test]
fn a_fair_queue_far_above_the_rate_of_tcp_is_not_a_policer() {
    let findings = findings("reordering-far-below-the-rate");
    assert!(!problems(&findings).iter().any(|f| f.0 == "policer"));
}

/// 16/8.7 Mbit/s, 121 to 160 ms down from packet to packet, queues of 20 and 14 ms: "other traffic
/// takes part of the line", because no idle probe was as fast as some packet of TCP. Nor is the
/// overflow of these queues random loss.
#[test]
fn delay_that_varies_by_more_than_a_full_queue_is_jitter() {
    let findings = findings("jitter-hides-short-queues");
    assert_eq!(problems(&findings), [("jitter", DOWN), ("jitter", UP)]);
}

/// A policer of 1.2 Mbit/s with a bucket of 13 kB, from which the first steps of the sweep took
/// nearly all that they sent above the rate: "traffic above the rate is not lost".
#[test]
fn a_bucket_that_passes_the_first_steps_of_a_sweep_is_a_policer() {
    let findings = findings("policer-bucket-passes-first-steps");
    assert_eq!(problems(&findings), [("policer", UP)]);
}

/// 13.9 Mbit/s, 23 ms, at most 16 kB of send buffer, at which cubic and bbr reach 72 %. The kernel
/// counts half of bbr's time as limited by the buffer, and nothing of cubic's: it was ruled out.
#[test]
fn a_send_buffer_that_limits_bbr_limits_cubic_at_the_same_goodput() {
    let findings = findings("send-buffer-with-bbr-only");
    assert_eq!(problems(&findings)[0], ("send-buffer", UP));
}

/// 150 Mbit/s, 320 ms, `fq_codel`, which drops four packets of slow start: "TCP reaches 79 Mbit/s
/// up and was still growing, the path's capacity", and "nothing is wrong, 93 % sure".
#[test]
fn a_load_that_still_grows_at_half_of_the_capacity_is_not_healthy() {
    let findings = findings("growing-150m-320ms");
    assert_eq!(problems(&findings)[0], ("shallow-queue", UP));
    let is_out = |out: &model::findings::RuledOut| out.code.as_str() == "healthy";
    assert!(!findings.ruled_out.iter().any(is_out), "{findings:#?}");
}

/// 100/30 Mbit/s, 101 ms ± 19 ms down: no probe beside TCP was as fast as the fastest of all, which
/// is chance where idle ones vary by 36 ms: "other traffic takes part of the line".
#[test]
fn a_smallest_round_trip_beside_tcp_is_chance_where_delay_varies_by_more() {
    let findings = findings("jitter-beside-short-queue");
    assert_eq!(first(&findings), Some("jitter"));
}

/// 8 Mbit/s, 472 ms ± 36 ms down and ± 98 ms up, in order: packets behind a late one arrive with
/// it, and their delays correlate over 40 ms: "other traffic takes part of the line".
#[test]
fn packets_that_arrive_with_a_late_one_are_jitter() {
    let findings = findings("jitter-of-200ms");
    assert_eq!(problems(&findings), [("jitter", DOWN), ("jitter", UP)]);
}

/// 200 Mbit/s, 0.5 ms, a tunnel, 0.8 and 0.6 % of random loss, of which cubic gets a fifth of what
/// the formula says, because timeouts of 200 ms take most of its time: "something else limits it".
#[test]
fn random_loss_on_a_short_path_is_found_although_timeouts_cost_more() {
    let findings = findings("loss-200m-half-ms-tunnel");
    assert_eq!(
        problems(&findings),
        [("random-loss", DOWN), ("random-loss", UP)]
    );
}

/// 388 kbit/s up, 6.5 ms, a FIFO of ten packets, which cubic fills to 226 ms and bbr to 118 ms: "up
/// to the time of twelve packets is fine", as where CoDel keeps cubic's queue short.
#[test]
fn bbr_in_a_queue_that_cubic_fills_is_a_deep_queue() {
    let findings = findings("bbr-fills-short-fifo-388k");
    assert_eq!(problems(&findings), [("bufferbloat-remote", UP)]);
}

/// 75/14 Mbit/s, 349 ms, up: of 1281 retransmissions five were not needed, and TCP took those for
/// overtaken packets, while no datagram of UDP was: "TCP saw reordering", and nothing was found.
#[test]
fn a_few_retransmissions_that_were_not_needed_are_no_reordering() {
    let findings = findings("shallow-14m-349ms");
    assert!(
        problems(&findings).contains(&("shallow-queue", UP)),
        "{findings:#?}"
    );
}

/// 200 Mbit/s, 1 ms, send buffers of 16 kB: the kernel counts no time for them, because each holds
/// one packet of segmentation offload, and both congestion controls reach 76 %. Nothing was found.
#[test]
fn a_send_buffer_of_one_large_packet_is_too_small() {
    let findings = findings("send-buffer-16k-1ms");
    assert_eq!(
        problems(&findings)[..2],
        [("send-buffer", DOWN), ("send-buffer", UP)],
        "{findings:#?}"
    );
}

/// 250/154 Mbit/s, 71 ms, `fq_codel`: four losses of TCP in 30,000 segments after slow start, as
/// many as the whole load has, might be random, but packets wait for 10 ms at each. Nothing was
/// found.
#[test]
fn losses_while_packets_wait_are_those_of_a_queue_although_slow_start_has_no_more() {
    let findings = findings("rare-drops-250m-70ms");
    let both = [("shallow-queue", DOWN), ("shallow-queue", UP)];
    assert_eq!(problems(&findings), both, "{findings:#?}");
}

/// 75 Mbit/s, 430 ms, jitter and a FIFO of few packets: "a policer", of which no bucket let a burst
/// pass.
#[test]
fn without_a_burst_above_the_rate_there_is_no_policer() {
    let findings = findings("short-fifo-75m-jitter");
    let policer = |f: &Found<'_>| f.0 == "policer";
    assert!(!problems(&findings).iter().any(policer), "{findings:#?}");
}

/// 100 Mbit/s, 25 ms, a third of the datagrams overtaken: bbr hardly retransmits, but gets 37
/// Mbit/s, and up to ten times as much without reordering. It was "without a cost".
#[test]
fn reordering_of_every_third_packet_costs_bbr_too() {
    let findings = findings("reordering-100m-bbr");
    assert_eq!(
        problems(&findings)[0],
        ("reordering", DOWN),
        "{findings:#?}"
    );
}

/// 2 Mbit/s, 203 ms, loss of 2.4 % and jitter of 20 ms: a step of datagrams with a loss had, by
/// chance, a higher round trip than another step, within the range of idle ones. "Other traffic
/// takes part of the line".
#[test]
fn a_round_trip_within_the_idle_jitter_shows_no_full_queue() {
    let findings = findings("loss-beside-jitter-2m");
    assert_eq!(
        problems(&findings),
        [("random-loss", DOWN), ("random-loss", UP)],
        "{findings:#?}"
    );
}

/// 150 Mbit/s, 320 ms, loss: the window limited slow start, allows 769 Mbit/s after it, and TCP has
/// 97. "The receive window is too small".
#[test]
fn a_window_of_which_an_eighth_is_used_is_not_too_small() {
    let findings = findings("loss-ends-window");
    let window = |f: &Found<'_>| f.0 == "receive-window";
    assert!(!problems(&findings).iter().any(window), "{findings:#?}");
}

/// 2.9 Mbit/s, 406 ms: the window limits TCP to 2.44 of 2.68 Mbit/s. "The receive window is too
/// small, high", where no larger one gains a tenth.
#[test]
fn a_window_that_allows_nine_tenths_of_the_capacity_is_no_problem() {
    let findings = findings("window-allows-nine-tenths");
    let window = |f: &Found<'_>| f.0 == "receive-window";
    assert!(!problems(&findings).iter().any(window), "{findings:#?}");
    let mut all = findings.findings.iter();
    let found = all.find(|f| f.code.as_str() == "receive-window");
    assert_eq!(found.map(|f| f.severity), Some(Severity::Info));
}

/// 2 Mbit/s, 119 ms, 1.9 % overtaken: cubic reaches 80 % and bbr, which does not mind, 87 %.
/// "Reordering, high", of a path on which its removal gains nothing.
#[test]
fn reordering_is_no_problem_where_bbr_gains_less_than_a_tenth() {
    let findings = findings("reordering-2m-costs-little");
    let overtaken = |f: &Found<'_>| f.0 == "reordering";
    assert!(!problems(&findings).iter().any(overtaken), "{findings:#?}");
    assert!(
        findings
            .findings
            .iter()
            .any(|f| f.code.as_str() == "reordering")
    );
}

/// An overload fills the memory for fragments of a router behind a tunnel that does not fit, and
/// for half a minute nothing large passes. "The sending program does not provide enough data", at 0
/// Mbit/s.
#[test]
fn a_flow_that_waits_for_timeouts_is_not_limited_by_its_program() {
    let findings = findings("fragments-fill-reassembly");
    assert_eq!(problems(&findings), [("fragmentation", None)]);
}
