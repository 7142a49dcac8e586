//! Changes that are confirmed, or undone without a confirmation, and their journals.

use std::{net::TcpListener, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use super::{ECN, ecn, namespace, tune};

#[test]
fn an_unconfirmed_change_is_undone_and_reported() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1], "--window", "2s"]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), "1\n");
    let (code, message) = tune(&journal, &["apply", "--set", "net.ipv4.tcp_sack=0"]);
    assert_eq!(code, Some(3), "{message}");
    for _ in 0..200 {
        if ecn() == before {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ecn(), before);
    // The keeper writes that down after the value.
    let reported = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let (_, message) = tune(&journal, &["status"]);
        message.contains("not confirmed before its deadline")
    });
    assert!(reported);
    let (code, message) = tune(&journal, &["confirm"]);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("too late"), "{message}");
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
    let (code, message) = tune(&journal, &probe);
    assert_eq!(code, Some(0), "{message}");
    let (_, list) = tune(&journal, &["list"]);
    let (id, rest) = list.split_once(' ').unwrap();
    assert!(rest.contains("confirmed"), "{list}");
    assert_eq!(ecn(), "1\n");
    let (code, message) = tune(&journal, &["undo", id]);
    assert_eq!(code, Some(0), "{message}");
    assert_eq!(ecn(), before);
    assert_eq!(tune(&journal, &["undo", id]).0, Some(2));
}

#[test]
fn a_plan_changes_nothing_and_names_all_that_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let (code, message) = tune(
        &journal,
        &[
            "plan",
            "--set",
            "net.ipv4.ip_forward=1",
            "--mtu",
            "nosuchdevice=1400",
        ],
    );
    assert_eq!(code, Some(3), "{message}");
    assert!(
        message.contains("ip_forward") && message.contains("nosuchdevice"),
        "{message}"
    );
    assert_eq!(tune(&journal, &["plan", "--set", "nonsense"]).0, Some(2));
    assert_eq!(tune(&journal, &["plan"]).0, Some(2));
    assert!(!journal.exists());
}

/// Journals describe changes, and ids identify changes to a far host.
#[test]
fn journals_are_for_root_alone_and_their_ids_cannot_be_guessed() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    for _ in 0..4 {
        let (code, message) = tune(&journal, &["apply", ECN[0], ECN[1]]);
        assert_eq!(code, Some(0), "{message}");
        assert_eq!(tune(&journal, &["undo"]).0, Some(0));
    }
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&journal), 0o700);
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(&journal).unwrap().flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{entry:?}");
        let name = entry.file_name().into_string().unwrap();
        ids.extend(name.strip_suffix(".json").map(str::to_owned));
    }
    assert_eq!(ids.len(), 4);
    // 128 bits: each pair differs in 64 of them, plus or minus 6 times the deviation of 5.7.
    let bits = |id: &str| u128::from_str_radix(id, 16).unwrap();
    for (n, a) in ids.iter().enumerate() {
        for b in &ids[n + 1..] {
            let differ = (bits(a) ^ bits(b)).count_ones();
            assert!(
                (30..=98).contains(&differ),
                "{a} and {b} differ in {differ} bits"
            );
        }
    }
}
