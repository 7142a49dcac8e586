//! Settings that a kernel may lack, across a boot: numbers of queues, steering, an MSS clamp, and
//! shapers of sent and received traffic.

use std::process::Command;

use crate::{
    CONFIRM, UNDO,
    common::text,
    machine::{Devices, System},
};

const SETTINGS: &str = "
systemctl start 'pathtwin-*' --all 2>/dev/null
ethtool -l up1 | sed '1,/^Current/d' | grep '^[RT]X'
cat /sys/class/net/up1/queues/*/rps_cpus
# The kernel has none for a queue that is not in use.
cat /sys/class/net/up1/queues/*/xps_cpus 2>/dev/null
nft list ruleset
for device in up0 up1; do
    tc qdisc show dev $device | sed 's/ [0-9a-f]*: / /'
    tc class show dev $device | grep htb | sed 's/ leaf [0-9a-f]*://'
    tc filter show dev $device ingress
done
ip -o link show type ifb | grep -o 'pt-ifb[0-9]*'
systemctl list-units --failed --no-legend --plain
find /etc -name '*pathtwin*' | sort | sed 's/^/left /'
";

/// Returns true if this kernel supports a command on a device `v0`; says so if not.
fn has(line: &str) -> bool {
    let tried = format!("ip link add v0 type veth peer name v1 && {line}");
    let output = Command::new("unshare")
        .args(["--net", "sh", "-c", &tried])
        .output()
        .expect("run unshare");
    if !output.status.success() {
        let why = text(&output.stderr);
        println!("skipped: this kernel lacks `{line}`: {}", why.trim());
    }
    output.status.success()
}

/// Applies and persists settings, boots, undoes them, and boots again.
fn stay_after_a_boot(devices: Devices, settings: &str, with: &[&str]) {
    let Some(system) = System::new(devices) else {
        return;
    };
    let before = system.boot(SETTINGS);
    assert!(!with.iter().any(|with| before.contains(with)), "{before}");
    let apply =
        format!("pathtwin tune apply {settings} --window 60s >/tmp/said 2>&1 || cat /tmp/said\n");
    let set = system.boot(&format!("{apply}{CONFIRM}{SETTINGS}"));
    for with in with {
        assert!(set.contains(with), "{with}: {set}");
    }
    assert_eq!(system.boot(SETTINGS), set, "after the boot");
    let status = system.boot(&format!("{SETTINGS}pathtwin tune status"));
    let seen = "after a boot, its files have set everything";
    assert!(status.contains(seen), "{status}");
    assert_eq!(system.boot(&format!("{UNDO}{SETTINGS}")), before);
    assert_eq!(system.boot(SETTINGS), before, "after undo and a boot");
}

/// Two of four queues, one processor for received packets, two for sent ones.
#[test]
fn numbers_of_queues_and_steering_are_there_after_a_boot_and_gone_after_undo() {
    stay_after_a_boot(
        Devices::Udev,
        "--channels 'up1=rx=2 tx=2' --receive-steering up1=1 --transmit-steering up1=2",
        &["RX:\t\t2\nTX:\t\t2\n1\n1\n1\n2\n"],
    );
}

#[test]
fn an_mss_clamp_is_there_once_after_a_boot_and_gone_after_undo() {
    if !has("nft add table inet t") {
        return;
    }
    for devices in [Devices::Udev, Devices::Container] {
        let rule = "mangle; policy accept;\n\t\ttcp flags syn tcp option maxseg size set 1200\n\t}";
        stay_after_a_boot(devices, "--mss-clamp 1200", &[rule]);
    }
}

/// Of networkd's device, and of one without an owner. `reboot` has them in a guest, whose kernel
/// lacks nothing.
#[test]
fn shapers_are_there_after_a_boot_and_gone_after_undo() {
    let queues = [
        "tc qdisc add dev v0 root handle 1: htb default 1",
        "tc qdisc add dev v1 root fq_codel",
    ];
    let redirect = "ip link add i0 type ifb && tc qdisc add dev v0 clsact && \
                    tc filter add dev v0 ingress matchall action mirred egress redirect dev i0";
    if !queues.into_iter().chain([redirect]).all(has) {
        return;
    }
    for device in ["up0", "up1"] {
        stay_after_a_boot(
            Devices::Udev,
            &format!(
                "--shape '{device}=50mbit fq_codel' --shape-ingress '{device}=40mbit fq_codel'"
            ),
            &["class htb 1:1 root", "rate 50Mbit", "matchall", "pt-ifb"],
        );
    }
}
