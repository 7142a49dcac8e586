//! Test host: links, addresses, routes and queues in a namespace, and its dump.

pub mod guest;

use std::{fs, net::TcpListener, os::fd::AsRawFd, path::Path, process::Command};

use model::change::{Setting, parse::Scope};
use sys::Netns;

/// Numbers that follow from a seed (splitmix64, Steele et al., OOPSLA 2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    }

    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Runs a shell command; returns its output, or `None` if it failed.
pub fn sh(line: &str) -> Option<String> {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

const LINKS: &[&str] = &[
    "ip link set lo up",
    // Only in a mount namespace of its own: the devices of this network namespace.
    "[ $(readlink /proc/self/ns/mnt) = $(readlink /proc/1/ns/mnt) ] || mount -t sysfs sysfs /sys || true",
    "ip link add v0 address 02:00:00:00:00:01 txqueuelen 500 numrxqueues 4 numtxqueues 4 type veth \
     peer name v1 address 02:00:00:00:00:02",
    "sysctl -qw net.ipv6.conf.v0.accept_dad=0 net.ipv6.conf.v1.accept_dad=0 || true",
    "ip link set v1 up",
    "ip link set v0 up",
    "ip addr add 10.1.0.1/24 dev v0",
    "ip addr add fd00::1/64 dev v0 nodad",
    "ip route add 10.9.0.0/16 via 10.1.0.2 mtu lock 1400 advmss 1300 initcwnd 20",
    "ip route add default via 10.1.0.2 metric 50",
    "ip -6 route add fd09::/32 via fd00::2 mtu 1450 metric 70",
    "ip route add 10.8.0.0/16 nexthop via 10.1.0.2 weight 2 nexthop via 10.1.0.3",
];

/// Settings that a device loses when it goes down: all but its IPv4 addresses.
pub const LOST_BY_DOWN: &[&str] = &[
    "ip addr add fd00::1/64 dev v0 nodad",
    "ip route replace 10.9.0.0/16 via 10.1.0.2 mtu lock 1400 advmss 1300 initcwnd 20",
    "ip route replace default via 10.1.0.2 metric 50",
    "ip -6 route replace fd09::/32 via fd00::2 mtu 1450 metric 70",
    "ip route replace 10.8.0.0/16 nexthop via 10.1.0.2 weight 2 nexthop via 10.1.0.3",
];

/// Queues that v0 may have before, each a line of a shell. The first always works.
const QUEUES: &[&str] = &[
    "true",
    "tc qdisc add dev v0 root handle 7: pfifo limit 77",
    "tc qdisc add dev v0 root bfifo limit 90000",
    "tc qdisc add dev v0 root handle 9: tbf rate 50mbit burst 20kb limit 200kb",
    "tc qdisc add dev v0 root handle 1: htb default 20 && \
     tc class add dev v0 parent 1: classid 1:10 htb rate 50mbit && \
     tc class add dev v0 parent 1:10 classid 1:20 htb rate 20mbit ceil 40mbit && \
     tc qdisc add dev v0 parent 1:20 handle 20: bfifo limit 70000",
    "tc qdisc add dev v0 root handle 3: fq_codel limit 900 target 7ms noecn",
    "tc qdisc add dev v0 root handle 4: cake bandwidth 20mbit rtt 50ms",
    "tc qdisc add dev v0 root handle 8: pie target 17ms tupdate 20ms",
    "tc qdisc add dev v0 root handle 8: codel target 7ms interval 77ms",
    "tc qdisc add dev v0 root handle 8: fq_pie target 13ms flows 64",
    "tc qdisc add dev v0 root handle 5: fq flow_limit 300 maxrate 900mbit",
    "tc qdisc add dev v0 root handle 2: dualpi2",
    "tc qdisc add dev v0 root handle 6: netem delay 3ms loss 1%",
];

/// Creates a network card without hardware (drivers/net/netdevsim), which has rings and channels.
const CARD: &str = "cd /sys/bus/netdevsim || exit 1
    echo NUMBER >del_device
    echo NUMBER 1 4 >new_device || exit 1
    n=$(ls devices/netdevsimNUMBER/net) &&
    ip link set $n address 02:00:00:00:00:03 name n0 && ip link set n0 up";

/// Sets the host up from `random`. Queues that this kernel lacks are left out.
pub fn set_up(random: &mut Random) {
    for line in LINKS {
        assert!(sh(line).is_some(), "{line}");
    }
    let number = random.0 % 1_000_000;
    if sh(&CARD.replace("NUMBER", &number.to_string())).is_none() {
        // This kernel has no such cards.
        let _ = sh("ip link del n0");
    }
    let queue = random.one(QUEUES);
    if sh(queue).is_none() {
        let _ = sh("tc qdisc del dev v0 root");
    }
    // Carrier and addresses settle.
    std::thread::sleep(std::time::Duration::from_millis(300));
}

/// The device loses its carrier, and is set up again.
pub fn down_and_up() {
    assert!(sh("ip link set v0 down && ip link set v0 up").is_some());
}

/// The clock jumps by this many days, if it is the guest's own.
pub fn jump(days: i64) {
    let line = format!("date -s @$(($(date +%s) + {days} * 86400))");
    assert!(!guest::is_guest() || sh(&line).is_some(), "{line}");
}

/// Listen address of the peer.
pub const PEER: &str = "10.1.0.2:7777";

/// The other end of the link as a separate host.
#[derive(Debug)]
pub struct Peer {
    _ns: Netns,
    _listener: TcpListener,
}

/// Moves the other end of the link into a host that accepts connections.
pub fn peer() -> Peer {
    let ns = Netns::create().unwrap();
    let fd = ns.fd().as_raw_fd();
    let own = std::process::id();
    assert!(sh(&format!("ip link set v1 netns /proc/{own}/fd/{fd}")).is_some());
    let listener = ns.run(|| {
        assert!(sh("ip addr add 10.1.0.2/24 dev v1 && ip link set v1 up").is_some());
        TcpListener::bind(PEER).unwrap()
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    Peer {
        _ns: ns,
        _listener: listener.unwrap(),
    }
}

/// A queue that holds no packet.
pub fn blackhole() -> Setting {
    Setting::parse_queue("v0=bfifo limit=10").unwrap()
}

/// Settings of a random plan.
pub fn settings(random: &mut Random) -> Vec<Setting> {
    let mut all = Vec::new();
    for setting in choices(random) {
        if random.below(2) == 0 {
            let at = random.below(all.len() as u64 + 1) as usize;
            all.insert(at, setting);
        }
    }
    all
}

/// A setting of each kind.
pub fn choices(random: &mut Random) -> Vec<Setting> {
    let has_aqm = sh("tc qdisc add dev v1 root fq_codel && tc qdisc del dev v1 root").is_some();
    let queues: &[&str] = match has_aqm {
        true => &[
            "fq_codel target=9ms",
            "fq flow_limit=150",
            "cake bandwidth=30mbit",
            "htb rate=30mbit queue=fq_codel",
            "pfifo limit=5",
        ],
        false => &["pfifo limit=5", "bfifo limit=9000", "pfifo"],
    };
    let set = |text: &str, scope: &str| Setting::parse_set(text, scope.parse::<Scope>().unwrap());
    let number = random.below(900) + 100;
    let mut choices: Vec<Setting> = vec![
        set(&format!("net.ipv4.tcp_notsent_lowat={number}000"), "host").unwrap(),
        set(
            &format!("net.ipv4.tcp_rmem=4096 131072 {number}0000"),
            "host",
        )
        .unwrap(),
        set("net.ipv4.tcp_ecn=1", "host").unwrap(),
        set("cc=reno", "host").unwrap(),
        set("cc=reno", "route:10.9.0.0/16").unwrap(),
        set(
            &format!("cc={}", guest::congestion_control()),
            "route:10.9.7.0/24",
        )
        .unwrap(),
        set("cc=reno", "route:10.8.0.0/16").unwrap(),
        set("cc=reno", "route:fd09::/32").unwrap(),
        set("cc=reno", "route:0.0.0.0/0").unwrap(),
        Setting::parse_queue(&format!("v0={}", random.one(queues))).unwrap(),
        Setting::parse_offload("v0=gso off").unwrap(),
        Setting::parse_mss_clamp("1300").unwrap(),
        Setting::parse_shape_ingress("v0=30mbit fq_codel").unwrap(),
        Setting::parse_mtu(&format!("v0={}", 1280 + number / 5)).unwrap(),
        Setting::parse_queue_length(&format!("v0={number}")).unwrap(),
    ];
    choices.extend(of_queues(random));
    let module = guest::module();
    choices.extend(module.map(|name| Setting::parse_module(name).unwrap()));
    if Path::new("/sys/class/net/n0").exists() {
        let count = random.below(3) + 1;
        choices.push(Setting::parse_channels(&format!("n0=combined={count}")).unwrap());
        choices.push(Setting::parse_rings(&format!("n0=rx={number} tx={}", 2 * number)).unwrap());
    }
    choices
}

/// Settings of the queues of a device, if its sysfs is there.
fn of_queues(random: &mut Random) -> Vec<Setting> {
    if !Path::new(QUEUES_OF_DEVICE).exists() {
        return Vec::new();
    }
    let count = random.below(3) + 1;
    let mut all = vec![
        Setting::parse_channels(&format!("v0=rx={count} tx=2")).unwrap(),
        Setting::parse_transmit_steering("v0=1").unwrap(),
        Setting::parse_receive_steering("v0=1").unwrap(),
    ];
    all.extend(Setting::parse_udp_gro_forwarding("v0=on").unwrap());
    all
}

/// Folder in which the kernel shows the queues of the device.
const QUEUES_OF_DEVICE: &str = "/sys/class/net/v0/queues";

/// The files of a random supported system.
pub fn files(root: &Path, random: &mut Random) {
    let file = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("etc/sysctl.d/10-other.conf", "net.ipv4.ip_forward = 1\n");
    let index = sh("ip -o link show v0 | cut -d: -f1").unwrap_or_default();
    let index = index.trim();
    match random.below(5) {
        0 => file("etc/network/if-up.d/other", "#!/bin/sh\n"),
        1 => {
            file("etc/openwrt_release", "");
            file("etc/init.d/sqm", "");
            file(
                "etc/config/sqm",
                "\nconfig queue 'eth9'\n\toption enabled '0'\n\n",
            );
            file(
                "etc/config/network",
                "\nconfig interface 'lan'\n\toption device 'br-lan'\n",
            );
        }
        2 => {
            file("etc/systemd/system/x", "");
            let state = format!("run/NetworkManager/devices/{index}");
            file(&state, "[device]\nmanaged=true\n");
        }
        3 => {
            file("etc/systemd/system/x", "");
            file("etc/systemd/network/10-v0.network", "[Match]\nName=v0\n");
            let state = format!("run/systemd/netif/links/{index}");
            file(&state, "NETWORK_FILE=/etc/systemd/network/10-v0.network\n");
        }
        _ => file("etc/systemd/system/x", ""),
    }
}

/// All files and folders below a root, with their permissions and contents.
pub fn tree(root: &Path) -> String {
    let root = root.display();
    // Folders list their entries in the order of their creation.
    let list = "find . -printf '%p %m %l\\n' | sort; find . -type f | sort | xargs -r grep -H ''";
    let text = sh(&format!("cd {root} && {{ {list}; true; }}"));
    format!("# files\n{}", text.unwrap())
}

/// Programs that a dump needs and this host lacks.
pub fn missing() -> Vec<&'static str> {
    let lacks = |name: &&str| sh(&format!("command -v {name}")).is_none();
    ["nft", "ethtool"].into_iter().filter(lacks).collect()
}

/// Waits until duplicate address detection has ended: the IPv6 address of a new device, and its
/// route, are complete a second or two later (RFC 4862, 5.4). Without a carrier it does not end.
fn settle_addresses() {
    let is_tentative = || sh("ip -6 addr show tentative").is_some_and(|text| !text.is_empty());
    let pause = std::time::Duration::from_millis(100);
    (0..30)
        .take_while(|_| is_tentative())
        .for_each(|_| std::thread::sleep(pause));
}

/// Returns true for the handle of a queue that the kernel chose, from a counter of all namespaces
/// that starts at 8000: (net/sched/sch_api.c, `qdisc_alloc_handle`).
pub fn is_chosen(word: &str) -> bool {
    let handle = word.strip_suffix(':').filter(|handle| handle.len() == 4);
    let handle = handle.and_then(|handle| u16::from_str_radix(handle, 16).ok());
    handle.is_some_and(|handle| handle >= 0x8000)
}

/// Everything that a change may affect, from standard tools, and from `sys` what some hosts have no
/// tool for.
pub fn dump() -> String {
    let commands = [
        // A card has a random number of its own.
        "ip -d link show | sed 's/ switchid [0-9a-f]*//'",
        "ip addr show",
        // The card marks the routes of its namespace some time after they are set.
        "ip -4 route show table all | sed 's/ rt_trap//'",
        "ip -6 route show table all | sed 's/ rt_trap//'",
        "ip rule show",
        // htb shows a counter of packets without being asked for statistics.
        "tc qdisc show | sed 's/ direct_packets_stat [0-9]*//'",
        // Those of intermediate devices too. Classes of other kinds are flows with queued packets.
        "for d in $(ls /sys/class/net); do echo $d; tc class show dev $d | grep htb; \
         tc filter show dev $d; tc filter show dev $d ingress; done; true",
        // The handles of rules and tables are from a counter of the kernel.
        "nft list ruleset || true",
        "ethtool -k v0 || true",
        "ethtool -g v0 || true",
        "ethtool -l v0 || true",
        "ethtool -g n0 || true",
        "ethtool -l n0 || true",
    ];
    settle_addresses();
    let mut text = String::new();
    for command in commands {
        text.push_str(&format!("# {command}\n"));
        text.push_str(&sh(command).unwrap_or_default());
    }
    let table = sys::nftables::open().and_then(|mut nl| {
        let own = "pathtwin";
        sys::nftables::has_table(&mut nl, own)
    });
    text.push_str(&format!("{:?}\n", table.ok()));
    if guest::is_guest() {
        // Other programs load modules on this host.
        text.push_str(&sh("cut -d' ' -f1 /proc/modules 2>/dev/null | sort; true").unwrap());
    }
    for (name, state) in sys::ethtool::feature_states("v0").unwrap_or_default() {
        text.push_str(&format!("{name} {state:?}\n"));
    }
    text.push_str(&format!("{:?}\n", sys::ethtool::channels("v0").ok()));
    text.push_str(&format!("{:?}\n", sys::ethtool::rings("v0").ok()));
    let masks = format!("grep -s . {QUEUES_OF_DEVICE}/*/?ps_cpus");
    text.push_str(&sh(&masks).unwrap_or_default());
    parameters(Path::new("/proc/sys/net"), &mut text);
    text
}

fn parameters(folder: &Path, text: &mut String) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            parameters(&path, text);
        } else if let Ok(value) = fs::read_to_string(&path) {
            text.push_str(&format!("{} = {}\n", path.display(), value.trim()));
        }
    }
}

/// The first lines that differ.
pub fn difference(before: &str, after: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let gone = a
        .iter()
        .filter(|l| !b.contains(l))
        .map(|l| format!("- {l}"));
    let new = b
        .iter()
        .filter(|l| !a.contains(l))
        .map(|l| format!("+ {l}"));
    gone.chain(new).take(12).collect::<Vec<_>>().join("\n")
}

/// A dump as a set of lines.
pub fn sorted(dump: &str) -> String {
    let mut lines: Vec<&str> = dump.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}
