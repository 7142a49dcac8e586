//! Twins of Runs that contain less than a full plan measures: no UDP, no probes, no counts, an
//! early end; or a path whose packets are larger than those of Ethernet.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use corpus::compose::{self, Line, Measured, Scene};
use model::{
    cell::Buffer,
    net::Direction,
    path::{Loss, Source},
    run::{FlowResult, Run, StepKind},
    twin::{Twin, TwinVerdict},
};
use twin::{Bench, Budget, Fit, Outcome, Stopped, TwinError, moments::Moments};

const BOTH: [Direction; 2] = [Direction::Down, Direction::Up];

/// Nothing is run without a budget.
struct NoLab;

impl Bench for NoLab {
    fn measure(
        &mut self,
        jobs: &[model::job::Measure],
        _: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        assert!(jobs.is_empty());
        Ok(())
    }
}

fn by_arithmetic(run: &Run) -> Twin {
    let fit = Fit::prepare(run, Budget::Of(Duration::ZERO), "test").unwrap();
    fit.search(&mut NoLab).unwrap()
}

fn line(loss: f64) -> Line {
    Line {
        rate_mbps: 50.0,
        rtt_ms: 20.0,
        loss,
        ..Line::default()
    }
}

fn scene(loss: f64, measured: Measured) -> Scene {
    Scene {
        down: line(loss),
        up: line(loss),
        measured,
        ..Scene::default()
    }
}

/// The Run of a plan without UDP.
fn tcp_only(loss: f64) -> Run {
    let measured = Measured {
        sweep: false,
        ..Measured::default()
    };
    compose::run(&scene(loss, measured), 5)
}

fn each_flow(run: &mut Run, change: impl Fn(&mut FlowResult)) {
    let tcp = run.samples.iter_mut().filter_map(|s| s.tcp.as_mut());
    tcp.flat_map(|t| &mut t.flows).for_each(change);
}

fn has_note(twin: &Twin, part: &str) -> bool {
    twin.notes.iter().any(|n| n.to_string().contains(part))
}

/// Bug: without UDP the rate that TCP leaves free is unknown, so that no packet counted, and
/// candidates lost up to 100 %.
#[test]
fn loss_without_udp_is_at_most_what_tcp_lost() {
    for loss in [0.0, 0.001, 0.01] {
        let run = tcp_only(loss);
        let known = Moments::of(&run).unwrap();
        for direction in BOTH {
            let found = known.line(direction).loss;
            assert_eq!(found.packets, 0.0, "{found:?}");
            assert!(
                (found.share.low..=found.share.high).contains(&loss),
                "{found:?}"
            );
            // The fastest of the loads retransmits 3 segments of some 20,000 of its own.
            assert!(found.share.high < 1.3 * loss + 5e-4, "{loss}: {found:?}");
        }
        let twin = by_arithmetic(&run);
        assert!(has_note(&twin, "at most that of TCP"), "{:?}", twin.notes);
    }
}

/// An iperf3 server that counts no retransmissions: CUBIC at 24 Mbit/s and more on a round trip of
/// 20 ms cannot lose one packet in a hundred.
#[test]
fn loss_that_nobody_counted_is_at_most_what_the_rate_of_cubic_allows() {
    let mut run = tcp_only(0.0);
    each_flow(&mut run, |flow| {
        (flow.retransmits, flow.segments) = (None, None);
    });
    let known = Moments::of(&run).unwrap();
    for direction in BOTH {
        let high = known.line(direction).loss.share.high;
        let slower = analysis::models::loss_for_bps("cubic", 24e6, 0.02, 1448.0).unwrap();
        assert!(high < 4.0 * slower && high > 1e-5, "{high} {slower}");
    }
}

/// Nothing but bbr, which carries its share at nearly any loss, and no counts.
#[test]
fn loss_that_tcp_does_not_show_either_is_no_candidate_that_carries_nothing() {
    let mut run = tcp_only(0.0);
    run.samples.retain(|s| s.key.cc.as_deref() != Some("cubic"));
    each_flow(&mut run, |flow| {
        (flow.retransmits, flow.segments) = (None, None);
    });
    let known = Moments::of(&run).unwrap();
    assert!(known.down.loss.share.high <= 0.5, "{:?}", known.down.loss);
}

#[test]
fn a_buffer_that_no_load_shows_is_assumed_and_at_least_some_packets() {
    let twin = by_arithmetic(&tcp_only(0.0));
    for direction in BOTH {
        let buffer = twin.path.underlay.line(direction).buffer.clone().unwrap();
        assert_eq!(buffer.source, Source::Assumed);
        let bytes = |of: Option<Buffer>| match of {
            Some(Buffer::Bytes(bytes)) => bytes.0,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(buffer.low), 15_140);
        assert!(bytes(buffer.high) > 3 * bytes(Some(buffer.value)));
    }
    assert!(has_note(&twin, "no load shows the size of the queue"));
}

/// Bug: over loopback, `15.14kB cannot hold one full packet`.
#[test]
fn a_path_of_the_mtu_of_loopback_has_a_buffer_of_some_of_its_packets() {
    let mut run = tcp_only(0.0);
    run.samples
        .retain(|s| !matches!(s.key.step, StepKind::Pmtu | StepKind::Sizes));
    each_flow(&mut run, |flow| {
        flow.mss = Some(65_483);
        flow.min_rtt_us = Some(30.0);
    });
    for probes in run.samples.iter_mut().filter_map(|s| s.probes.as_mut()) {
        for us in [&mut probes.min_us, &mut probes.p50_us, &mut probes.p95_us] {
            *us = Some(30.0);
        }
    }
    let twin = by_arithmetic(&run);
    assert_eq!(twin.path.underlay.mtu_bytes.clone().unwrap().value, 65_535);
    let buffer = twin.path.underlay.down.buffer.clone().unwrap().value;
    assert_eq!(buffer, Buffer::Bytes(model::units::Bytes(3 * 65_549)));
    assert_eq!(twin.verdict, TwinVerdict::Untested);
}

/// Half of the loads, and the end before the second direction.
#[test]
fn a_run_cut_short_names_what_it_lacks_and_the_plan_that_brings_it() {
    let mut run = compose::run(&scene(0.0, Measured::default()), 5);
    run.samples
        .retain(|s| s.key.direction != Some(Direction::Up));
    run.cut_short = Some(model::text!("stopped by the user"));
    let refusal = Fit::prepare(&run, Budget::default(), "test").unwrap_err();
    assert!(matches!(
        &refusal,
        TwinError::Missing {
            cut_short: true,
            ..
        }
    ));
    let text = refusal.to_string();
    assert!(
        text.starts_with("the run lacks TCP in the direction up"),
        "{text}"
    );
    assert!(
        text.contains("cut short") && text.contains("measure HOST --quick"),
        "{text}"
    );
}

/// All that is needed was measured once before the end.
#[test]
fn a_run_cut_short_that_has_enough_says_why_it_ended() {
    let mut run = tcp_only(0.0);
    run.samples.retain(|s| s.block <= 1);
    run.cut_short = Some(model::text!("stopped by the user"));
    let twin = by_arithmetic(&run);
    assert!(has_note(&twin, "the run ended early: stopped by the user"));
    assert!(has_note(&twin, "no UDP load above the path's capacity"));
    let loss = twin.path.underlay.down.loss.clone().unwrap();
    assert!(matches!(loss, Loss::Random { share } if share.high.unwrap().get() < 0.01));
}

/// Bug: a busy host missed 61 datagrams of 2,858 in a row, and a path on which no TCP lost as much
/// was given bursts of loss in every candidate, so that none had the goodput of the Run.
#[test]
fn datagrams_that_no_tcp_load_misses_were_not_lost_on_the_path() {
    let mut run = compose::run(&scene(0.0, Measured::default()), 3);
    for step in run.samples.iter_mut().flat_map(|s| &mut s.sweep) {
        let udp = &mut step.udp;
        udp.received -= udp.sent / 20;
        udp.loss_runs = Some(1);
        udp.lost = 1.0 - udp.received as f64 / udp.sent as f64;
    }
    let known = Moments::of(&run).unwrap();
    for direction in BOTH {
        let loss = known.line(direction).loss;
        assert_eq!((loss.share.value, loss.run), (0.0, None), "{loss:?}");
        assert!(loss.share.high < 0.01, "{loss:?}");
    }
}
