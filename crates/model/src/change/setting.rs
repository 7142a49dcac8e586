//! Settings of a host that can be changed and set back.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Queue;
use crate::{
    cause::CauseCode,
    net::Side,
    prefix::Prefix,
    text,
    text::{Text, Value},
};

/// A setting with the value it should have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Setting {
    /// A kernel parameter.
    Sysctl {
        /// Its dotted name.
        name: String,
        /// The value.
        value: String,
    },
    /// The congestion control of sockets that are connected to a prefix.
    RouteCongestionControl {
        /// The destinations.
        to: Prefix,
        /// Number of the routing table; absent = the main one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<u32>,
        /// The kernel's name.
        cc: String,
    },
    /// The root queue discipline of a device.
    Queue {
        /// The device.
        device: String,
        /// The discipline.
        queue: Queue,
    },
    /// An ingress shaper of a device, on an intermediate device before the rest of the host.
    Ingress {
        /// The device that receives.
        device: String,
        /// The discipline, with a rate.
        queue: Queue,
    },
    /// The largest MSS of connections that the host forwards.
    MssClamp {
        /// Bytes; absent = that of the route of each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u16>,
    },
    /// An offload of a device.
    Offload {
        /// The device.
        device: String,
        /// The kernel's name of it.
        feature: String,
        /// True to turn it on.
        on: bool,
    },
    /// The processors on which the packets that a device receives are processed (RPS).
    ReceiveSteering {
        /// The device.
        device: String,
        /// Number of processors, from the first; 0 = only the processor that handles the interrupt.
        cpus: u32,
    },
    /// The processors that send over each transmit queue of a device (XPS).
    TransmitSteering {
        /// The device.
        device: String,
        /// Number of processors, from the first, distributed over the queues; 0 = the kernel
        /// chooses a queue by a hash of the flow.
        cpus: u32,
    },
    /// The sizes of the rings between a device and its driver.
    Rings {
        /// The device.
        device: String,
        /// Received packets; absent = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rx: Option<u32>,
        /// Packets to send; absent = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tx: Option<u32>,
    },
    /// The numbers of queues of a device.
    Channels {
        /// The device.
        device: String,
        /// Queues that only receive; absent = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rx: Option<u32>,
        /// Queues that only send; absent = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tx: Option<u32>,
        /// Queues that do both; absent = unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        combined: Option<u32>,
    },
    /// A module of the kernel, which is to be loaded.
    Module {
        /// Its name, as in /proc/modules.
        name: String,
    },
    /// The MTU of a device.
    Mtu {
        /// The device.
        device: String,
        /// Bytes of the IP packet.
        bytes: u32,
    },
    /// The length of the transmit queue of a device.
    QueueLength {
        /// The device.
        device: String,
        /// Packets.
        packets: u32,
    },
}

/// The parameter with the congestion control of all sockets of a host that choose none
/// (Documentation/networking/ip-sysctl.rst, Linux 6.12).
pub const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";

impl Setting {
    /// The congestion control it sets, if any.
    pub fn congestion_control(&self) -> Option<&str> {
        match self {
            Self::RouteCongestionControl { cc, .. } => Some(cc),
            Self::Sysctl { name, value } if name == CONGESTION_CONTROL => Some(value),
            _ => None,
        }
    }

    /// The device it belongs to.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::Queue { device, .. }
            | Self::Ingress { device, .. }
            | Self::Offload { device, .. }
            | Self::ReceiveSteering { device, .. }
            | Self::TransmitSteering { device, .. }
            | Self::Rings { device, .. }
            | Self::Channels { device, .. }
            | Self::Mtu { device, .. }
            | Self::QueueLength { device, .. } => Some(device),
            Self::Sysctl { .. }
            | Self::RouteCongestionControl { .. }
            | Self::MssClamp { .. }
            | Self::Module { .. } => None,
        }
    }

    /// The name of the device it belongs to, to give it that of another one.
    pub fn device_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Queue { device, .. }
            | Self::Ingress { device, .. }
            | Self::Offload { device, .. }
            | Self::ReceiveSteering { device, .. }
            | Self::TransmitSteering { device, .. }
            | Self::Rings { device, .. }
            | Self::Channels { device, .. }
            | Self::Mtu { device, .. }
            | Self::QueueLength { device, .. } => Some(device),
            Self::Sysctl { .. }
            | Self::RouteCongestionControl { .. }
            | Self::MssClamp { .. }
            | Self::Module { .. } => None,
        }
    }

    /// Returns true if another setting writes the same value on a host, so that only one of them
    /// can be in effect.
    pub fn is_same_place(&self, other: &Setting) -> bool {
        use Setting as S;
        match (self, other) {
            (S::Sysctl { name: a, .. }, S::Sysctl { name: b, .. }) => a == b,
            (
                S::RouteCongestionControl { to, table, .. },
                S::RouteCongestionControl {
                    to: to_b,
                    table: table_b,
                    ..
                },
            ) => to == to_b && table == table_b,
            (S::Queue { device: a, .. }, S::Queue { device: b, .. })
            | (S::Ingress { device: a, .. }, S::Ingress { device: b, .. })
            | (S::Mtu { device: a, .. }, S::Mtu { device: b, .. })
            | (S::QueueLength { device: a, .. }, S::QueueLength { device: b, .. }) => a == b,
            (S::MssClamp { .. }, S::MssClamp { .. }) => true,
            (
                S::Offload {
                    device: a,
                    feature: f,
                    ..
                },
                S::Offload {
                    device: b,
                    feature: g,
                    ..
                },
            ) => a == b && f == g,
            (
                S::Rings { device, rx, tx },
                S::Rings {
                    device: device_b,
                    rx: rx_b,
                    tx: tx_b,
                },
            ) => device == device_b && share([(rx, rx_b), (tx, tx_b)]),
            (
                S::Channels {
                    device,
                    rx,
                    tx,
                    combined,
                },
                S::Channels {
                    device: device_b,
                    rx: rx_b,
                    tx: tx_b,
                    combined: combined_b,
                },
            ) => device == device_b && share([(rx, rx_b), (tx, tx_b), (combined, combined_b)]),
            (S::ReceiveSteering { device: a, .. }, S::ReceiveSteering { device: b, .. })
            | (S::TransmitSteering { device: a, .. }, S::TransmitSteering { device: b, .. })
            | (S::Module { name: a }, S::Module { name: b }) => a == b,
            _ => false,
        }
    }
}

/// Returns true if two settings both give one of the numbers.
fn share<const N: usize>(numbers: [(&Option<u32>, &Option<u32>); N]) -> bool {
    numbers.iter().any(|(a, b)| a.is_some() && b.is_some())
}

impl Setting {
    /// The setting with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Sysctl { name, value } => {
                text!("{name} = {value}", name = name, value = value)
            }
            Self::RouteCongestionControl { to, table, cc } => {
                let route = text!(
                    "congestion control {cc} for connections to {prefix}",
                    cc = cc,
                    prefix = *to
                );
                match table {
                    Some(table) => {
                        text!("{route} (table {table})", route = route, table = *table)
                    }
                    None => route,
                }
            }
            Self::Queue { device, queue } => text!(
                "queue of {device}: {queue}",
                device = device,
                queue = queue.to_string()
            ),
            Self::Ingress { device, queue } => text!(
                "queue of what {device} receives: {queue}",
                device = device,
                queue = queue.to_string()
            ),
            Self::MssClamp { bytes: Some(bytes) } => text!(
                "MSS of forwarded connections: {bytes} bytes",
                bytes = u32::from(*bytes)
            ),
            Self::MssClamp { bytes: None } => {
                text!("MSS of forwarded connections: at most what their route carries")
            }
            Self::Offload {
                device,
                feature,
                on: true,
            } => text!(
                "offload {feature} of {device}: on",
                feature = feature,
                device = device
            ),
            Self::Offload {
                device, feature, ..
            } => text!(
                "offload {feature} of {device}: off",
                feature = feature,
                device = device
            ),
            Self::ReceiveSteering { device, cpus } => text!(
                "received packets of {device} on {cpus} processors",
                device = device,
                cpus = *cpus
            ),
            Self::TransmitSteering { device, cpus: 0 } => text!(
                "transmit queues of {device}: chosen by the kernel",
                device = device
            ),
            Self::TransmitSteering { device, cpus } => text!(
                "transmit queues of {device}: chosen by the first {cpus} processors",
                device = device,
                cpus = *cpus
            ),
            Self::Rings { device, rx, tx } => text!(
                "rings of {device}: {sizes}",
                device = device,
                sizes = amounts(&[("rx", *rx), ("tx", *tx)])
            ),
            Self::Channels {
                device,
                rx,
                tx,
                combined,
            } => text!(
                "queues of {device}: {counts}",
                device = device,
                counts = amounts(&[("rx", *rx), ("tx", *tx), ("combined", *combined)])
            ),
            Self::Module { name } => text!("module {name}: loaded", name = name),
            Self::Mtu { device, bytes } => text!(
                "MTU of {device}: {bytes} bytes",
                device = device,
                bytes = *bytes
            ),
            Self::QueueLength { device, packets } => text!(
                "transmit queue of {device}: {packets} packets",
                device = device,
                packets = *packets
            ),
        }
    }
}

impl From<&Setting> for Value {
    fn from(setting: &Setting) -> Self {
        Self::Text(setting.text())
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// `rx=1024 tx=512`, without absent amounts.
pub(super) fn amounts(all: &[(&str, Option<u32>)]) -> String {
    let given = all.iter().filter_map(|(name, n)| Some((name, (*n)?)));
    let words: Vec<String> = given.map(|(name, n)| format!("{name}={n}")).collect();
    words.join(" ")
}

/// Origin of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Code of the finding that proposes it.
    pub finding: CauseCode,
    /// The end of the path it is for.
    pub side: Side,
}
