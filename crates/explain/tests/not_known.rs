//! Missing measurements are unknown, not zero: composed Runs with parts left out.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use corpus::compose::{Line, Scene, Tunnel, run};
use explain::judge;
use model::{
    facts::{Connection, PathFacts, Product, TunnelPath},
    findings::{Findings, Severity},
    net::Layer,
    run::{End, Invalid, Run, Sample, StepKind},
};

fn ruled_out(findings: &Findings, code: &str) -> bool {
    findings.ruled_out.iter().any(|r| r.code.as_str() == code)
}

fn open(findings: &Findings, code: &str) -> bool {
    findings.cannot_tell.iter().any(|c| c.code.as_str() == code)
}

fn through_a_tunnel() -> Run {
    let tunnel = Tunnel::default();
    run(
        &Scene {
            tunnel: Some(tunnel),
            ..Scene::default()
        },
        1,
    )
}

/// "Nothing limits this tunnel", 98 %, on a tunnel whose packets were fragmented.
#[test]
fn a_tunnel_without_the_path_below_it_is_not_called_healthy() {
    let mut run = through_a_tunnel();
    assert_eq!(judge(&run).findings[0].code.as_str(), "healthy");
    run.samples.retain(|s| s.key.layer == Layer::Tunnel);
    let findings = judge(&run);
    assert!(findings.findings.is_empty(), "{findings:#?}");
    assert!(open(&findings, "healthy") && open(&findings, "fragmentation"));
}

/// Changes the facts of both hosts about the path, before and after.
fn paths(run: &mut Run, change: impl Fn(&mut PathFacts)) {
    let facts = |end: &mut End| {
        end.facts.path.iter_mut().for_each(&change);
        let after = end.facts_after.iter_mut().flat_map(|f| &mut f.path);
        after.for_each(&change);
    };
    facts(&mut run.near);
    facts(&mut run.far);
}

/// A path with no layer, like that of an address that could not be reached, ruled out a shaper that
/// existed.
#[test]
fn facts_of_no_route_rule_nothing_out() {
    let mut run = run(&Scene::default(), 1);
    assert!(ruled_out(&judge(&run), "leftover-shaper"));
    paths(&mut run, |path| path.layers.clear());
    let findings = judge(&run);
    for code in [
        "leftover-shaper",
        "wifi-hop",
        "userspace-tunnel",
        "userspace-tcp-stack",
        "relayed-path",
    ] {
        assert!(!ruled_out(&findings, code), "{code}: {findings:#?}");
        assert!(open(&findings, code), "{code}");
    }
}

/// Relayed throughout and idle when its status was read: "the RTT in the tunnel matches".
#[test]
fn an_idle_tunnel_does_not_rule_out_a_relay() {
    let mut run = through_a_tunnel();
    assert!(ruled_out(&judge(&run), "relayed-path"));
    paths(&mut run, |path| {
        for tunnel in path.layers.iter_mut().filter_map(|l| l.tunnel.as_mut()) {
            tunnel.path = Some(TunnelPath::Idle);
        }
    });
    let findings = judge(&run);
    assert!(!ruled_out(&findings, "relayed-path") && open(&findings, "relayed-path"));
}

/// Tailscale sends to its relay, too, while an endpoint has not answered for 6.5 s: on a direct
/// connection between real nodes, one sample met that, and the first finding was "the tunnel goes
/// through a relay", high, 87 %.
#[test]
fn a_moment_at_the_relay_of_a_direct_tunnel_is_no_relayed_path() {
    let mut run = through_a_tunnel();
    paths(&mut run, |path| {
        for tunnel in path.layers.iter_mut().filter_map(|l| l.tunnel.as_mut()) {
            tunnel.path = Some(TunnelPath::Direct);
        }
    });
    let tunnel = |s: &&mut Sample| s.key.layer == Layer::Tunnel && s.key.step == StepKind::Tcp;
    let sample = run.samples.iter_mut().rfind(tunnel).unwrap();
    sample.valid = false;
    sample.invalid.push(Invalid::RelayChanged {
        before: Connection::Direct,
        after: Connection::Relayed(None),
    });
    let severity = |run: &Run| {
        let findings = judge(run).findings;
        let relay = findings.iter().find(|f| f.code.as_str() == "relayed-path");
        relay.map(|f| f.severity)
    };
    assert_eq!(severity(&run), Some(Severity::Low));
    // Still relayed when the measurement ended.
    let mut after = run.near.facts.clone();
    for layer in &mut after.path.as_mut().unwrap().layers {
        if let Some(tunnel) = &mut layer.tunnel {
            tunnel.path = Some(TunnelPath::Relayed);
        }
    }
    run.near.facts_after = Some(after);
    assert_eq!(severity(&run), Some(Severity::High));
}

/// Sets the RTT of the idle path in the tunnel and below it, µs.
fn idle(run: &mut Run, inside: f64, outside: f64) {
    for sample in run
        .samples
        .iter_mut()
        .filter(|s| s.key.step == StepKind::Idle)
    {
        let us = match sample.key.layer {
            Layer::Tunnel => inside,
            Layer::Underlay => outside,
        };
        let probes = sample.probes.as_mut().unwrap();
        probes.min_us = Some(us);
        probes.p50_us = Some(us);
        probes.p95_us = Some(us);
        probes.p99_us = Some(us);
    }
}

/// A relay on the same machine: 0.755 ms in the tunnel were called the same as 0.019 ms beside it,
/// which ruled it out.
#[test]
fn a_round_trip_of_forty_times_the_paths_does_not_match_it() {
    let mut run = through_a_tunnel();
    paths(&mut run, |path| {
        for tunnel in path.layers.iter_mut().filter_map(|l| l.tunnel.as_mut()) {
            tunnel.path = None;
            tunnel.product = Product::Tailscale;
        }
    });
    idle(&mut run, 755.0, 19.0);
    let findings = judge(&run);
    assert!(!ruled_out(&findings, "relayed-path"), "{findings:#?}");
    let mut open = findings.cannot_tell.iter();
    let relay = open.find(|c| c.code.as_str() == "relayed-path").unwrap();
    let because = relay.because.to_string();
    assert!(
        because.contains("0.755 ms") && because.contains("0.019 ms"),
        "{because}"
    );
    // With equal round trips it is excluded.
    idle(&mut run, 21.0, 19.0);
    assert!(ruled_out(&judge(&run), "relayed-path"));
}

/// The same code was among the findings, ruled out and undecided at once.
#[test]
fn each_cause_is_in_one_list() {
    let lines = [
        Line::default(),
        Line {
            loss: 0.01,
            ..Line::default()
        },
        Line {
            rtt_ms: 80.0,
            rwnd_kb: Some(200.0),
            ..Line::default()
        },
        Line {
            rate_mbps: 10.0,
            buffer_ms: 300.0,
            ..Line::default()
        },
    ];
    for down in &lines {
        for up in &lines {
            let scene = Scene {
                down: down.clone(),
                up: up.clone(),
                ..Scene::default()
            };
            let findings = judge(&run(&scene, 1));
            let found: BTreeSet<_> = findings.findings.iter().map(|f| &f.code).collect();
            let out: BTreeSet<_> = findings.ruled_out.iter().map(|r| &r.code).collect();
            let open: BTreeSet<_> = findings.cannot_tell.iter().map(|c| &c.code).collect();
            assert!(found.is_disjoint(&out) && found.is_disjoint(&open) && out.is_disjoint(&open));
        }
    }
}
