//! Network devices on a path.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Name.
    pub name: String,
    /// Index in its network namespace.
    pub index: u32,
    /// What it is.
    pub kind: DeviceKind,
    /// The kernel's own word for the kind (`IFLA_INFO_KIND`); physical devices have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_kind: Option<String>,
    /// Driver, such as `virtio_net`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Whether it is administratively up.
    pub up: bool,
    /// MTU, bytes.
    pub mtu: u32,
    /// Speed of the link, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// Duplex of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
    /// What is known of the radio; absent if it is not wireless or nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wireless: Option<WirelessFacts>,
    /// Offloads by the kernel's name (as `ethtool -k` has them one by one: `tx-tcp-segmentation`,
    /// `tx-generic-segmentation`, `rx-gro`, `tx-udp-segmentation`, ...) and whether each is on.
    /// Absent if they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads: Option<BTreeMap<String, bool>>,
    /// Ring sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rings: Option<RingSizes>,
    /// Hardware queues as the driver counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// Receive queues of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_queues: Option<u32>,
    /// Transmit queues of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_queues: Option<u32>,
    /// Length of the transmit queue (`txqueuelen`), packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txqueuelen: Option<u32>,
    /// Receive packet steering: the mask of processors of each receive queue, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps_cpus: Option<Vec<String>>,
    /// Transmit packet steering: the mask of processors of each transmit queue, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xps_cpus: Option<Vec<String>>,
    /// Where its interrupts went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irqs: Option<IrqSpread>,
    /// Queue disciplines, parents first. Absent if they could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdiscs: Option<Vec<QdiscFacts>>,
}

impl DeviceFacts {
    /// Whether an offload is on; absent if unknown.
    pub fn offload(&self, name: &str) -> Option<bool> {
        self.offloads.as_ref()?.get(name).copied()
    }

    /// The root queue discipline.
    pub fn root_qdisc(&self) -> Option<&QdiscFacts> {
        let qdiscs = self.qdiscs.as_ref()?;
        qdiscs.iter().find(|q| q.parent == "root")
    }
}

/// What a device is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// Ethernet hardware, real or of a virtual machine.
    Ether,
    /// Wireless LAN.
    Wlan,
    /// The loopback device.
    Loopback,
    /// One end of a pair.
    Veth,
    /// The kernel's WireGuard.
    Wireguard,
    /// A device whose packets a process handles (`tun`, also `tap`).
    Tun,
    /// A bridge.
    Bridge,
    /// A bond or team.
    Bond,
    /// A VLAN.
    Vlan,
    /// A macvlan, macvtap or ipvlan.
    Macvlan,
    /// A point-to-point protocol, such as PPPoE.
    Ppp,
    /// A tunnel of the kernel without encryption (IPIP, GRE, VXLAN and so on).
    PlainTunnel,
    /// Something else.
    #[default]
    Other,
}

/// Duplex of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// One direction at a time.
    Half,
    /// Both directions at once.
    Full,
}

/// What is known of a radio link to the access point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WirelessFacts {
    /// Signal strength, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_dbm: Option<i32>,
    /// Bit rate now sent with, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_bitrate_bps: Option<u64>,
    /// Bit rate now received with, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_bitrate_bps: Option<u64>,
    /// Frequency of the channel, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<u32>,
    /// Frames sent again since the station was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_retries: Option<u64>,
    /// Frames given up since the station was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_failed: Option<u64>,
    /// Whether the radio may sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_save: Option<bool>,
}

/// Ring sizes, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSizes {
    /// Receive ring.
    pub rx: u32,
    /// Largest receive ring the hardware can have.
    pub rx_max: u32,
    /// Transmit ring.
    pub tx: u32,
    /// Largest transmit ring the hardware can have.
    pub tx_max: u32,
}

/// Hardware queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    /// Queues that only receive.
    pub rx: u32,
    /// Queues that only send.
    pub tx: u32,
    /// Queues that do both.
    pub combined: u32,
    /// Most queues of the kind that is in use (the largest of all three).
    pub max: u32,
}

/// How the interrupts of a device were spread since it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqSpread {
    /// Interrupt lines of the device.
    pub lines: u32,
    /// Interrupts on each processor, in the order of `/proc/interrupts`.
    pub per_cpu: Vec<u64>,
}

/// One queue discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscFacts {
    /// Kind, such as `fq_codel`.
    pub kind: String,
    /// Handle, such as `8001:`; `0:` is one that the kernel made by default.
    pub handle: String,
    /// What it hangs below: `root`, `ingress`, `clsact`, or a class such as `1:2`.
    pub parent: String,
    /// Options by name with their unit in it (`limit_packets`, `target_us`, `rate_bps`), as far as
    /// the kind is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}
