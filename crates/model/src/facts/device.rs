//! Facts about network devices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Facts of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Name.
    pub name: String,
    /// Index in its network namespace.
    pub index: u32,
    /// Kind.
    pub kind: DeviceKind,
    /// The kernel's name of the kind (`IFLA_INFO_KIND`); physical devices have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_kind: Option<String>,
    /// Driver, such as `virtio_net`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// True if it is administratively up.
    pub up: bool,
    /// MTU, bytes.
    pub mtu: u32,
    /// Speed of the link, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// Duplex of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplex: Option<Duplex>,
    /// Facts about the radio; absent if it is not wireless or nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wireless: Option<WirelessFacts>,
    /// State of each offload, by its name in `ethtool -k` (`tx-tcp-segmentation`,
    /// `tx-generic-segmentation`, `rx-gro`, `tx-udp-segmentation`, ...). Absent if unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offloads: Option<BTreeMap<String, bool>>,
    /// Ring sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rings: Option<RingSizes>,
    /// Hardware queues as reported by the driver.
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
    /// Receive packet steering: hexadecimal processor mask of each receive queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rps_cpus: Option<Vec<String>>,
    /// Transmit packet steering: hexadecimal processor mask of each transmit queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xps_cpus: Option<Vec<String>>,
    /// Distribution of its interrupts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irqs: Option<IrqSpread>,
    /// Queue disciplines, parents first; absent if unreadable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdiscs: Option<Vec<QdiscFacts>>,
}

impl DeviceFacts {
    /// Returns whether an offload is on; `None` if unknown.
    pub fn offload(&self, name: &str) -> Option<bool> {
        self.offloads.as_ref()?.get(name).copied()
    }

    /// The root queue discipline.
    pub fn root_qdisc(&self) -> Option<&QdiscFacts> {
        let qdiscs = self.qdiscs.as_ref()?;
        qdiscs.iter().find(|q| q.parent == "root")
    }
}

/// Kind of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// Ethernet adapter, physical or virtual.
    Ether,
    /// Wireless LAN.
    Wlan,
    /// The loopback device.
    Loopback,
    /// One end of a veth pair.
    Veth,
    /// The kernel's WireGuard.
    Wireguard,
    /// A tun or tap device.
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
    /// An unencrypted kernel tunnel (IPIP, GRE, VXLAN and so on).
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

/// Facts about the radio link to the access point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WirelessFacts {
    /// Signal strength, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_dbm: Option<i32>,
    /// Current transmit bit rate, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_bitrate_bps: Option<u64>,
    /// Current receive bit rate, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_bitrate_bps: Option<u64>,
    /// Frequency of the channel, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<u32>,
    /// Frame retries since association.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_retries: Option<u64>,
    /// Frames that failed since association.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_failed: Option<u64>,
    /// True if power saving is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_save: Option<bool>,
}

/// Ring sizes, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingSizes {
    /// Receive ring.
    pub rx: u32,
    /// Largest receive ring of the hardware.
    pub rx_max: u32,
    /// Transmit ring.
    pub tx: u32,
    /// Largest transmit ring of the hardware.
    pub tx_max: u32,
}

/// Hardware queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channels {
    /// Receive-only queues.
    pub rx: u32,
    /// Transmit-only queues.
    pub tx: u32,
    /// Combined queues.
    pub combined: u32,
    /// Maximum number of queues of the kind in use.
    pub max: u32,
}

/// Distribution of a device's interrupts over processors since it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqSpread {
    /// Interrupt lines of the device.
    pub lines: u32,
    /// Interrupts on each processor, in the order of `/proc/interrupts`.
    pub per_cpu: Vec<u64>,
}

/// An option of a queue discipline that is a rate, by the name in the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateOption {
    /// Rate of a token bucket or of an htb class.
    Rate,
    /// Ceiling of an htb class.
    Ceiling,
    /// Rate of cake in documents of other programs, as `tc` names it.
    Bandwidth,
    /// Rate of cake in documents of other programs, as the kernel names it
    /// (`TCA_CAKE_BASE_RATE64`).
    BaseRate,
}

impl RateOption {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rate, Self::Ceiling, Self::Bandwidth, Self::BaseRate];

    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate_bps",
            Self::Ceiling => "ceil_bps",
            Self::Bandwidth => "bandwidth_bps",
            Self::BaseRate => "base_rate_bps",
        }
    }
}

impl QdiscFacts {
    /// The lowest rate that it is configured to, bit/s; `None` if it has none.
    pub fn rate_bps(&self) -> Option<f64> {
        let rate = |option: RateOption| self.options.get(option.name())?.parse::<f64>().ok();
        let rates = RateOption::ALL.into_iter().filter_map(rate);
        rates.filter(|bps| *bps > 0.0).reduce(f64::min)
    }
}

/// One queue discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QdiscFacts {
    /// Kind, such as `fq_codel`.
    pub kind: String,
    /// Handle, such as `8001:`; `0:` is the kernel's default qdisc.
    pub handle: String,
    /// Parent: `root`, `ingress`, `clsact`, or a class such as `1:2`.
    pub parent: String,
    /// Options by name with unit (`limit_packets`, `target_us`, `rate_bps`), as far as the kind is
    /// supported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}
