//! `pathtwin tune` in a network namespace: output, changes, and exit codes.

#![allow(clippy::expect_used, clippy::unwrap_used)]

mod common;

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

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

/// The program as a user without privileges, who can start it and write a folder of his own.
fn as_ordinary_user(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let copy = folder.join("pathtwin");
    if !copy.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_pathtwin"), &copy).unwrap();
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .args(["--bounding-set=-all", "--inh-caps=-all", "--"])
        .arg(&copy)
        .args(arguments)
        .env("PATHTWIN_JOURNAL", folder.join("journal"))
        .stdin(Stdio::null())
        .output()
        .expect("run setpriv");
    let message = common::text(&output.stdout) + &common::text(&output.stderr);
    (output.status.code(), message)
}

#[test]
fn an_ordinary_user_plans_and_is_told_which_capability_each_step_needs_before_anything_is_done() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let journal = folder.join("journal");
    let before = ecn();
    let settings = [ECN[0], ECN[1], "--queue-length", "lo=777"];
    let with = |command: &[&'static str], more: &[&'static str]| {
        as_ordinary_user(folder, &[command, &settings, more].concat())
    };
    let (code, message) = with(&["tune", "plan"], &[]);
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("needs CAP_NET_ADMIN"), "{message}");
    let (code, message) = with(&["tune", "apply"], &["--dry-run"]);
    assert_eq!(code, Some(0), "{message}");
    assert!(
        message.contains("sysctl -w") && message.contains("txqueuelen 777"),
        "{message}"
    );
    // Not even a connection is tried before.
    let nobody = ["--probe", "192.0.2.1:1"];
    for more in [&[][..], &nobody, &["--prove", "192.0.2.1"]] {
        let (code, message) = with(&["tune", "apply"], more);
        assert_eq!(code, Some(3), "{message}");
        assert!(message.contains("nothing was changed"), "{message}");
        for step in [
            "net.ipv4.tcp_ecn = 1 needs CAP_NET_ADMIN",
            "777 packets needs CAP_NET_ADMIN",
        ] {
            assert!(message.contains(step), "{step} is missing in {message}");
        }
    }
    assert!(!journal.exists(), "a folder was made for nothing");
    assert_eq!(ecn(), before);
}

#[cfg(feature = "lab")]
#[test]
fn fix_names_what_an_ordinary_user_lacks_before_it_measures() {
    if !namespace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens there: had it measured, it would say so.
    let arguments = [
        "fix",
        "127.0.0.1:1",
        "--open",
        "--yes",
        "--budget-time",
        "0s",
    ];
    let (code, message) = as_ordinary_user(folder.path(), &arguments);
    assert_eq!(code, Some(3), "{message}");
    for part in ["nothing was measured", "CAP_NET_ADMIN", "CAP_SYS_MODULE"] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
}

/// Sends to itself: one connection all the time, and new ones every now and then.
fn traffic(stop: &'static AtomicBool) -> Vec<std::thread::JoinHandle<()>> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let server = std::thread::spawn(move || {
        let mut all = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        while !stop.load(Relaxed) {
            all.extend(listener.accept().ok().map(|(stream, _)| {
                stream.set_nonblocking(true).unwrap();
                stream
            }));
            for stream in &mut all {
                let _ = stream.read(&mut buffer);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let send = move |stream: &mut TcpStream, times: u32| {
        for _ in 0..times {
            if stop.load(Relaxed) {
                break;
            }
            let _ = stream.write_all(&[0; 1000]);
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let old = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        send(&mut stream, u32::MAX);
    });
    let new = std::thread::spawn(move || {
        while !stop.load(Relaxed) {
            let mut stream = TcpStream::connect(address).unwrap();
            send(&mut stream, 100);
        }
    });
    vec![server, old, new]
}

/// A congestion control acts on connections opened since, and on none of before.
#[test]
fn live_connections_show_that_a_congestion_control_is_in_use_and_that_this_proves_no_effect() {
    if !namespace() {
        return;
    }
    static STOP: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let old = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    let old = old.trim();
    let new = if old == "reno" { "cubic" } else { "reno" };
    let threads = traffic(&STOP);
    std::thread::sleep(Duration::from_millis(300));
    let set = format!("cc={new}");
    let (code, message) = tune(&journal, &["apply", "--set", &set, "--observe", "2s"]);
    STOP.store(true, Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(code, Some(0), "{message}");
    let row = message
        .lines()
        .find(|line| line.starts_with("congestion control"));
    let row = row.unwrap_or_else(|| panic!("{message}"));
    // Both ends are this host's: those of before have the old one, new ones the new.
    let columns: Vec<&str> = row
        .split("  ")
        .map(str::trim)
        .filter(|c| !c.is_empty())
        .collect();
    let [_, before, remaining, since] = columns[..] else {
        panic!("{row}")
    };
    for column in [before, remaining] {
        assert!(column.contains(old) && !column.contains(new), "{message}");
    }
    assert!(since.contains(new), "{message}");
    assert!(message.contains("They do not show"), "{message}");
    // It waits as usual.
    assert_eq!(tune(&journal, &["undo"]).0, Some(0));
    let now = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
    assert_eq!(now.trim(), old);
}

/// Journals say what was changed, and ids are what a far host is addressed with.
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
    // 128 bits: each pair differs in 64 of them, give or take 6 times their deviation of 5.7.
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
fn a_far_host_plans_applies_switches_and_undoes_its_part_of_an_advice() {
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
