//! `pathtwin tune` in a network namespace: what it prints, changes, and returns.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use std::{net::TcpListener, path::Path, time::Duration};

use common::{is_root, pathtwin, text};

/// Runs a command; its exit code and everything it printed.
fn tune(journal: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = pathtwin()
        .arg("tune")
        .args(arguments)
        .env("PATHTWIN_JOURNAL", journal)
        .output()
        .expect("run pathtwin");
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.code(), said)
}

fn ecn() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap()
}

/// Moves this thread, and what it starts, into a namespace of its own.
fn namespace() -> bool {
    if !is_root() {
        println!("skipped: needs root");
        return false;
    }
    let ns = sys::Netns::create().unwrap();
    ns.loopback_up().unwrap();
    ns.enter().unwrap();
    true
}

const ECN: [&str; 2] = ["--set", "net.ipv4.tcp_ecn=1"];

#[test]
fn a_change_that_nobody_confirms_is_undone_and_told() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let (code, said) = tune(&journal, &["apply", ECN[0], ECN[1], "--window", "2s"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(ecn(), "1\n");
    let (code, said) = tune(&journal, &["apply", "--set", "net.ipv4.tcp_sack=0"]);
    assert_eq!(code, Some(3), "{said}");
    for _ in 0..200 {
        if ecn() == before {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ecn(), before);
    // The keeper writes that down after the value.
    let told = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let (_, said) = tune(&journal, &["status"]);
        said.contains("not confirmed before its deadline")
    });
    assert!(told);
    let (code, said) = tune(&journal, &["confirm"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("too late"), "{said}");
}

#[test]
fn a_confirmed_change_stays_until_it_is_undone() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = server.local_addr().unwrap().to_string();
    let probe = ["apply", ECN[0], ECN[1], "--yes", "--probe", &target];
    let (code, said) = tune(&journal, &probe);
    assert_eq!(code, Some(0), "{said}");
    let (_, list) = tune(&journal, &["list"]);
    let (id, rest) = list.split_once(' ').unwrap();
    assert!(rest.contains("confirmed"), "{list}");
    assert_eq!(ecn(), "1\n");
    let (code, said) = tune(&journal, &["undo", id]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(ecn(), before);
    assert_eq!(tune(&journal, &["undo", id]).0, Some(2));
}

#[test]
fn a_plan_changes_nothing_and_names_all_that_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let (code, said) = tune(
        &journal,
        &[
            "plan",
            "--set",
            "net.ipv4.ip_forward=1",
            "--mtu",
            "nosuchdevice=1400",
        ],
    );
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("ip_forward") && said.contains("nosuchdevice"),
        "{said}"
    );
    assert_eq!(tune(&journal, &["plan", "--set", "nonsense"]).0, Some(2));
    assert_eq!(tune(&journal, &["plan"]).0, Some(2));
    assert!(!journal.exists());
}
