//! Remedies on the hosts of a lab path by the real `tune`: kept if they help, otherwise undone.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use lab::{Config, Lab};
use model::{
    advice::Goal,
    change::State,
    job::{Prove, ProveOutput},
    net::{Direction, LoadDirection},
    plan::{Measurement, OF_HOST, Plan},
    proof::Decision,
    remedy::{Action, Bottleneck, Buffer, CcScope, Discipline, Flow, Location, Remedy},
    spec::Spec,
    text,
};

/// One flow in each direction, with the settings of the hosts.
fn plan() -> Plan {
    let text = "[[step]]\nkind = \"tcp\"\ndirection = \"down\"\nflows = 1\ncc = [\"default\"]\n\
                warmup_s = 2.0\nduration_s = 8\n[[step]]\nkind = \"tcp\"\ndirection = \"up\"\n\
                flows = 1\ncc = [\"default\"]\nwarmup_s = 2.0\nduration_s = 8\n\
                [repeats]\nmin = 1\nmax = 1\n";
    let mut plan: Plan = toml::from_str(text).unwrap();
    plan.hotspots = false;
    let hosts = |cc: &Vec<String>| cc == &vec![OF_HOST.to_owned()];
    let ours = |m: &Measurement| {
        matches!(m, Measurement::Tcp { direction, cc, .. }
        if *direction != LoadDirection::Both && hosts(cc))
    };
    assert!(plan.steps.iter().all(|step| ours(&step.measurement)));
    plan
}

/// Proves remedies on a path; needs the kernel image and the guest program.
fn proved(path: &str, remedies: Vec<Remedy>, goal: Goal) -> ProveOutput {
    let built = "../../target/x86_64-unknown-linux-musl/release/pathtwin-guest";
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join(built);
    let lab = Lab::open(&Config {
        cache: false,
        guest: Some(std::env::var_os("PATHTWIN_GUEST").map_or(built, PathBuf::from)),
        wall_limit: Duration::from_secs(300),
        ..Config::default()
    });
    let lab = lab.expect("a kernel image and a guest program");
    let spec = Spec::parse("path", path).unwrap();
    let job = Prove {
        cell: spec.cells().unwrap().remove(0),
        plan: plan(),
        remedies,
        goal,
        predicted: Vec::new(),
        keep: Vec::new(),
        at_a_cost: false,
        pairs: 3,
        program: "test".to_owned(),
        limit_ns: 3_000_000_000_000,
    };
    let done = lab.run(&job, &AtomicBool::new(false), &mut |_| {});
    done.expect("a proof")
}

fn remedy(action: Action, on: Location) -> Remedy {
    Remedy::new(action, on, text!("a test"))
}

fn bbr(on: Location) -> Remedy {
    let cc = "bbr".to_owned();
    let scope = CcScope::Socket;
    remedy(Action::CongestionControl { cc, scope }, on)
}

/// Random loss in one direction, and a buffer of a bandwidth-delay product.
const DEEP: &str = "[path]\nrtt = \"40ms\"\nrate = \"20mbit\"\n[path.down]\nloss = \"1%\"\n";

/// The buffer is small: the queue that bbr builds is too.
const LOSSY: &str =
    "[path]\nrtt = \"40ms\"\nrate = \"20mbit\"\nbuffer = \"4ms\"\n[path.down]\nloss = \"1%\"\n";

/// Case 4 in small: random loss, and cubic at the sender.
#[test]
fn bbr_at_the_sender_of_a_lossy_path_is_kept() {
    let done = proved(LOSSY, vec![bbr(Location::Far)], Goal::Balanced);
    let proof = done.proof.expect("a proof");
    assert_eq!(proof.decision, Decision::Kept, "{}", proof.text);
    assert_eq!(done.changes[0].state, State::Confirmed);
    assert_eq!(proof.acted[0].acted, Some(true), "{:?}", proof.acted);
    // For the connections to the other end only: a socket's setting has no wider scope.
    let setting = done.changes[0].steps[0].setting.to_string();
    assert!(
        setting.starts_with("congestion control bbr for connections to 10.0."),
        "{setting}"
    );
    // Not on a router, by the same `tune` in its namespace.
    let elsewhere: Vec<String> = done.elsewhere.iter().map(ToString::to_string).collect();
    let [elsewhere] = &elsewhere[..] else {
        panic!("{elsewhere:?}");
    };
    let why =
        format!("the router near: {setting}: this host forwards packets (net.ipv4.ip_forward)");
    assert!(elsewhere.starts_with(&why), "{elsewhere}");
    let down = proof
        .figures
        .iter()
        .find(|f| f.direction == Direction::Down)
        .unwrap();
    assert!(down.with > 2.0 * down.without, "{down:?}");
}

/// bbr at the receiving end does nothing for the data it receives.
#[test]
fn bbr_at_the_receiver_of_a_lossy_path_is_undone_without_a_trace() {
    let done = proved(DEEP, vec![bbr(Location::Near)], Goal::Throughput);
    let proof = done.proof.expect("a proof");
    assert!(!proof.decision.is_kept(), "{}", proof.text);
    assert_eq!(done.changes[0].state, State::RolledBack);
    assert_eq!(done.left_changed, []);
}

/// Case 3 in small: a shaper with fq_codel on both hosts takes the queue of the line away.
#[test]
fn shapers_of_both_hosts_are_kept_and_counted() {
    let shaper = |direction, on| {
        let action = Action::Shaper {
            device: None,
            rate_bps: Some(19_000_000),
            queue: Discipline::FqCodel,
            flow: Flow::Egress,
            direction,
            below: Bottleneck::Queue,
        };
        remedy(action, on)
    };
    let both = vec![
        shaper(Direction::Down, Location::Far),
        shaper(Direction::Up, Location::Near),
    ];
    let path = "[path]\nrtt = \"40ms\"\nrate = \"20mbit\"\nbuffer = \"200ms\"\n";
    let done = proved(path, both, Goal::Latency);
    let proof = done.proof.expect("a proof");
    assert_eq!(proof.decision, Decision::Kept, "{}", proof.text);
    assert_eq!((done.changes.len(), done.elsewhere.len()), (2, 0));
    assert!(
        proof.acted.iter().all(|a| a.acted == Some(true)),
        "{:?}",
        proof.acted
    );
}

/// Goodput is not all that counts: a sender whose small buffer kept the queue of the line empty now
/// fills it.
#[test]
fn a_send_buffer_that_fills_the_queue_is_undone_for_the_delay() {
    let path = "[path]\nrtt = \"40ms\"\nrate = \"20mbit\"\nbuffer = \"200ms\"\n\
                [ends.server]\nwmem = \"120kB\"\n";
    let larger = Action::SocketBuffer {
        buffer: Buffer::Send,
        keep: None,
        max_bytes: Some(4_000_000),
    };
    let done = proved(path, vec![remedy(larger, Location::Far)], Goal::Balanced);
    let proof = done.proof.expect("a proof");
    assert_eq!(proof.decision, Decision::Worse, "{}", proof.text);
    assert_eq!(done.changes[0].state, State::RolledBack);
    assert_eq!(done.left_changed, []);
}

/// fq_codel without a shaper where the queue is elsewhere: the setting does not act, and the report
/// states that.
#[test]
fn a_queue_that_never_fills_is_undone_as_one_that_did_not_act() {
    let action = Action::Queue {
        device: None,
        queue: Discipline::FqCodel,
    };
    let path = "[path]\nrtt = \"40ms\"\nrate = \"20mbit\"\nbuffer = \"200ms\"\n";
    let remedies = vec![remedy(action, Location::Near)];
    let done = proved(path, remedies, Goal::Latency);
    let proof = done.proof.expect("a proof");
    assert_eq!(proof.decision, Decision::DidNotAct, "{}", proof.text);
    assert_eq!(done.left_changed, []);
}

/// Removes a shaper on the near host's own device, before a line of 100 Mbit/s with this buffer.
fn without_shaper(shaper: &str, buffer: &str) -> ProveOutput {
    let path = format!(
        "[path]\nrtt = \"20ms\"\nrate = \"100mbit\"\nbuffer = \"{buffer}\"\n[ends.client]\n{shaper}\n"
    );
    let action = Action::RemoveShaper {
        device: None,
        queue: None,
        rate_bps: None,
    };
    let remedies = vec![remedy(action, Location::Near)];
    proved(&path, remedies, Goal::Balanced)
}

/// Bug: the removal of a shaper was called "did not act", because the queue in its place drops
/// nothing.
#[test]
fn a_shaper_left_over_from_a_slower_line_is_removed_and_kept_away() {
    for shaper in [
        "shape = \"10mbit\"\nqdisc = \"fq_codel\"",
        "shape = \"10mbit\"\nqdisc = \"cake\"",
    ] {
        let done = without_shaper(shaper, "8ms");
        let proof = done.proof.expect("a proof");
        assert_eq!(proof.decision, Decision::Kept, "{shaper}: {}", proof.text);
        assert_eq!(proof.acted[0].acted, Some(true), "{:?}", proof.acted);
        let mut figures = proof.figures.iter();
        let up = figures.find(|f| f.direction == Direction::Up).unwrap();
        assert!(up.without < 10e6 && up.with > 80e6, "{up:?}");
    }
}

/// A shaper just below the line's rate is there for the delay; it returns with all its options.
#[test]
fn a_shaper_that_keeps_the_delay_low_returns() {
    let shaper = "shape = \"95mbit\"\nqdisc = \"fq_codel\"";
    let done = without_shaper(shaper, "100ms");
    let proof = done.proof.expect("a proof");
    assert_eq!(proof.decision, Decision::Worse, "{}", proof.text);
    assert_eq!(done.changes[0].state, State::RolledBack);
    assert_eq!(done.left_changed, []);
}
