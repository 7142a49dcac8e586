//! The two engines of the lab: one queueing discipline for a direction and routers that forward in
//! the sender's context (`device`), against shapers and emulators on ordinary routers (`chain`).
//!
//! `bench/engines` compares them on drawn paths; here each kind of queue has one cell, and what
//! routers do besides forwarding is compared by programs of the host.

#![allow(clippy::expect_used)]

mod common;

use common::{patched, pathtwin, rows, spec, text};
use serde_json::Value;

/// The patches of the engine `device`.
const PATCH: &str = "0021-veth-forward.patch";

const QUEUES: &str = r#"
name = "engines"
duration = "3s"
warmup = "1s"
[path]
rtt = "20ms"
rate = "40mbit"
[traffic]
cc = "cubic"
[matrix]
"path.queue" = ["fifo", "fq_codel", "codel", "cake"]
tunnel = ["none", "wireguard"]
engine = ["device", "chain"]
"#;

/// Pairs of rows that differ in the engine only.
fn pairs(rows: &[Value]) -> Vec<[&Value; 2]> {
    fn of<'a>(rows: &'a [Value], engine: &'a str) -> impl Iterator<Item = &'a Value> {
        rows.iter()
            .filter(move |row| row["factors"]["engine"] == engine)
    }
    let rest = |row: &Value| {
        let mut factors = row["factors"].clone();
        factors["engine"] = Value::Null;
        factors
    };
    of(rows, "device")
        .filter_map(|device| {
            let chain = of(rows, "chain").find(|chain| rest(chain) == rest(device))?;
            Some([device, chain])
        })
        .collect()
}

fn figure(row: &Value, name: &str) -> f64 {
    row[name].as_f64().expect("a figure")
}

#[test]
fn without_loss_both_engines_give_the_same_figures() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec(QUEUES);
    let rows = rows(&path, &[]);
    let pairs = pairs(&rows);
    assert_eq!(pairs.len(), 8);
    for [device, chain] in pairs {
        for (name, near) in [
            ("goodput_mbps", 0.005),
            ("tcp_rtt_p50_ms", 0.02),
            ("probe_p50_ms", 0.02),
        ] {
            let (a, b) = (figure(device, name), figure(chain, name));
            let what = format!("{name} with {}: {a} and {b}", device["factors"]);
            assert!((a / b - 1.0).abs() <= near, "{what}");
        }
        let (a, b) = ("probe_idle_p50_ms", 2e-3);
        let apart = figure(device, a) - figure(chain, a);
        assert!(apart.abs() <= b, "{}: {apart} ms", device["factors"]);
    }
}

/// A queue that drops at random by a timer of its own: one packet that comes a moment later changes
/// the draws after it.
const RANDOM: &str = r#"
name = "random"
duration = "3s"
warmup = "1s"
repeats = 24
[path]
rtt = "20ms"
rate = "40mbit"
[traffic]
cc = "cubic"
[matrix]
"path.queue" = ["dualpi2", "pie"]
engine = ["device", "chain"]
"#;

/// Bug: one seed was compared, and moved by 5 % when all events of a cell moved by 256 ns. One of
/// pie beside WireGuard moved by 19 % on an image of another compiler.
#[test]
fn with_a_queue_that_drops_at_random_medians_over_seeds_are_the_same() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec(RANDOM);
    let rows = rows(&path, &[]);
    for queue in ["dualpi2", "pie"] {
        for (name, near) in [("goodput_mbps", 0.005), ("tcp_rtt_p50_ms", 0.05)] {
            let [device, chain] = ["device", "chain"].map(|engine| {
                let of = |factor: &str, row: &Value| row["factors"][factor].clone();
                let own = rows
                    .iter()
                    .filter(|row| of("engine", row) == engine && of("path.queue", row) == queue);
                let values: Vec<f64> = own.map(|row| figure(row, name)).collect();
                assert_eq!(values.len(), 24);
                stats::median(&values).expect("a median")
            });
            let apart = (device / chain - 1.0).abs();
            assert!(apart <= near, "{queue}, {name}: {device} and {chain}");
        }
    }
}

const LOSSES: &str = r#"
name = "losses"
duration = "20s"
warmup = "1s"
[path]
rtt = "10ms"
rate = "20mbit"
loss = "1%"
[traffic]
kind = "udp"
rate = "10mbit"
[matrix]
"path.loss" = ["1%", "gemodel(1%, 20%)", "every 50"]
engine = ["device", "chain"]
"#;

/// They draw the same random numbers, so constant traffic loses the same packets.
#[test]
fn one_seed_loses_the_same_packets_by_both_engines() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec(LOSSES);
    let rows = rows(&path, &[]);
    let pairs = pairs(&rows);
    assert_eq!(pairs.len(), 3);
    for [device, chain] in pairs {
        let [a, b] = [device, chain].map(|row| figure(row, "udp_lost"));
        assert!(a > 0.005, "{}: {a}", device["factors"]);
        assert!((a - b).abs() < 1e-4, "{}: {a} and {b}", device["factors"]);
    }
}

const DATAGRAMS: &str = r#"
name = "datagrams"
duration = "20s"
warmup = "1s"
[path]
rtt = "20ms"
rate = "20mbit"
[traffic]
kind = "udp"
rate = "10mbit"
[matrix]
engine = ["device", "chain"]
"#;

/// A row of either engine: of constant traffic, with settings of the path.
fn datagrams(settings: &[&str]) -> [Value; 2] {
    let (_folder, path) = spec(DATAGRAMS);
    let arguments: Vec<&str> = settings.iter().flat_map(|set| ["--set", set]).collect();
    let rows = rows(&path, &arguments);
    let pairs = pairs(&rows);
    let [pair] = &pairs[..] else {
        panic!("{settings:?}: {} pairs", pairs.len());
    };
    [pair[0].clone(), pair[1].clone()]
}

/// Faults of the delay draw the numbers that netem draws: the same packets are lost, doubled and
/// overtaken, and each is as late.
#[test]
fn one_seed_has_the_same_faults_by_both_engines() {
    if !patched(PATCH) {
        return;
    }
    // Each with the figure that shows it.
    let faults: [(&[&str], &str); 6] = [
        (&["path.jitter=3ms"], "udp_jitter_ms"),
        (
            &["path.jitter_quantiles=50% 1ms, 90% 4ms, 99% 20ms"],
            "udp_jitter_ms",
        ),
        (
            &["path.reorder=1%", "path.jitter=1ms", "path.loss=0.5%"],
            "udp_reordered_n",
        ),
        (&["path.duplicate=1%", "path.loss=1%"], "udp_duplicates"),
        (&["path.slots=5ms"], "udp_jitter_ms"),
        (
            &["path.faults_first=true", "path.loss=gemodel(1%, 20%)"],
            "udp_lost",
        ),
    ];
    for (settings, shown) in faults {
        let [device, chain] = datagrams(settings);
        assert!(figure(&device, shown) > 0.0, "{settings:?} have no effect");
        for (name, near) in [
            ("udp_lost", 1e-4),
            ("udp_reordered_n", 1.0),
            ("udp_duplicates", 1.0),
            ("udp_jitter_ms", 5e-3),
            ("probe_idle_p50_ms", 5e-3),
            ("probe_p50_ms", 5e-3),
        ] {
            let (a, b) = (figure(&device, name), figure(&chain, name));
            assert!((a - b).abs() <= near, "{settings:?}, {name}: {a} and {b}");
        }
    }
}

/// A token bucket without a queue passes its rate of constant traffic, and delays none of it: of 10
/// Mbit/s of datagrams, and of the headers that a policer counts (42 bytes each), 8 pass.
#[test]
fn a_policer_of_either_engine_passes_its_rate() {
    if !patched(PATCH) {
        return;
    }
    for (settings, after) in [
        (
            &["path.queue=policer", "path.rate=8mbit", "path.buffer=20kB"][..],
            0.0,
        ),
        (&["path.policer=8mbit", "path.policer_burst=20kB"], 0.0),
        // Bug: of a chain, the policer of one direction and the loss of the other have one device.
        (
            &[
                "path.queue=policer",
                "path.rate=8mbit",
                "path.buffer=20kB",
                "path.loss=every 100",
            ],
            0.01,
        ),
    ] {
        let rows = datagrams(settings);
        let passes = 8.0 / (10.0 * 1242.0 / 1200.0);
        let rest = 1.0 - passes * (1.0 - after);
        for row in &rows {
            let (lost, delay) = (figure(row, "udp_lost"), figure(row, "probe_p50_ms"));
            // Probes take half a per cent of the tokens.
            assert!((lost - rest).abs() < 6e-3, "{settings:?}: {lost}, {rest}");
            assert!(delay < 21.5, "{settings:?}: {delay} ms");
        }
        let [a, b] = [0, 1].map(|at| figure(&rows[at], "queue_drops"));
        assert!(a > 1e3 && (a - b).abs() <= 2.0, "{settings:?}: {a}, {b}");
    }
}

/// What programs see of the routers.
const SEEN: &str = "ping -c 1 -t 1 server | grep exceeded; ping -c 1 -t 2 server | grep exceeded;
    ping -c 1 -M do -s 1472 server | grep -c time=; ping -c 1 -s 3000 server | grep -c time=;
    ping -c 1 -R server | grep -c 10.0.3.2; ping -c 1 10.0.3.2 | grep -c time=";

fn seen(engine: &str) -> (Option<i32>, String) {
    let (_folder, path) = spec("[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\n");
    let output = pathtwin()
        .args(["lab", "exec", "--set", &format!("engine={engine}")])
        .arg(&path)
        .args(["--on", "client", "--", "sh", "-c", SEEN])
        .output()
        .expect("run pathtwin");
    (output.status.code(), text(&output.stdout))
}

#[test]
fn routers_answer_as_ever_where_a_packet_is_not_plain() {
    if !patched(PATCH) {
        return;
    }
    let (code, device) = seen("device");
    assert_eq!(code, Some(0), "{device}");
    assert_eq!((code, device.clone()), seen("chain"));
    for line in ["From 10.0.2.2", "From 10.0.3.2"] {
        assert!(device.contains(line), "{device}");
    }
}

/// Full packets pass, then a router's next link becomes narrower than they are (1300 bytes).
/// Each ping ends with an error, which is what is looked for. The first of those of 1500 bytes
/// comes from the router; to the second the client's own kernel says what it has learnt.
fn narrowed(engine: &str, family: &str, size: u32) -> String {
    let (_folder, path) = spec(&format!(
        "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\nip = \"{family}\"\n"
    ));
    let full = format!("ping -n -c 1 -M do -s {size} server 2>&1");
    let client = format!(
        "for hops in 1 2 3; do ping -n -c 1 -t $hops server | grep -E 'exceeded|time='; done
         {full} | grep -c time=; sleep 2; {full} | grep -i mtu; {full} | grep -i mtu"
    );
    let output = pathtwin()
        .args(["lab", "exec", "--set", &format!("engine={engine}")])
        .arg(&path)
        .args(["--on", "near", "--", "sh", "-c"])
        .arg("sleep 1; ip link set dev to-server mtu 1300; sleep 4")
        .args(["--on", "client", "--", "sh", "-c", &client])
        .output()
        .expect("run pathtwin");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(&output.stdout)
}

/// What the router of a family says, by whatever name ping gives the address.
fn assert_narrowed(family: &str, size: u32, lines: [&str; 4]) {
    let device = narrowed("device", family, size);
    for line in lines {
        assert!(device.contains(line), "no {line} in:\n{device}");
    }
    assert_eq!(device, narrowed("chain", family, size), "{family}");
}

/// RFC 792: time exceeded in transit; RFC 1191: fragmentation needed, with the MTU of the next hop.
#[test]
fn routers_of_both_engines_refuse_packets_of_ipv4_that_expire_or_do_not_fit() {
    if !patched(PATCH) {
        return;
    }
    let lines = [
        "From 10.0.2.2 icmp_seq=1 Time to live exceeded",
        "From 10.0.3.2 icmp_seq=1 Time to live exceeded",
        "From 10.0.2.2 icmp_seq=1 Frag needed and DF set (mtu = 1300)",
        "local error: message too long, mtu=1300",
    ];
    assert_narrowed("ipv4", 1472, lines);
}

/// RFC 4443: hop limit exceeded in transit (section 3.3) and Packet Too Big (3.2).
#[test]
fn routers_of_both_engines_refuse_packets_of_ipv6_that_expire_or_do_not_fit() {
    if !patched(PATCH) {
        return;
    }
    let lines = [
        "From fd00:2::2 icmp_seq=1 Time exceeded: Hop limit",
        "From fd00:3::2 icmp_seq=1 Time exceeded: Hop limit",
        "From fd00:2::2 icmp_seq=1 Packet too big: mtu=1300",
        "local error: message too long, mtu: 1300",
    ];
    assert_narrowed("ipv6", 1452, lines);
}

/// A router counts what it forwards in the sender's context, and an expired packet is received.
#[test]
fn a_router_counts_what_it_forwards() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec("[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\n");
    let count = "sleep 2; awk '/^Ip: [0-9]/ { print $4, $7 }' /proc/net/snmp";
    let output = pathtwin()
        .args(["lab", "exec", "--set", "engine=device"])
        .arg(&path)
        .args(["--on", "near", "--", "sh", "-c", count])
        .args(["--on", "client", "--"])
        .args(["ping", "-q", "-i", "0.01", "-c", "100", "server"])
        .output()
        .expect("run pathtwin");
    // Received and forwarded: a hundred requests and as many answers.
    assert!(text(&output.stdout).contains("200 200"), "{output:?}");
}

#[test]
fn a_rate_with_steps_is_followed_by_both_engines() {
    if !patched(PATCH) {
        return;
    }
    let (_folder, path) = spec(
        r#"
        name = "steps"
        duration = "8s"
        warmup = "1s"
        [path]
        rtt = "10ms"
        rate = "20mbit"
        rate_steps = "3s 5mbit, 5s 20mbit"
        [matrix]
        "path.queue" = ["fifo", "fq_codel", "cake"]
        engine = ["device", "chain"]
        "#,
    );
    let rows = rows(&path, &[]);
    let pairs = pairs(&rows);
    assert_eq!(pairs.len(), 3);
    for [device, chain] in pairs {
        let [a, b] = [device, chain].map(|row| figure(row, "goodput_mbps"));
        // Six of eight seconds at 20 Mbit/s, two at 5.
        assert!((14.5..16.0).contains(&a), "{}: {a}", device["factors"]);
        assert!(
            (a / b - 1.0).abs() < 0.02,
            "{}: {a} and {b}",
            device["factors"]
        );
    }
}
