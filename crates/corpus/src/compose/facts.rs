//! Facts of the ends of a composed Run.

use std::collections::BTreeMap;

use model::{
    facts::{
        CongestionFacts, DeviceFacts, DeviceKind, FACTS_SCHEMA, HostFacts, LayerFacts, PathFacts,
        QdiscFacts, TunnelFacts, TunnelKind, TunnelPath, WirelessFacts,
    },
    net::Side,
    run::End,
};

use super::hosts::{Device, Machine, Tunnel};

/// `program` of a composed Run.
pub const PROGRAM: &str = "composed";

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
        program: PROGRAM.to_owned(),
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
