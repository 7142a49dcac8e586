//! Plans from findings, and shapers by a share of the measured capacity.

use std::path::{Path, PathBuf};

use model::{
    remedy::{Action, CcScope, Location, Remedy},
    text,
};
use serde_json::json;

use super::{ecn, namespace, tune};

/// Findings of a path with 100 Mbit/s down and 20 Mbit/s up that propose ECN for the near host.
fn findings(folder: &Path) -> PathBuf {
    let remedy = Remedy::new(Action::Ecn { on: true }, Location::Near, text!("a test"));
    findings_with(folder, &[remedy])
}

fn findings_with(folder: &Path, remedies: &[Remedy]) -> PathBuf {
    let text = text!("a test");
    let findings = json!({
        "schema": 2, "program": "test", "run": "r", "summary": text,
        "capacity": {"down_bps": 100e6, "up_bps": 20e6},
        "findings": [{
            "code": "bufferbloat-remote", "title": text, "severity": "high",
            "confidence": 0.9, "says": text, "evidence": [], "remedies": remedies,
        }],
    });
    let file = folder.join("findings.json");
    std::fs::write(&file, findings.to_string()).unwrap();
    file
}

#[test]
fn remedies_of_findings_are_applied_on_their_own_host_only() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let file = findings(folder.path());
    let file = file.to_str().unwrap();
    let before = ecn();
    let (code, message) = tune(&journal, &["apply", "--findings", file, "--end", "far"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("belongs to the near host"), "{message}");
    assert_eq!(ecn(), before);
    let (code, message) = tune(&journal, &["apply", "--findings", file, "--end", "near"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), "1\n");
    let (code, message) = tune(&journal, &["undo"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
    // A given value is preferred to a proposed one.
    let given = ["--set", "net.ipv4.tcp_ecn=0"];
    let (code, message) = tune(
        &journal,
        &[&["plan", "--findings", file, "--end", "near"], &given[..]].concat(),
    );
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("not changed: net.ipv4.tcp_ecn = 1"),
        "{message}"
    );
}

/// Case 1: BBR was set on a router that forwards, where it has no effect.
#[test]
fn a_congestion_control_is_refused_at_a_router_that_forwards() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let bbr = Action::CongestionControl {
        cc: "bbr".into(),
        scope: CcScope::Host,
    };
    let remedies = [
        Remedy::new(bbr, Location::Near, text!("it sends")),
        Remedy::new(
            Action::MssClamp { bytes: None },
            Location::Router,
            text!("a test"),
        ),
    ];
    let file = findings_with(folder.path(), &remedies);
    let of = ["--findings", file.to_str().unwrap(), "--end", "router"];
    let (code, message) = tune(&journal, &[&["plan"], &of[..]].concat());
    assert_eq!(code, Some(0), "{message}");
    let why = "belongs to the near host: connections use the congestion control of the host that \
               sends, never that of a router that forwards them";
    assert!(message.contains(why), "{message}");
    assert!(message.contains("MSS"), "{message}");
}

/// The kernel at hand may lack the queue; then the refusal names the setting with its rate.
#[test]
fn a_shaper_takes_a_share_of_the_capacity_that_findings_have() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let file = findings(folder.path());
    let of = ["--findings", file.to_str().unwrap(), "--end", "near"];
    let plan = |words: &[&str]| tune(&journal, &[&["plan"], words].concat());
    let (_, message) = plan(&[&["--shape", "lo=95% fq_codel"], &of[..]].concat());
    assert!(message.contains("rate=19mbit"), "{message}");
    let apart = ["--shape", "lo=95%", "--queue", "fq_codel"];
    let (_, message) = plan(&[&apart[..], &of[..]].concat());
    assert!(
        message.contains("htb rate=19mbit queue=fq_codel"),
        "{message}"
    );
    let (_, message) = plan(&[&["--shape", "lo=95%", "--queue", "cake"], &of[..]].concat());
    assert!(message.contains("cake bandwidth=19mbit"), "{message}");
    for wrong in [
        &["--queue", "cake"][..],
        &["--shape", "lo=9mbit fq", "--queue", "cake"],
    ] {
        let (code, message) = plan(wrong);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains("shape"), "{message}");
    }
    let (_, message) = plan(&[&["--shape-ingress", "lo=95%"], &of[..]].concat());
    assert!(message.contains("bandwidth=95mbit"), "{message}");
    let (code, message) = plan(&["--shape", "lo=95%"]);
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("give --findings or --advice"), "{message}");
}

#[test]
fn a_shaper_below_half_of_that_capacity_needs_force() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let file = findings(folder.path());
    let of = ["--findings", file.to_str().unwrap(), "--end", "near"];
    // Kilobits meant as megabits.
    let wrong = [&["plan", "--shape", "lo=19kbit fq_codel"], &of[..]].concat();
    let (code, message) = tune(&journal, &wrong);
    assert_eq!(code, Some(3), "{message}");
    let words: Vec<&str> = message.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("less than half of the measured capacity of 20 Mbit/s"),
        "{message}"
    );
    let (_, message) = tune(&journal, &[&wrong[..], &["--force"]].concat());
    assert!(!message.contains("less than half"), "{message}");
}
