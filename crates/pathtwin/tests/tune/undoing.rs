//! Ways back: by the keeper in time, and with errors.

use std::{process::Command, time::Duration};

use super::{ECN, common::text, ecn, namespace, tune};

/// Timers of services may be a minute late; the keeper has one of its own. Judged by its journal:
/// reading it later does not make it late.
#[test]
fn a_keeper_undoes_a_change_at_its_deadline_and_not_a_minute_later() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1], "--window", "3s"]);
    assert_eq!(code, Some(0), "{message}");
    let change = || {
        let (_, list) = tune(&journal, &["list", "--output", "json"]);
        let all: serde_json::Value = serde_json::from_str(&list).unwrap();
        all[0].clone()
    };
    let ended = (0..400).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Some(change()).filter(|change| change["state"]["is"] == "rolled_back")
    });
    let ended = ended.unwrap_or_else(|| panic!("{}", change()));
    assert_eq!(ecn(), before);
    let events = ended["events"].as_array().unwrap();
    let deadline = ended["deadline_boottime_ns"].as_u64().unwrap();
    let at = events.iter().filter_map(|e| e["boottime_ns"].as_u64());
    let from = at.clone().min().unwrap();
    let undone = at.filter(|at| *at >= deadline).min();
    let undone = undone.unwrap_or_else(|| panic!("not before it: {ended}"));
    // Much later than it had to wait would be another timer.
    assert!(undone - deadline < deadline - from, "{ended}");
}

/// Values that cannot be written end with 4, and another try sets them.
#[test]
fn a_change_undone_with_errors_says_so_by_its_exit_code() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1]]);
    assert_eq!(code, Some(0), "{message}");
    // In a mount namespace whose parameters are read-only.
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "--", "sh", "-ec"])
        .arg(
            "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys; \
             exec \"$0\" tune undo",
        )
        .arg(env!("CARGO_BIN_EXE_pathtwin"))
        .env("PATHTWIN_JOURNAL", &journal)
        .output()
        .unwrap();
    let message = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("tcp_ecn"), "{message}");
    assert_eq!(ecn(), "1\n");
    let (_, list) = tune(&journal, &["list"]);
    let id = list.split(' ').next().unwrap();
    let (code, message) = tune(&journal, &["undo", id]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
}
