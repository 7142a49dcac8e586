//! Hosts of a scene, and its tunnel.

use std::collections::BTreeMap;

use model::{
    facts::{DeviceKind, Product, TunnelKind},
    net::Side,
};
use serde::Deserialize;

use super::line::Line;

/// A host of a [`super::Scene`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    /// Default congestion control.
    pub cc: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Kernel parameters that differ from the defaults.
    pub sysctls: BTreeMap<String, String>,
    /// Its device.
    pub device: Device,
    /// Counter increase per second while TCP runs.
    pub counters: BTreeMap<String, u64>,
    /// Counters incremented for each packet lost in the hosts ([`Line::local_loss`]).
    pub drops: Vec<String>,
    /// Utilisation of its busiest processor while TCP runs.
    pub busiest: f64,
    /// Softirq share of that processor.
    pub softirq: f64,
    /// Utilisation of the tunnel's busiest thread.
    pub tunnel_thread: f64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            cc: "cubic".to_owned(),
            kernel: "6.12.9".to_owned(),
            sysctls: BTreeMap::new(),
            device: Device::default(),
            counters: BTreeMap::new(),
            drops: Vec::new(),
            busiest: 0.3,
            softirq: 0.1,
            tunnel_thread: 0.0,
        }
    }
}

/// The device of a [`Machine`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Device {
    /// Kind.
    pub kind: DeviceKind,
    /// Driver.
    pub driver: String,
    /// Root queue discipline.
    pub qdisc: String,
    /// Its options.
    pub options: BTreeMap<String, String>,
    /// Backlog while TCP runs, bytes.
    pub backlog_bytes: u64,
    /// Strength of the radio signal, dBm.
    pub signal_dbm: Option<i32>,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            kind: DeviceKind::Ether,
            driver: "igb".to_owned(),
            qdisc: "fq_codel".to_owned(),
            options: BTreeMap::new(),
            backlog_bytes: 0,
            signal_dbm: None,
        }
    }
}

/// A tunnel of a [`super::Scene`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tunnel {
    /// Implementation of the data path.
    pub kind: TunnelKind,
    /// The end with a userspace network stack.
    pub netstack_end: Option<Side>,
    /// True if it is relayed.
    pub relayed: bool,
    /// True if its status shows that.
    pub status: bool,
    /// Product that manages it.
    pub product: Product,
    /// MTU inside.
    pub mtu: u32,
    /// Added RTT, ms.
    pub adds_ms: f64,
    /// Limit of its rate, Mbit/s.
    pub rate_mbps: Option<f64>,
}

impl Default for Tunnel {
    fn default() -> Self {
        Self {
            kind: TunnelKind::KernelWireguard,
            netstack_end: None,
            relayed: false,
            status: true,
            product: Product::None,
            mtu: 1420,
            adds_ms: 0.1,
            rate_mbps: None,
        }
    }
}

impl Tunnel {
    /// The line as seen inside the tunnel.
    pub(super) fn inside(&self, line: Line) -> Line {
        // To the network a tunnel is one UDP flow.
        let limits = [self.rate_mbps, line.udp_cap_mbps, line.flow_cap_mbps];
        let rate = limits.into_iter().flatten().fold(line.rate_mbps, f64::min);
        Line {
            rate_mbps: rate * 0.96,
            rtt_ms: line.rtt_ms + self.adds_ms,
            udp_cap_mbps: None,
            flow_cap_mbps: None,
            ..line
        }
    }

    /// Returns true if a userspace network stack is in use.
    pub(super) fn netstack(&self) -> bool {
        self.netstack_end.is_some()
    }
}
