//! Each cause on composed Runs: found where present, and not elsewhere.

use corpus::compose::{Line, Scene, Tunnel, run};
use explain::judge;
use model::{
    cause::CauseCode,
    evidence::{CoreShares, CpuUse, ThreadRole, ThreadUse},
    facts::TunnelKind,
    findings::{Finding, Findings, RemedyClass, Severity},
    remedy::{Action, Location},
    run::{FlowResult, Run},
};

fn judged(scene: &Scene) -> Findings {
    judge(&run(scene, 1))
}

fn top(findings: &Findings) -> &str {
    findings.findings.first().map_or("", |f| f.code.as_str())
}

fn both(line: Line) -> Scene {
    Scene {
        down: line.clone(),
        up: line,
        ..Scene::default()
    }
}

#[test]
fn a_path_that_tcp_fills_is_healthy() {
    for rate_mbps in [5.0, 100.0, 900.0] {
        for rtt_ms in [0.5, 20.0, 200.0] {
            let findings = judged(&both(Line {
                rate_mbps,
                rtt_ms,
                ..Line::default()
            }));
            assert_eq!(top(&findings), "healthy", "{}", findings.summary);
        }
    }
}

#[test]
fn a_small_window_is_distinguished_from_loss() {
    let findings = judged(&Scene {
        down: Line {
            rtt_ms: 80.0,
            rwnd_kb: Some(200.0),
            ..Line::default()
        },
        ..Scene::default()
    });
    assert_eq!(top(&findings), "receive-window", "{}", findings.summary);
    let first = &findings.findings[0];
    assert_eq!(first.remedies[0].on, Location::Near);
    let text = first.text.to_string();
    assert!(
        text.contains("a window of 200 kB per 7") || text.contains("a window of 200 kB per 8"),
        "200 kB in 80 ms: {}",
        first.text
    );
    assert!(
        findings
            .ruled_out
            .iter()
            .any(|r| r.code.as_str() == "random-loss")
    );
}

#[test]
fn a_small_send_buffer_is_found_at_the_sender() {
    let findings = judged(&Scene {
        up: Line {
            rtt_ms: 80.0,
            sndbuf_kb: Some(300.0),
            ..Line::default()
        },
        ..Scene::default()
    });
    assert_eq!(top(&findings), "send-buffer", "{}", findings.summary);
    assert_eq!(findings.findings[0].remedies[0].on, Location::Near);
}

#[test]
fn a_deep_queue_is_found() {
    let findings = judged(&Scene {
        up: Line {
            rate_mbps: 20.0,
            buffer_ms: 300.0,
            ..Line::default()
        },
        ..Scene::default()
    });
    assert_eq!(top(&findings), "bufferbloat-remote", "{}", findings.summary);
}

#[test]
fn a_policer_is_distinguished_from_a_queue() {
    let findings = judged(&both(Line {
        buffer_ms: 0.0,
        ..Line::default()
    }));
    assert_eq!(top(&findings), "policer", "{}", findings.summary);
    assert_ne!(
        findings.findings[0].remedies[0].class(),
        RemedyClass::CongestionControl
    );
}

#[test]
fn random_loss_names_the_sender() {
    let up = Line {
        rtt_ms: 50.0,
        ..Line::default()
    };
    let findings = judged(&Scene {
        down: Line {
            loss: 0.005,
            ..up.clone()
        },
        up,
        ..Scene::default()
    });
    assert_eq!(top(&findings), "random-loss", "{}", findings.summary);
    let remedy = &findings.findings[0].remedies[0];
    assert_eq!(remedy.class(), RemedyClass::CongestionControl);
    assert_eq!(remedy.on, Location::Far);
}

#[test]
fn loss_without_a_cost_is_not_a_finding() {
    // 0.1 % at 1 ms allows 400 Mbit/s.
    let findings = judged(&both(Line {
        rtt_ms: 1.0,
        loss: 0.001,
        ..Line::default()
    }));
    assert_eq!(top(&findings), "healthy", "{}", findings.summary);
}

/// Removes everything but TCP's goodput and the UDP results.
fn strip(run: &mut Run) {
    for sample in &mut run.samples {
        sample.near = None;
        sample.far = None;
        sample.probes = None;
        for flow in sample.tcp.iter_mut().flat_map(|t| &mut t.flows) {
            *flow = FlowResult {
                goodput_bps: flow.goodput_bps,
                ..FlowResult::default()
            };
        }
    }
}

#[test]
fn unknown_evidence_is_never_a_no() {
    let mut bare = run(
        &Scene {
            down: Line {
                rtt_ms: 80.0,
                rwnd_kb: Some(200.0),
                ..Line::default()
            },
            ..Scene::default()
        },
        1,
    );
    strip(&mut bare);
    bare.samples.retain(|s| s.sweep.is_empty());
    let findings = judge(&bare);
    assert!(
        findings
            .findings
            .iter()
            .all(|f| f.severity == Severity::Info),
        "{findings:#?}"
    );
    for code in [
        "receive-window",
        "send-buffer",
        "random-loss",
        "policer",
        "healthy",
    ] {
        assert!(
            findings.cannot_tell.iter().any(|c| c.code.as_str() == code),
            "{code}: {findings:#?}"
        );
    }
}

/// With only TCP's goodput known, no cause is found, and causes are ruled out only on that basis.
#[test]
fn unobserved_causes_are_not_ruled_out() {
    let line = Line {
        rtt_ms: 80.0,
        loss: 0.01,
        ..Line::default()
    };
    let mut bare = run(&both(line), 1);
    bare.samples.retain(|s| s.tcp.is_some());
    strip(&mut bare);
    for end in [&mut bare.near, &mut bare.far] {
        end.facts = Default::default();
    }
    let findings = judge(&bare);
    assert!(findings.findings.is_empty(), "{findings:#?}");
    // The sender of each direction is known.
    let known = ["far-end-limit"];
    for ruled_out in &findings.ruled_out {
        assert!(known.contains(&ruled_out.code.as_str()), "{ruled_out:#?}");
    }
    let judged: usize = findings.ruled_out.len() + findings.cannot_tell.len();
    assert!(judged >= explain::registry().len(), "{judged}");
}

#[test]
fn an_empty_run_has_no_findings() {
    let mut empty = run(&Scene::default(), 1);
    empty.samples.clear();
    assert!(judge(&empty).findings.is_empty());
}

#[test]
fn findings_survive_json() {
    let findings = judged(&both(Line {
        loss: 0.01,
        rtt_ms: 60.0,
        ..Line::default()
    }));
    let text = serde_json::to_vec(&findings).unwrap();
    let read = Findings::parse(&text).unwrap();
    // A decimal fraction may change in its last bit.
    assert_eq!(report_of(&read), report_of(&findings));
}

fn report_of(findings: &Findings) -> Vec<String> {
    let of = |f: &model::findings::Finding| {
        format!("{} {:?} {} {}", f.code, f.place, f.text, f.evidence.len())
    };
    findings.findings.iter().map(of).collect()
}

/// Remedies are of the kind of their cause, and their values match the path.
#[test]
fn remedies_have_the_values_of_the_run() {
    let small = judged(&Scene {
        down: Line {
            rtt_ms: 80.0,
            sndbuf_kb: Some(200.0),
            ..Line::default()
        },
        ..Scene::default()
    });
    for finding in &small.findings {
        let cause = explain::registry()
            .iter()
            .find(|c| c.code == finding.code)
            .unwrap();
        // Bbr was tried, and the send buffer limits it just as much.
        let class = if finding.code == CauseCode::FAR_END_LIMIT {
            RemedyClass::Line
        } else {
            cause.remedy.class()
        };
        assert_eq!(finding.remedies[0].class(), class, "{}", finding.code);
    }
    let bloat = judged(&Scene {
        up: Line {
            rate_mbps: 20.0,
            buffer_ms: 300.0,
            ..Line::default()
        },
        ..Scene::default()
    });
    let finding = bloat
        .findings
        .iter()
        .find(|f| f.code.as_str() == "bufferbloat-remote")
        .unwrap();
    let Action::Shaper {
        rate_bps: Some(rate),
        direction,
        ..
    } = finding.remedies[0].action
    else {
        panic!("{:?}", finding.remedies);
    };
    assert_eq!(direction, model::net::Direction::Up);
    // 95 % of 20 Mbit/s, by a search with an error of a few per cent.
    assert!((17_500_000..=19_500_000).contains(&rate), "{rate}");
}

/// A run on a line that TCP fills, on hosts whose processors are busy with other programs.
fn on_busy_hosts(idle: [f64; 2]) -> Run {
    let line = Line {
        rate_mbps: 50.0,
        rtt_ms: 20.0,
        ..Line::default()
    };
    let mut run = run(&both(line), 1);
    for sample in &mut run.samples {
        for evidence in [&mut sample.near, &mut sample.far].into_iter().flatten() {
            let core = |cpu: u32| CoreShares {
                cpu,
                user: 1.0 - idle[cpu as usize],
                idle: idle[cpu as usize],
                ..CoreShares::default()
            };
            evidence.cpu = Some(CpuUse {
                cores: vec![core(0), core(1)],
                threads: vec![ThreadUse {
                    role: ThreadRole::Own,
                    name: "pathtwin".to_owned(),
                    tid: 7,
                    user_s: 0.0,
                    system_s: 0.05 * evidence.interval_us as f64 / 1e6,
                    wait_s: None,
                }],
            });
        }
    }
    run
}

/// Observed between two namespaces behind shapers of 50 and 20 Mbit/s: "a processor is fully busy,
/// high" above "99.9 % of what the path carries".
#[test]
fn a_busy_processor_does_not_lead_where_the_path_is_full() {
    for idle in [[0.0, 0.9], [0.0, 0.02]] {
        let findings = judge(&on_busy_hosts(idle));
        assert_eq!(top(&findings), "healthy", "{idle:?}: {}", findings.summary);
        let busy = findings
            .findings
            .iter()
            .find(|f| f.code.as_str() == "cpu-core");
        assert_eq!(
            busy.is_some(),
            idle[1] < 0.1,
            "other work fills both: {idle:?}"
        );
    }
}

/// A run through a tunnel in user space that both hosts' two processors limit to `cap_mbps`, with
/// the processor shares of the threads of its process.
fn through_go(cap_mbps: f64, rate_mbps: f64, threads: &[f64]) -> Run {
    let line = Line {
        rate_mbps,
        rtt_ms: 2.0,
        cpu_cap_mbps: Some(cap_mbps),
        ..Line::default()
    };
    let tunnel = Tunnel {
        kind: TunnelKind::WireguardGo,
        ..Tunnel::default()
    };
    let mut run = run(
        &Scene {
            tunnel: Some(tunnel),
            ..both(line)
        },
        1,
    );
    for sample in &mut run.samples {
        for evidence in [&mut sample.near, &mut sample.far].into_iter().flatten() {
            let seconds = evidence.interval_us as f64 / 1e6;
            let busy = threads.iter().sum::<f64>() / 2.0;
            let core = |cpu: u32| CoreShares {
                cpu,
                user: busy,
                idle: 1.0 - busy,
                ..CoreShares::default()
            };
            let thread = |(tid, share): (u32, &f64)| ThreadUse {
                role: ThreadRole::Tunnel,
                name: "wireguard-go".to_owned(),
                tid,
                user_s: share * seconds,
                ..ThreadUse::default()
            };
            evidence.cpu = Some(CpuUse {
                cores: vec![core(0), core(1)],
                threads: (1..).zip(threads).map(thread).collect(),
            });
        }
    }
    run
}

fn of<'a>(findings: &'a Findings, code: &str) -> Option<&'a Finding> {
    findings.findings.iter().find(|f| f.code.as_str() == code)
}

/// Go spreads one tunnel over six threads of 32 % each: 192 % of two processors is as full as one
/// thread at 96 %. Only the busiest thread was judged.
#[test]
fn a_tunnel_that_go_spreads_over_six_threads_fills_the_processors_as_one_process() {
    let findings = judge(&through_go(250.0, 900.0, &[0.32; 6]));
    let codes: Vec<&str> = findings.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes[0], "cpu-tunnel-thread", "{codes:?}");
    let text = findings.findings[0].text.to_string();
    assert!(
        text.contains("wireguard-go uses 96 % of all processors (2) in 6 threads"),
        "{text}"
    );
    assert_eq!(findings.findings[0].severity, Severity::High);
}

/// The other side of it: three quarters of both processors are not full, however they are spread.
#[test]
fn six_threads_that_leave_a_quarter_of_the_processors_are_not_full() {
    let findings = judge(&through_go(250.0, 900.0, &[0.25; 6]));
    assert!(
        of(&findings, "cpu-tunnel-thread").is_none(),
        "{findings:#?}"
    );
}

/// A tunnel with busy processors on a path that TCP fills in it and beside it alike: the line is
/// the limit, and one figure of the processors names no cause.
#[test]
fn a_full_process_does_not_lead_where_the_path_is_full_beside_it_too() {
    for threads in [&[0.32; 6][..], &[0.97]] {
        let findings = judge(&through_go(1e6, 50.0, threads));
        let busy = of(&findings, "cpu-tunnel-thread").expect("it is stated");
        assert_eq!(busy.severity, Severity::Info, "{busy:#?}");
        assert_eq!(top(&findings), "healthy", "{}", findings.summary);
    }
}

/// The address in the tunnel had no route, so the facts described none: that ruled out a shaper and
/// a tunnel although both existed.
#[test]
fn facts_without_a_route_rule_nothing_out() {
    let mut run = run(&both(Line::default()), 1);
    for end in [&mut run.near, &mut run.far] {
        let path = end.facts.path.as_mut().expect("a path");
        path.layers.truncate(1);
        path.layers[0].route = None;
        path.layers[0].devices = Vec::new();
    }
    let findings = judge(&run);
    for code in [
        "leftover-shaper",
        "wifi-hop",
        "relayed-path",
        "userspace-tunnel",
    ] {
        assert!(
            findings.ruled_out.iter().all(|r| r.code.as_str() != code),
            "{code}"
        );
        assert!(
            findings.cannot_tell.iter().any(|c| c.code.as_str() == code),
            "{code}"
        );
    }
}
