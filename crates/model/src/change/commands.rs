//! Settings as the commands that a person would type.

use super::{Htb, Queue, Setting, processors, setting::amounts};
use crate::{
    prefix::Prefix,
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
                vec![route(*to, *table, &word(cc, "congestion control"))]
            }
            Self::Queue { device: dev, queue } => {
                let dev = device(Some(dev));
                instead(&dev, rooted(&dev, queue))
            }
            Self::Ingress { device: dev, queue } => {
                ingress(&device(Some(dev)), |ifb| rooted(ifb, queue))
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
                vec![steering(&device(Some(dev)), &processors(*cpus))]
            }
            Self::TransmitSteering { device: dev, cpus } => {
                vec![transmit(&device(Some(dev)), *cpus)]
            }
            Self::Rings {
                device: dev,
                rx,
                tx,
            } => {
                let sizes = spaced(&[("rx", *rx), ("tx", *tx)]);
                vec![format!("ethtool -G {} {sizes}", device(Some(dev)))]
            }
            Self::Channels {
                device: dev,
                rx,
                tx,
                combined,
            } => {
                let counts = spaced(&[("rx", *rx), ("tx", *tx), ("combined", *combined)]);
                vec![format!("ethtool -L {} {counts}", device(Some(dev)))]
            }
            Self::Module { name } => vec![format!("modprobe {}", word(name, "module"))],
            Self::Mtu { device: dev, bytes } => {
                vec![mtu(&device(Some(dev)), &bytes.to_string())]
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

/// `ip route replace` drops attributes that are not repeated, so they are those that `ip` prints:
/// of the prefix's own route, or else of the one in use. Flags that it prints and does not accept
/// are removed. Next hops come last.
fn route(to: Prefix, table: Option<u32>, cc: &str) -> String {
    let used = to.address();
    let ip = if used.is_ipv6() { "ip -6" } else { "ip" };
    let table = table.map_or_else(String::new, |t| format!(" table {t}"));
    let own = format!("{ip} -o route show {to}{table}");
    let copied = r"s/ proto [^ ]*//; s/^[^ ]*/& proto static/";
    let copy = format!("{ip} -o route get fibmatch {used} | sed '{copied}'");
    let flags = r"s/\\//g; s/ linkdown//g; s/ congctl \(lock \)*[^ ]*//";
    format!(
        "{ip} route replace $({{ {own}; {copy}; }} | head -n 1 | \
         sed '{flags}; s|^[^ ]*|{to} congctl {cc}|')"
    )
}

/// Amounts in the syntax of `ethtool`.
fn spaced(all: &[(&str, Option<u32>)]) -> String {
    amounts(all).replace('=', " ")
}

/// A loop over the transmit queues, whose number only the host knows: processor `c` sends over
/// queue `c` modulo their number. Masks are words of 32 bits, the highest first.
fn transmit(device: &str, cpus: u32) -> String {
    let queues = format!("/sys/class/net/{device}/queues");
    let last = cpus.saturating_sub(1) / 32;
    format!(
        "n=$(ls -d {queues}/tx-* | wc -l); q=0; while [ $q -lt $n ]; do t=; w={last}; \
         while [ $w -ge 0 ]; do m=0; b=0; while [ $b -lt 32 ]; do c=$((w * 32 + b)); \
         if [ $c -lt {cpus} ] && [ $((c % n)) -eq $q ]; then m=$((m | 1 << b)); fi; \
         b=$((b + 1)); done; t=$t,$(printf %08x $m); w=$((w - 1)); done; \
         echo ${{t#,}} > {queues}/tx-$q/xps_cpus; q=$((q + 1)); done"
    )
}

/// The commands for a root discipline, after the present one is deleted: `replace` changes one of
/// the same kind in place, with its handle and the options that are not given. The kernel's default
/// cannot be deleted.
pub(crate) fn instead(device: &str, set: Vec<String>) -> Vec<String> {
    let delete = format!("tc qdisc del dev {device} root 2>/dev/null || true");
    std::iter::once(delete).chain(set).collect()
}

/// The commands for a root discipline where the kernel's default is.
fn rooted(device: &str, queue: &Queue) -> Vec<String> {
    match queue {
        Queue::Htb(shaper) => {
            let rate = Rate::from_bps(shaper.rate_bps);
            let (burst, quantum) = (shaper.burst_bytes(), Htb::QUANTUM_BYTES);
            let class = format!("{rate} burst {burst} cburst {burst} quantum {quantum}");
            htb(device, &class, shaper.queue.name())
        }
        other => vec![root(device, &typed(other))],
    }
}

/// The command for a root discipline in the syntax of `tc`.
pub(crate) fn root(device: &str, queue: &str) -> String {
    format!("tc qdisc replace dev {device} root {queue}")
}

/// The commands for a token bucket with a queue in it.
pub(crate) fn htb(device: &str, rate: &str, queue: &str) -> Vec<String> {
    vec![
        root(device, "handle 1: htb default 1"),
        format!("tc class add dev {device} parent 1: classid 1:1 htb rate {rate}"),
        format!("tc qdisc add dev {device} parent 1:1 {queue}"),
    ]
}

/// The commands for a discipline of received packets, on an intermediate device.
pub(crate) fn ingress(device: &str, queue: impl FnOnce(&str) -> Vec<String>) -> Vec<String> {
    let ifb = format!("pt-ifb$(cat /sys/class/net/{device}/ifindex)");
    let mut all = vec![
        format!("ip link add {ifb} type ifb"),
        format!("ip link set {ifb} up"),
    ];
    all.extend(queue(&ifb));
    all.push(format!("tc qdisc add dev {device} clsact"));
    all.push(format!(
        "tc filter add dev {device} ingress pref 1 matchall action mirred egress redirect dev \
         {ifb}"
    ));
    all
}

/// The command for the MTU of a device.
pub(crate) fn mtu(device: &str, bytes: &str) -> String {
    format!("ip link set dev {device} mtu {bytes}")
}

/// The command for the processors of all receive queues of a device.
pub(crate) fn steering(device: &str, mask: &str) -> String {
    format!("for f in /sys/class/net/{device}/queues/rx-*/rps_cpus; do echo {mask} > $f; done")
}

/// A discipline in the syntax of `tc`, whose flags have no value.
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
