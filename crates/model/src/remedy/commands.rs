//! Remedies as commands: iproute2, sysctl, ethtool and nft; on OpenWrt, UCI for settings it
//! manages.
//!
//! They change the running system only and do not survive a reboot, except those of UCI. Every name
//! in them is escaped by [`shell`](super::shell).

use crate::change::CONGESTION_CONTROL;

use super::{
    Action, Buffer, CcScope, Discipline, Flow, LimitKind, Remedy, RouteTo,
    shell::{device, unknown, word},
};

/// System that the commands are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Linux with iproute2, procps, ethtool and nftables.
    Linux,
    /// OpenWrt, with persistent settings in UCI.
    OpenWrt,
}

/// The intermediate device for ingress shaping.
const IFB: &str = "ifb-pathtwin";

/// The commands of a remedy, in order, to be run as root at its location. Words in angle brackets
/// are unknown to the Run. Empty if there is no command for it.
pub fn commands(remedy: &Remedy, dialect: Dialect) -> Vec<String> {
    remedy.action.commands(dialect)
}

impl Action {
    /// The commands of the action, as [`commands`].
    pub fn commands(&self, dialect: Dialect) -> Vec<String> {
        of_action(self, dialect)
    }
}

fn of_action(action: &Action, dialect: Dialect) -> Vec<String> {
    match action {
        Action::CongestionControl { cc, scope } => congestion(cc, scope, dialect),
        Action::Shaper { .. } => shaper(action, dialect),
        Action::Queue { queue, .. } => {
            let dev = device(action.device());
            let queue = queue.name();
            vec![
                format!("tc qdisc replace dev {dev} root {queue}"),
                sysctl("net.core.default_qdisc", queue),
            ]
        }
        Action::RemoveShaper { .. } => {
            vec![format!("tc qdisc del dev {} root", device(action.device()))]
        }
        Action::QueueLimit { limit, packets, .. } => {
            vec![queue_limit(*limit, &device(action.device()), *packets)]
        }
        Action::SocketBuffer {
            buffer,
            keep,
            max_bytes,
        } => vec![socket_buffer(*buffer, *keep, *max_bytes)],
        Action::UdpBuffer { bytes } => ["rmem_max", "wmem_max", "rmem_default", "wmem_default"]
            .iter()
            .map(|name| sysctl(&format!("net.core.{name}"), &bytes.to_string()))
            .collect(),
        Action::TunnelMtu { .. }
        | Action::LinkMtu { .. }
        | Action::MssClamp { .. }
        | Action::MtuProbing => sizes(action, dialect),
        Action::Ecn { on } => vec![sysctl("net.ipv4.tcp_ecn", if *on { "1" } else { "2" })],
        Action::NotsentLowat { bytes } => {
            vec![sysctl("net.ipv4.tcp_notsent_lowat", &bytes.to_string())]
        }
        Action::Offload { feature, on, .. } => vec![format!(
            "ethtool -K {} {} {}",
            device(action.device()),
            word(feature, "offload"),
            if *on { "on" } else { "off" }
        )],
        Action::ReceiveSteering { cpus, .. } => steering(action.device(), *cpus, dialect),
        Action::DeviceQueues { count, .. } => {
            vec![format!(
                "ethtool -L {} combined {count}",
                device(action.device())
            )]
        }
        Action::Sysctl { name, value } => vec![sysctl(name, value)],
        Action::Keep
        | Action::FreeBuffer { .. }
        | Action::Relieve { .. }
        | Action::Tunnel { .. }
        | Action::MoreFlows { .. }
        | Action::FeedSender
        | Action::KeepOrder
        | Action::Radio
        | Action::AskProvider { .. }
        | Action::Measure { .. }
        | Action::FreeText { .. } => Vec::new(),
    }
}

fn sysctl(name: &str, value: &str) -> String {
    format!(
        "sysctl -w {}",
        word(&format!("{name}={value}"), "parameter")
    )
}

/// reno and cubic are built into kernels; others are modules, which OpenWrt has as packages.
fn congestion(cc: &str, scope: &CcScope, dialect: Dialect) -> Vec<String> {
    let module = (!matches!(cc, "cubic" | "reno")).then(|| {
        let name = match dialect {
            Dialect::Linux => format!("tcp_{cc}"),
            Dialect::OpenWrt => format!("kmod-tcp-{cc}"),
        };
        let name = word(&name, "module");
        match dialect {
            Dialect::Linux => format!("modprobe {name}"),
            Dialect::OpenWrt => format!("opkg install {name}"),
        }
    });
    let set = match scope {
        CcScope::Socket => return Vec::new(),
        CcScope::Route(to) => route(to, cc),
        CcScope::Host => sysctl(CONGESTION_CONTROL, cc),
    };
    module.into_iter().chain([set]).collect()
}

/// The current route to one address, with a congestion control.
fn route(to: &RouteTo, cc: &str) -> String {
    let mut text = format!("ip route replace {}", to.toward);
    if let Some(via) = to.via {
        let family = if via.is_ipv6() && to.toward.is_ipv4() {
            "inet6 "
        } else {
            ""
        };
        text.push_str(&format!(" via {family}{via}"));
    }
    text.push_str(&format!(" dev {}", device(to.device.as_deref())));
    if let Some(source) = to.source {
        text.push_str(&format!(" src {source}"));
    }
    if let Some(table) = to.table.filter(|table| *table != MAIN_TABLE) {
        text.push_str(&format!(" table {table}"));
    }
    text.push_str(&format!(" congctl {}", word(cc, "congestion control")));
    text
}

/// Number of the main routing table (`RT_TABLE_MAIN`).
const MAIN_TABLE: u32 = 254;

fn shaper(action: &Action, dialect: Dialect) -> Vec<String> {
    let Action::Shaper {
        rate_bps,
        queue,
        flow,
        ..
    } = action
    else {
        return Vec::new();
    };
    let dev = device(action.device());
    let kbit = rate_bps.map(|bps| (bps / 1000).max(1));
    if dialect == Dialect::OpenWrt {
        return sqm(&dev, kbit, *queue, *flow);
    }
    let rate = kbit.map_or_else(|| unknown("rate"), |kbit| format!("{kbit}kbit"));
    match flow {
        Flow::Egress => shaped(&dev, &rate, *queue, ""),
        Flow::Ingress => {
            let mut all = vec![
                format!("ip link add {IFB} type ifb"),
                format!("ip link set {IFB} up"),
                format!("tc qdisc replace dev {dev} handle ffff: ingress"),
                format!(
                    "tc filter replace dev {dev} parent ffff: protocol all matchall action mirred egress redirect dev {IFB}"
                ),
            ];
            all.extend(shaped(IFB, &rate, *queue, " ingress"));
            all
        }
    }
}

/// A shaper with a queue: cake and fq have their own rate, others are in a class of HTB. `mode` is
/// cake's.
fn shaped(dev: &str, rate: &str, queue: Discipline, mode: &str) -> Vec<String> {
    match queue {
        Discipline::Cake => vec![format!(
            "tc qdisc replace dev {dev} root cake bandwidth {rate}{mode}"
        )],
        Discipline::Fq | Discipline::FqCodel => vec![
            format!("tc qdisc replace dev {dev} root handle 1: htb default 10"),
            format!(
                "tc class replace dev {dev} parent 1: classid 1:10 htb rate {rate} ceil {rate}"
            ),
            format!("tc qdisc replace dev {dev} parent 1:10 {}", queue.name()),
        ],
    }
}

/// OpenWrt's shaper, SQM; a rate of 0 turns off shaping in that direction.
fn sqm(dev: &str, kbit: Option<u64>, queue: Discipline, flow: Flow) -> Vec<String> {
    let rate = kbit.map_or_else(|| unknown("kbit/s"), |kbit| kbit.to_string());
    let (this, other) = match flow {
        Flow::Egress => ("upload", "download"),
        Flow::Ingress => ("download", "upload"),
    };
    let script = match queue {
        Discipline::Cake => "piece_of_cake.qos",
        Discipline::Fq | Discipline::FqCodel => "simplest.qos",
    };
    // SQM's HTB scripts do not support fq.
    let name = match queue {
        Discipline::Cake => "cake",
        Discipline::Fq | Discipline::FqCodel => "fq_codel",
    };
    let mut all = vec!["uci set sqm.pathtwin=queue".to_owned()];
    let values = [
        ("interface", dev),
        (this, &rate),
        (other, "0"),
        ("qdisc", name),
        ("script", script),
        ("enabled", "1"),
    ];
    let set = |(key, value): &(&str, &str)| format!("uci set sqm.pathtwin.{key}={value}");
    all.extend(values.iter().map(set));
    all.push("uci commit sqm".to_owned());
    all.push("/etc/init.d/sqm restart".to_owned());
    all
}

fn queue_limit(limit: LimitKind, dev: &str, packets: u32) -> String {
    match limit {
        LimitKind::FqFlow => format!("tc qdisc change dev {dev} root fq flow_limit {packets}"),
        LimitKind::Backlog => sysctl("net.core.netdev_max_backlog", &packets.to_string()),
        LimitKind::ReceiveRing => format!("ethtool -G {dev} rx {packets}"),
        LimitKind::DeviceQueue => format!("ip link set dev {dev} txqueuelen {packets}"),
    }
}

fn socket_buffer(buffer: Buffer, keep: Option<[u64; 2]>, max: Option<u64>) -> String {
    let [min, default] = keep.unwrap_or(buffer.defaults());
    let name = buffer.sysctl();
    match max {
        Some(max) => sysctl(name, &format!("{min} {default} {max}")),
        None => format!("sysctl -w {name}='{min} {default} <bytes>'"),
    }
}

fn sizes(action: &Action, dialect: Dialect) -> Vec<String> {
    let dev = device(action.device());
    match action {
        Action::TunnelMtu { bytes, .. } => {
            let bytes = bytes.map_or_else(|| unknown("bytes"), |bytes| bytes.to_string());
            // In UCI a WireGuard interface has the name of its device; only letters, digits and _
            // are allowed.
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
            match dialect {
                Dialect::OpenWrt if dev.bytes().all(plain) => vec![
                    format!("uci set network.{dev}.mtu={bytes}"),
                    "uci commit network".to_owned(),
                    format!("ifup {dev}"),
                ],
                _ => vec![format!("ip link set dev {dev} mtu {bytes}")],
            }
        }
        Action::LinkMtu { bytes, .. } => vec![format!("ip link set dev {dev} mtu {bytes}")],
        Action::MssClamp { bytes } => {
            let size = bytes.map_or_else(|| "rt mtu".to_owned(), |bytes| bytes.to_string());
            vec![
                "nft add table inet pathtwin".to_owned(),
                "nft add chain inet pathtwin forward '{ type filter hook forward priority mangle; }'"
                    .to_owned(),
                format!(
                    "nft add rule inet pathtwin forward tcp flags syn tcp option maxseg size set {size}"
                ),
            ]
        }
        _ => vec![sysctl("net.ipv4.tcp_mtu_probing", "1")],
    }
}

/// All processors for all receive queues: a mask in groups of 32 bits
/// (Documentation/networking/scaling.rst).
fn steering(name: Option<&str>, cpus: Option<u32>, dialect: Dialect) -> Vec<String> {
    if dialect == Dialect::OpenWrt {
        return [
            "uci set network.globals.packet_steering=1",
            "uci commit network",
            "/etc/init.d/packet_steering restart",
        ]
        .map(str::to_owned)
        .into();
    }
    let mask = cpus.map_or_else(
        || unknown("processor mask"),
        |cpus| mask(cpus.clamp(1, 4096)),
    );
    let dev = device(name);
    vec![format!(
        "echo {mask} | tee /sys/class/net/{dev}/queues/rx-*/rps_cpus"
    )]
}

/// A mask of the lowest `bits` bits, hexadecimal, in groups of 32 with the highest first.
fn mask(bits: u32) -> String {
    let full = vec!["ffffffff".to_owned(); (bits / 32) as usize];
    let rest = (!bits.is_multiple_of(32)).then(|| format!("{:x}", (1_u64 << (bits % 32)) - 1));
    rest.into_iter().chain(full).collect::<Vec<_>>().join(",")
}
