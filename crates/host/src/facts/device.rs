//! Facts of one network device.

use model::{
    facts::{
        Channels, DeviceFacts, DeviceKind, Duplex, IrqSpread, QdiscFacts, RingSizes, WirelessFacts,
    },
    text,
};
use sys::{Netlink, ethtool, link::Link, procfs, tc, wireless};

use super::{notes::Notes, stack::Stack, sysfs};

/// Types of hardware (`ARPHRD_*`, include/uapi/linux/if_arp.h, Linux 7.2).
const ARPHRD_ETHER: u16 = 1;
const ARPHRD_PPP: u16 = 512;
const ARPHRD_LOOPBACK: u16 = 772;

/// Offloads that affect packets, without filters and link encryption.
const OFFLOADS: &[&str] = &[
    "rx-checksum",
    "tx-checksum-ipv4",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv6",
    "tx-scatter-gather",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-accecn-segmentation",
    "tx-generic-segmentation",
    "tx-udp-segmentation",
    "tx-udp_tnl-segmentation",
    "tx-gso-list",
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "rx-lro",
    "rx-hashing",
];

pub(super) fn facts(stack: &mut Stack, link: &Link, notes: &mut Notes) -> DeviceFacts {
    let wireless = stack.generic(notes).and_then(|nl| wireless(nl, link.index));
    let mode = ethtool::link_mode(&link.name).ok();
    let (driver, bus) = ethtool::driver(&link.name).unzip_ok();
    let qdiscs = notes.keep(tc::describe(&mut stack.route, link.index), |error| {
        text!(
            "cannot read the queues of {device}: {error}",
            device = &link.name,
            error = error.cause()
        )
    });
    let mut facts = DeviceFacts {
        name: link.name.clone(),
        index: link.index,
        kind: kind(link, wireless.is_some()),
        link_kind: link.kind.clone(),
        driver: driver.filter(|d| !d.is_empty()),
        up: link.up,
        mtu: link.mtu,
        speed_bps: mode.and_then(|m| m.speed_bps),
        duplex: mode.and_then(|m| m.full_duplex).map(duplex),
        wireless: wireless.filter(|w| *w != WirelessFacts::default()),
        offloads: offloads(&link.name, notes),
        rings: ethtool::rings(&link.name).ok().map(rings),
        channels: ethtool::channels(&link.name).ok().map(channels),
        rx_queues: link.rx_queues,
        tx_queues: link.tx_queues,
        txqueuelen: link.txqueuelen,
        qdiscs: qdiscs.map(|all| all.into_iter().map(qdisc).collect()),
        ..DeviceFacts::default()
    };
    let mut numbers = Vec::new();
    if stack.sysfs {
        facts.rps_cpus = sysfs::masks(&link.name, "rx", "rps_cpus");
        facts.xps_cpus = sysfs::masks(&link.name, "tx", "xps_cpus");
        numbers = sysfs::interrupts(&link.name);
    } else {
        notes.add(text!(
            "/sys is not of this network namespace or not mounted: packet steering is unknown"
        ));
    }
    facts.irqs = spread(&link.name, bus.as_deref().unwrap_or_default(), &numbers);
    facts
}

/// Splits an optional pair.
trait UnzipOk<A, B> {
    fn unzip_ok(self) -> (Option<A>, Option<B>);
}

impl<A, B, E> UnzipOk<A, B> for Result<(A, B), E> {
    fn unzip_ok(self) -> (Option<A>, Option<B>) {
        self.ok().unzip()
    }
}

pub(super) fn kind(link: &Link, wireless: bool) -> DeviceKind {
    match link.kind.as_deref() {
        Some("veth") => DeviceKind::Veth,
        Some("wireguard" | "amneziawg") => DeviceKind::Wireguard,
        Some("tun" | "ovpn" | "ovpn-dco") => DeviceKind::Tun,
        Some("bridge" | "openvswitch") => DeviceKind::Bridge,
        Some("bond" | "team") => DeviceKind::Bond,
        Some("vlan") => DeviceKind::Vlan,
        Some("macvlan" | "macvtap" | "ipvlan" | "ipvtap") => DeviceKind::Macvlan,
        Some("ppp") => DeviceKind::Ppp,
        Some(
            "gre" | "gretap" | "ip6gre" | "ip6gretap" | "ipip" | "sit" | "ip6tnl" | "vti" | "vti6"
            | "xfrm" | "vxlan" | "geneve" | "erspan",
        ) => DeviceKind::PlainTunnel,
        // The kernel's DSA ports are Ethernet with a kind.
        Some("dsa") => DeviceKind::Ether,
        Some(_) => DeviceKind::Other,
        None if wireless => DeviceKind::Wlan,
        None => match link.hardware {
            ARPHRD_ETHER => DeviceKind::Ether,
            ARPHRD_LOOPBACK => DeviceKind::Loopback,
            ARPHRD_PPP => DeviceKind::Ppp,
            _ => DeviceKind::Other,
        },
    }
}

fn wireless(nl: &mut Netlink, index: u32) -> Option<WirelessFacts> {
    let found = wireless::show(nl, index).ok()??;
    let station = found.station.unwrap_or_default();
    Some(WirelessFacts {
        signal_dbm: station.signal_dbm.map(i32::from),
        tx_bitrate_bps: station.tx_bitrate_bps,
        rx_bitrate_bps: station.rx_bitrate_bps,
        frequency_mhz: found.frequency_mhz,
        tx_retries: station.tx_retries.map(u64::from),
        tx_failed: station.tx_failed.map(u64::from),
        power_save: found.power_save,
    })
}

fn offloads(link: &str, notes: &mut Notes) -> Option<std::collections::BTreeMap<String, bool>> {
    let features = ethtool::features(link);
    let mut features = notes.keep(features, |error| {
        text!(
            "cannot read the offloads of {device}: {error}",
            device = link,
            error = error
        )
    })?;
    features.retain(|name, _| OFFLOADS.contains(&name.as_str()));
    Some(features)
}

fn duplex(full: bool) -> Duplex {
    if full { Duplex::Full } else { Duplex::Half }
}

fn rings(r: ethtool::Rings) -> RingSizes {
    RingSizes {
        rx: r.rx,
        rx_max: r.rx_max,
        tx: r.tx,
        tx_max: r.tx_max,
    }
}

fn channels(c: ethtool::ChannelCounts) -> Channels {
    Channels {
        rx: c.rx,
        tx: c.tx,
        combined: c.combined,
        max: c.max.into_iter().max().unwrap_or_default(),
    }
}

fn qdisc(d: tc::Described) -> QdiscFacts {
    let handle = match d.handle {
        tc::Handle::NONE => "0:".to_owned(),
        handle => handle.to_string(),
    };
    QdiscFacts {
        kind: d.kind,
        handle,
        parent: d.parent.to_string(),
        options: d.options,
    }
}

/// Interrupts of a device: those of its numbers if they are known, otherwise those whose line names
/// it or its place on the bus.
fn spread(link: &str, bus: &str, numbers: &[String]) -> Option<IrqSpread> {
    let lines = procfs::interrupts(&procfs::read("/proc/interrupts").ok()?);
    let named = |what: &str| {
        let mut words = what.split([' ', ',']);
        words.any(|w| {
            let rest = w.strip_prefix(link);
            rest.is_some_and(|r| r.is_empty() || r.starts_with(['-', '.', ':']))
                || (bus.contains(':') && w.ends_with(bus))
        })
    };
    let mut spread = IrqSpread::default();
    for line in &lines {
        let of_device = if numbers.is_empty() {
            named(&line.what)
        } else {
            numbers.contains(&line.number)
        };
        if !of_device {
            continue;
        }
        spread.lines += 1;
        spread
            .per_cpu
            .resize(line.counts.len().max(spread.per_cpu.len()), 0);
        for (sum, count) in spread.per_cpu.iter_mut().zip(&line.counts) {
            *sum = sum.saturating_add(*count);
        }
    }
    (spread.lines > 0).then_some(spread)
}
