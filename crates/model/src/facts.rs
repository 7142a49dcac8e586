//! Facts about a host and its route to another host, as far as a verdict on a path depends on them.
//!
//! Unknown values are absent; [`HostFacts::notes`] gives the reason. Values belong to the network
//! namespace in which the facts were taken.

mod connection;
mod device;
mod named;
mod tunnel;

use std::{collections::BTreeMap, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::text::Text;

pub use connection::Connection;
pub use device::{
    Channels, DeviceFacts, DeviceKind, Duplex, IrqSpread, QdiscFacts, RateOption, RingSizes,
    WirelessFacts,
};
pub use named::{differences, named};
pub use tunnel::{ProcessFacts, Product, TunnelFacts, TunnelKind, TunnelPath};

/// Version of [`HostFacts`].
pub const FACTS_SCHEMA: u32 = 1;

/// Facts of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// [`FACTS_SCHEMA`] of the writer.
    pub schema: u32,
    /// Release of the kernel, such as `6.12.9-amd64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Architecture as the kernel names it, such as `x86_64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// Physical or virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The container this runs in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// Processors that are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Name of the processor's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// CPU features relevant to cryptography, as named in `/proc/cpuinfo`. Absent if unknown, empty
    /// if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_crypto: Option<Vec<String>>,
    /// Frequency governor of the first processor; absent without frequency scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_governor: Option<String>,
    /// Memory of the host, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Clock source of the kernel, such as `tsc` or `kvm-clock`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// Congestion controls.
    #[serde(default)]
    pub congestion: CongestionFacts,
    /// Kernel parameters relevant to transport, by dotted name, as printed by the kernel with tabs
    /// replaced by spaces. Parameters that are not visible here are absent.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Route to the far end; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathFacts>,
    /// Facts that could not be determined, with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text>,
}

impl HostFacts {
    /// The facts without values that vary on their own: interrupt counts, handshake age, signal and
    /// bit rates of a radio. Two collections on an unchanged host compare equal.
    pub fn settled(&self) -> Self {
        let mut facts = self.clone();
        for layer in facts.path.iter_mut().flat_map(|path| &mut path.layers) {
            for device in &mut layer.devices {
                device.irqs = None;
                device.wireless = device.wireless.take().map(|radio| WirelessFacts {
                    frequency_mhz: radio.frequency_mhz,
                    power_save: radio.power_save,
                    ..WirelessFacts::default()
                });
            }
            if let Some(tunnel) = &mut layer.tunnel {
                tunnel.handshake_age_s = None;
            }
        }
        facts
    }

    /// First number of a parameter.
    pub fn sysctl(&self, name: &str) -> Option<u64> {
        self.sysctls
            .get(name)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    }

    /// Minimum, default and maximum, in bytes, of a parameter such as `net.ipv4.tcp_rmem`.
    pub fn sysctl_triple(&self, name: &str) -> Option<[u64; 3]> {
        let mut words = self.sysctls.get(name)?.split_whitespace();
        let mut next = || words.next()?.parse().ok();
        Some([next()?, next()?, next()?])
    }
}

/// Type of machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Machine {
    /// No hypervisor detected.
    BareMetal,
    /// A virtual machine.
    Virtual {
        /// Common name of the hypervisor, such as `kvm`, `xen`, `vmware`, `uml`; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hypervisor: Option<String>,
    },
}

/// Kind of container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// None.
    No,
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// A pod of Kubernetes.
    Kubernetes,
    /// LXC or Incus.
    Lxc,
    /// systemd-nspawn.
    Nspawn,
    /// Another one.
    Other,
}

/// Congestion controls of the network namespace; unreadable lists are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionFacts {
    /// Default for new sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Congestion controls that an unprivileged process may select.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// Loaded congestion controls; more may exist as modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Vec<String>>,
}

/// Path to one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathFacts {
    /// The address.
    pub toward: IpAddr,
    /// Layers, starting with the one the traffic itself uses. Each tunnel adds a layer: the route
    /// to its own endpoint. The list ends where the route is unknown.
    pub layers: Vec<LayerFacts>,
}

impl PathFacts {
    /// All devices, in transmit order.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceFacts> {
        self.layers.iter().flat_map(|layer| &layer.devices)
    }

    /// The first tunnel the traffic enters.
    pub fn tunnel(&self) -> Option<&TunnelFacts> {
        self.layers.first()?.tunnel.as_ref()
    }
}

/// One layer of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerFacts {
    /// Destination of this layer's packets: the far end, or a tunnel's endpoint.
    pub toward: IpAddr,
    /// The selected route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteFacts>,
    /// The route's device, then those below it (of a VLAN or bridge), in transmit order.
    pub devices: Vec<DeviceFacts>,
    /// The tunnel that the packets enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<TunnelFacts>,
}

/// A route as the kernel resolves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFacts {
    /// Matched prefix, such as `0.0.0.0/0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Number of its routing table; 254 is the main table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
    /// True if the address belongs to this host.
    pub local: bool,
    /// Next hop; absent = the destination is on-link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// Name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Preferred source address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// MTU of the route, configured or learned by PMTU discovery, bytes; absent = the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// True if the MTU is locked against ICMP.
    #[serde(default)]
    pub mtu_locked: bool,
    /// MSS announced to the far end, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advmss: Option<u32>,
    /// Congestion control of the route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congctl: Option<String>,
    /// Initial congestion window, segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initcwnd: Option<u32>,
    /// Initial receive window, segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initrwnd: Option<u32>,
    /// True if the route requests ECN.
    #[serde(default)]
    pub ecn: bool,
}
