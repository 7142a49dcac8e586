//! Robustness: judging any Run terminates with a well-formed result.

#![allow(clippy::unwrap_used)]

mod common;

use common::findings;
use corpus::compose::{Line, Machine, Scene, Tunnel, run};
use explain::judge;
use model::{
    findings::{Finding, Findings, Severity},
    run::Run,
};
use proptest::prelude::*;
use serde_json::Value;

/// Replaces or removes the `n`-th value of a document, counting the members of all objects.
fn damage(value: &mut Value, n: &mut usize, with: &Option<Value>) {
    match value {
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names {
                if *n == 0 {
                    match with {
                        Some(with) => members.insert(name, with.clone()),
                        None => members.remove(&name),
                    };
                    *n = usize::MAX;
                    return;
                }
                *n -= 1;
                if let Some(inner) = members.get_mut(&name) {
                    damage(inner, n, with);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                damage(item, n, with);
            }
        }
        _ => {}
    }
}

fn well_formed(findings: &Findings) {
    assert!(!findings.summary.is_empty());
    for finding in &findings.findings {
        assert!((0.0..=1.0).contains(&finding.confidence));
        assert!(
            finding.evidence.iter().any(|e| e.decides),
            "{}",
            finding.code
        );
    }
    for (at, finding) in findings.findings.iter().enumerate() {
        let above = &findings.findings[..at];
        for (nth, first) in finding.after.iter().enumerate() {
            assert!(!finding.after[..nth].contains(first), "{first} twice");
            let repaired = |f: &Finding| f.code == *first && f.severity > Severity::Info;
            assert!(above.iter().any(repaired), "{} after {first}", finding.code);
        }
    }
    let text = serde_json::to_vec(findings).unwrap();
    assert!(!text.is_empty());
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0, 1.0..1e4, Just(1e300), Just(-1.0)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_scene_is_judged(
        rate_mbps in 0.1..1e4f64,
        rtt_ms in 0.01..1000.0f64,
        buffer_ms in 0.0..1000.0f64,
        loss in 0.0..0.5f64,
        jitter_ms in 0.0..100.0f64,
        reorder in 0.0..0.2f64,
        tunnel in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let line = Line { rate_mbps: rate_mbps.min(200.0), rtt_ms, buffer_ms, loss, jitter_ms, reorder, ..Line::default() };
        let scene = Scene {
            down: line.clone(),
            up: line,
            near: Machine::default(),
            tunnel: tunnel.then(Tunnel::default),
            ..Scene::default()
        };
        well_formed(&judge(&run(&scene, seed)));
    }

    #[test]
    fn a_damaged_run_is_judged(
        places in prop::collection::vec(0usize..4000, 1..60),
        number in number(),
        remove in any::<bool>(),
    ) {
        let line = Line { loss: 0.01, rate_mbps: 20.0, ..Line::default() };
        let scene = Scene { down: line.clone(), up: line, tunnel: Some(Tunnel::default()), ..Scene::default() };
        let mut document = serde_json::to_value(run(&scene, 1)).unwrap();
        for place in places {
            let mut damaged = document.clone();
            let with = (!remove).then(|| Value::from(number));
            damage(&mut damaged, &mut place.clone(), &with);
            // Damaged documents that cannot be read are skipped.
            if serde_json::from_value::<Run>(damaged.clone()).is_ok() {
                document = damaged;
            }
        }
        let damaged: Run = serde_json::from_value(document).unwrap();
        well_formed(&judge(&damaged));
    }
}

/// "Check first: policer" stood above the policer, which cost nothing and had no repair.
#[test]
fn what_is_checked_first_is_listed_above_and_calls_for_a_repair() {
    let all: Vec<Findings> = common::names().iter().map(|name| findings(name)).collect();
    all.iter().for_each(well_formed);
    let has_one = |f: &Findings| f.findings.iter().any(|f| !f.after.is_empty());
    assert!(all.iter().any(has_one));
}
