//! What routers do besides forwarding.

use crate::{
    PATCH,
    common::{patched, pathtwin, spec, text},
};

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
/// comes from the router; to the second the client's own kernel says what it has learnt. Bug: since
/// iputils 20240905 (Debian 13), ping names no MTU then, so the route is asked for it.
fn narrowed(engine: &str, family: &str, size: u32) -> String {
    let (_folder, path) = spec(&format!(
        "[path]\nrtt = \"30ms\"\nrate = \"50mbit\"\nip = \"{family}\"\n"
    ));
    let full = format!("ping -n -c 1 -M do -s {size} server 2>&1");
    let client = format!(
        "for hops in 1 2 3; do ping -n -c 1 -t $hops server | grep -E 'exceeded|time='; done
         {full} | grep -c time=; sleep 2; {full} | grep -i mtu; {full} | grep -ic 'message too long'
         ip -o route get $(getent hosts server | cut -d ' ' -f 1) | grep -o 'mtu [0-9]*'"
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
        "mtu 1300",
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
        "mtu 1300",
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
