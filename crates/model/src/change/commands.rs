//! Settings as the commands that a person would type.

use super::{Queue, Setting};
use crate::remedy::shell::{device, word};

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
            Self::Queue { device: dev, queue } => {
                vec![format!(
                    "tc qdisc replace dev {} root {}",
                    device(Some(dev)),
                    typed(queue)
                )]
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
