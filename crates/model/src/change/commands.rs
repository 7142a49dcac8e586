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
                // `ip` does not keep the rest of the route: it is what `show` prints.
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
