//! Remedies as commands: those of their settings; on OpenWrt, UCI for settings it manages.
//!
//! They change the running system only and do not survive a reboot, except those of UCI. Every name
//! in them is escaped by [`shell`](super::shell).

use crate::change::{Setting, commands as syntax, snippet::modules};

use super::{
    Action, CcScope, Discipline, Flow, Remedy, RouteTo,
    settings::socket_buffer,
    shell::{device, unknown, word},
};

/// System that the commands are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Linux with iproute2, procps, ethtool and nftables.
    Linux,
    /// OpenWrt, with persistent settings in UCI.
    OpenWrt,
}

/// The commands of a remedy, in order, to be run as root at its location. Words in angle brackets
/// are unknown to the Run. Empty if there is no command for it.
pub fn commands(remedy: &Remedy, dialect: Dialect) -> Vec<String> {
    remedy.action.commands(dialect)
}

impl Action {
    /// The commands of the action, as [`commands`].
    pub fn commands(&self, dialect: Dialect) -> Vec<String> {
        of_action(self, dialect)
    }
}

/// No device has an empty name (`dev_valid_name` of net/core/dev.c, Linux 6.12): a command has a
/// placeholder for it.
const UNKNOWN_DEVICE: &str = "";

fn of_action(action: &Action, dialect: Dialect) -> Vec<String> {
    if dialect == Dialect::OpenWrt
        && let Some(commands) = uci(action)
    {
        return commands;
    }
    let Ok(settings) = action.settings(Some(UNKNOWN_DEVICE), None) else {
        return without_setting(action);
    };
    let is_cc = |s: &&Setting| s.congestion_control().is_some();
    let ccs: Vec<Setting> = settings.iter().filter(is_cc).cloned().collect();
    let loaded = modules(&ccs).into_iter().flat_map(|m| load(m, dialect));
    let set: Vec<String> = match action {
        Action::CongestionControl {
            cc,
            scope: CcScope::Route(to),
        } => vec![route(to, cc)],
        _ => settings.iter().flat_map(Setting::commands).collect(),
    };
    loaded.chain(set).collect()
}

/// Loads a module, of which OpenWrt has a package.
fn load(name: String, dialect: Dialect) -> Vec<String> {
    match dialect {
        Dialect::Linux => Setting::Module { name }.commands(),
        Dialect::OpenWrt => {
            let package = format!("kmod-{}", name.replace('_', "-"));
            vec![format!("opkg install {}", word(&package, "module"))]
        }
    }
}

/// The commands of an action that is no setting: with placeholders for its unknown values.
fn without_setting(action: &Action) -> Vec<String> {
    let dev = device(action.device());
    match action {
        Action::Shaper { queue, flow, .. } => shaper_of_unknown_rate(&dev, *queue, *flow),
        Action::SocketBuffer { buffer, keep, .. } => {
            socket_buffer(*buffer, *keep, "<bytes>").commands()
        }
        Action::TunnelMtu { .. } => vec![syntax::mtu(&dev, &unknown("bytes"))],
        Action::ReceiveSteering { .. } => {
            vec![syntax::steering(&dev, &unknown("processor mask"))]
        }
        _ => Vec::new(),
    }
}

fn shaper_of_unknown_rate(dev: &str, queue: Discipline, flow: Flow) -> Vec<String> {
    let rate = unknown("rate");
    let mode = if flow == Flow::Ingress {
        " ingress"
    } else {
        ""
    };
    let root = |dev: &str| match queue {
        Discipline::Cake => vec![syntax::root(dev, &format!("cake bandwidth {rate}{mode}"))],
        Discipline::Fq | Discipline::FqCodel => syntax::htb(dev, &rate, queue.name()),
    };
    match flow {
        Flow::Egress => syntax::instead(dev, root(dev)),
        Flow::Ingress => syntax::ingress(dev, root),
    }
}

/// The commands of OpenWrt for settings that it manages itself.
fn uci(action: &Action) -> Option<Vec<String>> {
    let dev = device(action.device());
    match action {
        Action::Shaper {
            rate_bps,
            queue,
            flow,
            ..
        } => {
            let kbit = rate_bps.map(|bps| (bps / 1000).max(1));
            Some(sqm(&dev, kbit, *queue, *flow))
        }
        Action::TunnelMtu { bytes, .. } => tunnel_mtu(&dev, *bytes),
        Action::ReceiveSteering { .. } => Some(
            [
                "uci set network.globals.packet_steering=1",
                "uci commit network",
                "/etc/init.d/packet_steering restart",
            ]
            .map(str::to_owned)
            .into(),
        ),
        _ => None,
    }
}

/// In UCI a WireGuard interface has the name of its device; only letters, digits and _ are allowed.
fn tunnel_mtu(dev: &str, bytes: Option<u32>) -> Option<Vec<String>> {
    let bytes = bytes.map_or_else(|| unknown("bytes"), |bytes| bytes.to_string());
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    dev.bytes().all(is_plain).then(|| {
        vec![
            format!("uci set network.{dev}.mtu={bytes}"),
            "uci commit network".to_owned(),
            format!("ifup {dev}"),
        ]
    })
}

/// The current route to one address, with a congestion control. The Run knows all of the route,
/// which `tune` copies in the same way if the host has no separate one to the address.
fn route(to: &RouteTo, cc: &str) -> String {
    let mut text = format!("ip route replace {}", to.toward);
    if let Some(via) = to.via {
        let family = if via.is_ipv6() && to.toward.is_ipv4() {
            "inet6 "
        } else {
            ""
        };
        text.push_str(&format!(" via {family}{via}"));
    }
    text.push_str(&format!(" dev {}", device(to.device.as_deref())));
    if let Some(source) = to.source {
        text.push_str(&format!(" src {source}"));
    }
    if let Some(table) = to.table.filter(|table| *table != MAIN_TABLE) {
        text.push_str(&format!(" table {table}"));
    }
    text.push_str(&format!(" congctl {}", word(cc, "congestion control")));
    text
}

/// Number of the main routing table (`RT_TABLE_MAIN`).
const MAIN_TABLE: u32 = 254;

/// OpenWrt's shaper, SQM; a rate of 0 turns off shaping in that direction. A rate of the other
/// direction that was set before is kept, so that both can be shaped.
fn sqm(dev: &str, kbit: Option<u64>, queue: Discipline, flow: Flow) -> Vec<String> {
    let rate = kbit.map_or_else(|| unknown("kbit/s"), |kbit| kbit.to_string());
    let (this, other) = match flow {
        Flow::Egress => ("upload", "download"),
        Flow::Ingress => ("download", "upload"),
    };
    let script = match queue {
        Discipline::Cake => "piece_of_cake.qos",
        Discipline::Fq | Discipline::FqCodel => "simplest.qos",
    };
    // SQM's HTB scripts do not support fq.
    let name = match queue {
        Discipline::Cake => "cake",
        Discipline::Fq | Discipline::FqCodel => "fq_codel",
    };
    let mut all = vec!["uci set sqm.pathtwin=queue".to_owned()];
    let values = [
        ("interface", dev),
        (this, &rate),
        ("qdisc", name),
        ("script", script),
        ("enabled", "1"),
    ];
    let set = |(key, value): &(&str, &str)| format!("uci set sqm.pathtwin.{key}={value}");
    all.extend(values.iter().map(set));
    let kept = format!("sqm.pathtwin.{other}");
    all.push(format!("uci -q get {kept} >/dev/null || uci set {kept}=0"));
    all.push("uci commit sqm".to_owned());
    all.push("/etc/init.d/sqm restart".to_owned());
    all
}
