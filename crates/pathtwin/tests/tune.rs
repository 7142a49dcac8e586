//! `pathtwin tune` in a network namespace: output, changes, and exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use std::{io::Write, net::TcpListener, path::Path, process::Stdio, time::Duration};

use common::{is_root, pathtwin, program, spec};
use model::{
    advice::{ADVICE_SCHEMA, Advice, Effect, Goal, Origin, Tried, Unchanged},
    remedy::{Action, Location, Remedy},
    text,
    twin::TwinVerdict,
};

/// Runs a command; its exit code and everything it printed.
fn tune(journal: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    tune_with(journal, arguments, "")
}

/// The same with something on standard input.
fn tune_with(journal: &Path, arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = pathtwin()
        .arg("tune")
        .args(arguments)
        .env("PATHTWIN_JOURNAL", journal)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run pathtwin");
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().expect("wait for pathtwin");
    let message = common::text(&output.stdout) + &common::text(&output.stderr);
    (output.status.code(), message)
}

fn ecn() -> String {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap()
}

/// Moves this thread, and processes it starts, into a new namespace.
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

/// An Advice to request ECN on the far host.
fn advice() -> String {
    let remedy = Remedy::new(Action::Ecn { on: true }, Location::Far, text!("a test"));
    let tried = Tried {
        name: text!("ECN"),
        origin: Origin::Recipe,
        remedies: vec![remedy],
        effect: Effect::Helps,
        texts: Vec::new(),
        outcomes: Vec::new(),
        changes: Vec::new(),
        worth: 1.0,
        regret: 0.0,
        competitor: Vec::new(),
        pairs: 1,
        runs: Vec::new(),
    };
    let advice = Advice {
        schema: ADVICE_SCHEMA,
        program: "test".to_owned(),
        run: String::new(),
        twin: TwinVerdict::OrderOnly,
        goal: Goal::Balanced,
        keep: Vec::new(),
        text: text!("a test"),
        advised: Some(0),
        settle: None,
        unchanged: Unchanged {
            outcomes: Vec::new(),
            runs: Vec::new(),
        },
        tried: vec![tried],
        not_tried: Vec::new(),
        notes: Vec::new(),
        runs: 1,
        failed: 0,
    };
    serde_json::to_string(&advice).unwrap()
}

/// The words that `fix --far-ssh` runs on the far host, in their order.
#[test]
fn a_far_host_plans_applies_switches_and_undoes_what_an_advice_has_for_it() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let before = ecn();
    let plan = [
        "plan",
        "--advice",
        "-",
        "--end",
        "far",
        "--toward",
        "127.0.0.1",
    ];
    let plan: Vec<&str> = plan.into_iter().chain(["--output", "json"]).collect();
    let (code, planned) = tune_with(&journal, &plan, &advice());
    assert_eq!(code, Some(0), "{planned}");
    let planned = &planned[planned.find('{').unwrap()..=planned.rfind('}').unwrap()];
    let id = serde_json::from_str::<serde_json::Value>(planned).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let done = |words: &[&str], input: &str, expected: &str| {
        let (code, message) = tune_with(&journal, words, input);
        assert_eq!(code, Some(0), "{words:?}: {message}");
        assert_eq!(ecn(), expected, "{words:?}");
    };
    done(&["apply", "--plan", "-"], planned, "1\n");
    done(&["confirm", &id, "--prolong", "600s"], "", "1\n");
    done(&["aside", &id], "", &before);
    done(&["again", &id], "", "1\n");
    done(&["undo", &id], "", &before);
}

/// Runs `tune` on the near end of a path with 200 ms of queue, and a server on the far end.
fn on_a_path(arguments: &str) -> String {
    let (_folder, spec) = spec("[path]\nrtt = \"20ms\"\nrate = \"20mbit\"\nbuffer = \"200ms\"\n");
    let (_kept, program) = program();
    let program = program.display();
    let near = format!(
        "export PATHTWIN_JOURNAL=/tmp/j; {program} tune apply {arguments} --prove server --open; \
         echo code $?; {program} tune list; tc qdisc show dev to-server; sysctl net.ipv4.tcp_ecn"
    );
    let output = pathtwin()
        .args(["lab", "exec", "--limit", "1000"])
        .arg(spec)
        .args(["--on", "server", "--"])
        .arg(program.to_string())
        .args(["serve", "--open", "--on", "client", "--", "sh", "-c", &near])
        .output()
        .expect("run pathtwin");
    common::text(&output.stdout) + &common::text(&output.stderr)
}

/// The whole of `apply --prove` by the program itself, in virtual time.
#[test]
fn a_shaper_that_takes_the_queue_away_is_kept() {
    let message = on_a_path("--shape to-server=19mbit --for latency");
    assert!(message.contains("code 0"), "{message}");
    assert!(message.contains("Kept: the"), "{message}");
    assert!(message.contains("confirmed"), "{message}");
    assert!(message.contains("qdisc cake"), "{message}");
}

#[test]
fn a_setting_that_changes_nothing_is_undone() {
    let message = on_a_path("--set net.ipv4.tcp_ecn=1 --pairs 3");
    assert!(message.contains("code 1"), "{message}");
    assert!(message.contains("no significant gain"), "{message}");
    assert!(message.contains("net.ipv4.tcp_ecn = 0\n"), "{message}");
}
