//! What a host is and how it reaches another: all that a verdict on a path needs to know beside
//! what was measured.
//!
//! Every value may be unknown and is then absent; why something is unknown is said in
//! [`HostFacts::notes`]. Values are those of the network namespace in which the facts were taken.

mod device;
mod tunnel;

use std::{collections::BTreeMap, net::IpAddr};

use serde::{Deserialize, Serialize};

pub use device::{
    Channels, DeviceFacts, DeviceKind, Duplex, IrqSpread, QdiscFacts, RingSizes, WirelessFacts,
};
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
    /// Whether this is a real machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Whether this runs in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// Processors that are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Name of the processor's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_model: Option<String>,
    /// Those of the processor's abilities that matter to cryptography, as `/proc/cpuinfo` names
    /// them. Absent if unknown, empty if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_crypto: Option<Vec<String>>,
    /// Frequency governor of the first processor; absent where frequencies are not governed.
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
    /// Kernel parameters that matter to transport, by dotted name, as the kernel prints them with
    /// blanks for tabs. One that the kernel does not show here is absent.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// How the far end is reached; absent if no far end was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathFacts>,
    /// What could not be found out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl HostFacts {
    /// The same without what moves by itself: interrupts that came, the age of a handshake, signal
    /// and rates of a radio. Of two hosts' facts taken one after the other, these are equal if
    /// nothing has changed.
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

    /// The first number of a parameter.
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

/// What the system runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Machine {
    /// No hypervisor shows itself.
    BareMetal,
    /// A virtual machine.
    Virtual {
        /// The hypervisor's usual name, such as `kvm`, `xen`, `vmware`, `uml`; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hypervisor: Option<String>,
    },
}

/// Kind of container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// None: the processes of the whole system are seen.
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

/// Congestion controls of the network namespace. Lists are absent if they could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionFacts {
    /// What new sockets get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What a process without privilege may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// What is loaded; there may be modules of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Vec<String>>,
}

/// How one address is reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathFacts {
    /// The address.
    pub toward: IpAddr,
    /// Layers, the outermost tunnel first: the first is what the traffic itself meets; each tunnel
    /// adds the way to its own far end as another. It ends where the way is unknown.
    pub layers: Vec<LayerFacts>,
}

impl PathFacts {
    /// All devices, in the order in which a sent packet meets them.
    pub fn devices(&self) -> impl Iterator<Item = &DeviceFacts> {
        self.layers.iter().flat_map(|layer| &layer.devices)
    }

    /// The tunnel that the traffic itself enters first.
    pub fn tunnel(&self) -> Option<&TunnelFacts> {
        self.layers.first()?.tunnel.as_ref()
    }
}

/// One layer of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerFacts {
    /// Where the packets of this layer go: the destination, or the far end of a tunnel.
    pub toward: IpAddr,
    /// The route taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteFacts>,
    /// The route's device, then those below it (a VLAN's or bridge's), in the order in which a sent
    /// packet meets them.
    pub devices: Vec<DeviceFacts>,
    /// The tunnel that the packets enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<TunnelFacts>,
}

/// A route as the kernel resolves it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFacts {
    /// Prefix that matched, such as `0.0.0.0/0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Number of the routing table it is in; 254 is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<u32>,
    /// Whether the address belongs to this host.
    pub local: bool,
    /// Next hop; absent = the destination is on the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<IpAddr>,
    /// Name of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Source address of sockets that chose none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IpAddr>,
    /// MTU of the route or learned from the path, bytes; absent = the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Whether the MTU is locked, so that ICMP cannot lower it.
    #[serde(default)]
    pub mtu_locked: bool,
    /// Segment size announced to the far end, bytes.
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
    /// Whether the route asks for ECN.
    #[serde(default)]
    pub ecn: bool,
}
