//! Settings as the commands that a person would type.

use super::{Queue, Setting};
use crate::{
    remedy::shell::{device, word},
    units::Rate,
};

impl Setting {
    /// The commands, in order, to be run as root.
    pub fn commands(&self) -> Vec<String> {
        match self {
            Self::Sysctl { name, value } => {
                vec![format!(
                    "sysctl -w {}",
                    word(&format!("{name}={value}"), "parameter")
                )]
            }
            Self::RouteCongestionControl { to, table, cc } => {
                let table = table.map_or_else(String::new, |t| format!(" table {t}"));
                let cc = word(cc, "congestion control");
                // `ip` does not keep the rest of the route, which is the output of `show`.
                let shown = format!("ip route show {to}{table}");
                vec![format!("ip route replace $({shown}) congctl {cc}")]
            }
            Self::Queue { device: dev, queue } => root(&device(Some(dev)), queue),
            Self::Ingress { device: dev, queue } => {
                let dev = device(Some(dev));
                let ifb = format!("pt-ifb$(cat /sys/class/net/{dev}/ifindex)");
                let mut all = vec![format!(
                    "ip link add {ifb} type ifb && ip link set {ifb} up"
                )];
                all.extend(root(&ifb, queue));
                all.push(format!("tc qdisc add dev {dev} clsact"));
                all.push(format!(
                    "tc filter add dev {dev} ingress matchall action mirred egress redirect dev {ifb}"
                ));
                all
            }
            Self::MssClamp { bytes } => {
                let size = bytes.map_or_else(|| "rt mtu".to_owned(), |bytes| bytes.to_string());
                let chain = "type filter hook forward priority mangle;";
                vec![
                    "nft add table inet pathtwin".to_owned(),
                    format!("nft add chain inet pathtwin forward '{{ {chain} }}'"),
                    format!(
                        "nft add rule inet pathtwin forward tcp flags syn tcp option maxseg size \
                         set {size}"
                    ),
                ]
            }
            Self::Offload {
                device: dev,
                feature,
                on,
            } => vec![format!(
                "ethtool -K {} {} {}",
                device(Some(dev)),
                word(feature, "offload"),
                if *on { "on" } else { "off" }
            )],
            Self::ReceiveSteering { device: dev, cpus } => {
                let dev = device(Some(dev));
                let mask = processors(*cpus);
                let files = format!("/sys/class/net/{dev}/queues/rx-*/rps_cpus");
                vec![format!("for f in {files}; do echo {mask} > $f; done")]
            }
            Self::Mtu { device: dev, bytes } => {
                vec![format!("ip link set dev {} mtu {bytes}", device(Some(dev)))]
            }
            Self::QueueLength {
                device: dev,
                packets,
            } => vec![format!(
                "ip link set dev {} txqueuelen {packets}",
                device(Some(dev))
            )],
        }
    }
}

/// The first processors, up to this number, in the kernel's notation of a mask: words of 32 bits
/// with commas between them (lib/bitmap-str.c, Linux 6.18).
pub fn processors(count: u32) -> String {
    let words = count.div_ceil(32).max(1);
    let word = |n: u32| {
        let here = count.saturating_sub(32 * n).min(32);
        u32::MAX.checked_shr(32 - here).unwrap_or(0)
    };
    let mut all = (0..words).rev().map(word);
    let first = format!("{:x}", all.next().unwrap_or(0));
    all.fold(first, |text, word| format!("{text},{word:08x}"))
}

/// The commands for a root discipline.
fn root(device: &str, queue: &Queue) -> Vec<String> {
    let replace = |what: &str| format!("tc qdisc replace dev {device} root {what}");
    match queue {
        Queue::Htb(htb) => {
            let rate = Rate::from_bps(htb.rate_bps);
            let queue = htb.queue.name();
            vec![
                replace("handle 1: htb default 1"),
                format!("tc class add dev {device} parent 1: classid 1:1 htb rate {rate}"),
                format!("tc qdisc add dev {device} parent 1:1 {queue}"),
            ]
        }
        other => vec![replace(&typed(other))],
    }
}

/// A discipline as `tc` takes it: switches are words of their own.
fn typed(queue: &Queue) -> String {
    let mut text = queue.name().to_owned();
    for (name, value) in queue.options() {
        text.push(' ');
        match (name, value.as_str()) {
            ("ingress", "off") => text.push_str("egress"),
            (_, "on") => text.push_str(name),
            (_, "off") => text.push_str(&format!("no{name}")),
            (_, value) => text.push_str(&format!("{name} {value}")),
        }
    }
    text
}
