//! Hosts of a composed Run.

use std::collections::BTreeMap;

use model::{
    evidence::{CoreShares, CpuUse, Evidence, ThreadRole, ThreadUse},
    facts::{
        CongestionFacts, DeviceFacts, DeviceKind, FACTS_SCHEMA, HostFacts, LayerFacts, PathFacts,
        Product, QdiscFacts, TunnelFacts, TunnelKind, TunnelPath, WirelessFacts,
    },
    net::Side,
    run::End,
};
use serde::Deserialize;

use super::{Composer, Line};

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

/// One end with its facts.
pub(super) fn end(machine: &Machine, tunnel: Option<&Tunnel>, side: Side) -> End {
    let mut layers = Vec::new();
    let toward = std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 9));
    if let Some(tunnel) = tunnel {
        layers.push(LayerFacts {
            toward,
            route: None,
            devices: vec![DeviceFacts {
                name: "wg0".to_owned(),
                kind: DeviceKind::Wireguard,
                mtu: tunnel.mtu,
                up: true,
                ..DeviceFacts::default()
            }],
            tunnel: Some(tunnel_facts(tunnel, side)),
        });
    }
    layers.push(LayerFacts {
        toward,
        route: None,
        devices: vec![device(&machine.device)],
        tunnel: None,
    });
    let mut sysctls: BTreeMap<String, String> = [
        ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
        ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
        ("net.ipv4.tcp_timestamps", "1"),
        ("net.ipv4.tcp_sack", "1"),
        ("net.ipv4.tcp_window_scaling", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    sysctls.extend(machine.sysctls.clone());
    End {
        program: super::PROGRAM.to_owned(),
        facts: HostFacts {
            schema: FACTS_SCHEMA,
            kernel: Some(machine.kernel.clone()),
            cpus: Some(4),
            congestion: CongestionFacts {
                default: Some(machine.cc.clone()),
                allowed: None,
                available: None,
            },
            sysctls,
            path: Some(PathFacts { toward, layers }),
            ..HostFacts::default()
        },
        facts_after: None,
    }
}

fn tunnel_facts(tunnel: &Tunnel, side: Side) -> TunnelFacts {
    let kind = match tunnel.netstack_end {
        Some(end) if end == side => TunnelKind::Netstack,
        _ => tunnel.kind,
    };
    let path = match tunnel.relayed {
        true => TunnelPath::Relayed,
        false => TunnelPath::Direct,
    };
    TunnelFacts {
        device: Some("wg0".to_owned()),
        kind,
        product: tunnel.product,
        path: tunnel.status.then_some(path),
        mtu: Some(tunnel.mtu),
        ..TunnelFacts::default()
    }
}

fn device(device: &Device) -> DeviceFacts {
    DeviceFacts {
        name: "eth0".to_owned(),
        kind: device.kind,
        driver: Some(device.driver.clone()),
        up: true,
        mtu: 1500,
        wireless: (device.kind == DeviceKind::Wlan).then(|| WirelessFacts {
            signal_dbm: device.signal_dbm,
            ..WirelessFacts::default()
        }),
        qdiscs: Some(vec![QdiscFacts {
            kind: device.qdisc.clone(),
            handle: "8001:".to_owned(),
            parent: "root".to_owned(),
            options: device.options.clone(),
        }]),
        ..DeviceFacts::default()
    }
}

impl Composer<'_> {
    /// Evidence of the near and the far host, without processors. `lost` packets were lost in one
    /// of them.
    pub(super) fn counted(&self, lost: f64) -> [Option<Evidence>; 2] {
        let seconds = self.scene.measured.seconds;
        [&self.scene.near, &self.scene.far].map(|machine| {
            let moved = machine.counters.iter();
            let mut counters: BTreeMap<String, u64> = moved
                .map(|(name, per_s)| (name.clone(), (*per_s as f64 * seconds) as u64))
                .collect();
            for name in &machine.drops {
                *counters.entry(name.clone()).or_default() += lost as u64;
            }
            counters.retain(|_, by| *by > 0);
            Some(Evidence {
                interval_us: (seconds * 1e6) as u64,
                counters,
                groups: ["nstat", "softnet", "udp", "qdisc.eth0", "nic.eth0"]
                    .map(str::to_owned)
                    .into(),
                ..Evidence::default()
            })
        })
    }

    /// Adds processor use and backlogs of devices.
    pub(super) fn busy(&self, mut evidence: [Option<Evidence>; 2]) -> [Option<Evidence>; 2] {
        let machines = [&self.scene.near, &self.scene.far];
        for (machine, evidence) in machines.into_iter().zip(evidence.iter_mut().flatten()) {
            evidence.cpu = Some(cpu(machine, self.scene.measured.seconds));
            evidence.levels.insert(
                format!("qdisc.eth0.root.{}.backlog_bytes", machine.device.qdisc),
                machine.device.backlog_bytes,
            );
        }
        evidence
    }
}

fn cpu(machine: &Machine, seconds: f64) -> CpuUse {
    let core = |cpu: u32, busy: f64, softirq: f64| CoreShares {
        cpu,
        user: 0.3 * (busy - softirq).max(0.0),
        system: 0.7 * (busy - softirq).max(0.0),
        softirq,
        idle: 1.0 - busy,
        ..CoreShares::default()
    };
    let thread = ThreadUse {
        role: ThreadRole::Tunnel,
        name: "tunnel".to_owned(),
        tid: 4711,
        user_s: 0.5 * machine.tunnel_thread * seconds,
        system_s: 0.5 * machine.tunnel_thread * seconds,
        wait_s: None,
    };
    CpuUse {
        cores: vec![
            core(0, machine.busiest, machine.softirq),
            core(1, 0.1, 0.02),
            core(2, 0.1, 0.02),
            core(3, 0.1, 0.02),
        ],
        threads: if machine.tunnel_thread > 0.0 {
            vec![thread]
        } else {
            Vec::new()
        },
    }
}
