//! Facts of a host line by line, and as text for terminals.

use std::fmt::Write as _;

use model::{
    facts::{
        Container, DeviceFacts, DeviceKind, Duplex, HostFacts, LayerFacts, Machine, PathFacts,
        Product, QdiscFacts, RouteFacts, TunnelFacts, TunnelKind, TunnelPath, WirelessFacts,
    },
    safe, text,
    text::{Text, Value},
};
use serde::Serialize;

use crate::wrap::within;

/// One line of facts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// Heading of the following lines.
    Head(Text),
    /// A name and a value.
    Fact {
        /// Name of the fact, or of the device that it is about.
        name: Value,
        /// The value.
        value: Value,
        /// True if it is a detail of the line before.
        detail: bool,
    },
    /// A kernel parameter.
    Parameter {
        /// Its name, without the prefix that nearly all have.
        name: String,
        /// Its value.
        value: String,
    },
    /// A fact that could not be determined, and why.
    Note(Text),
}

/// Builder of lines; absent and empty values are left out.
struct Lines(Vec<Line>);

impl Lines {
    fn line(&mut self, name: impl Into<Value>, value: Option<impl Into<Value>>) {
        self.push(name.into(), value.map(Into::into), false);
    }

    fn detail(&mut self, name: Text, value: Option<impl Into<Value>>) {
        self.push(name.into(), value.map(Into::into), true);
    }

    fn push(&mut self, name: Value, value: Option<Value>, detail: bool) {
        let is_empty = |value: &Value| matches!(value, Value::Name(name) if name.is_empty());
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            self.0.push(Line::Fact {
                name,
                value,
                detail,
            });
        }
    }
}

/// A list of values; `None` without any.
fn list(values: impl IntoIterator<Item = Value>) -> Option<Value> {
    let join = |list, next| text!("{list}, {next}", list = list, next = next).into();
    values.into_iter().reduce(join)
}

/// The name of a value in the document, with spaces for underscores.
fn word(value: impl Serialize) -> Value {
    let value = serde_json::to_value(value).unwrap_or_default();
    Value::Name(value.as_str().unwrap_or_default().replace('_', " "))
}

/// Names of the kernel, separated by spaces.
fn names(names: &[String]) -> Value {
    match names {
        [] => text!("none").into(),
        names => Value::Name(names.join(" ")),
    }
}

/// Facts as text for a terminal, in lines of at most `width` columns.
pub fn text(facts: &HostFacts, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let mut out = String::new();
    for line in lines(facts) {
        let (name, value) = match line {
            Line::Head(text) => {
                out.push_str(&format!("\n{}\n", safe::line(&text.to_string())));
                continue;
            }
            Line::Note(text) => {
                out.push_str(&within(&safe::line(&text.to_string()), "  ", width));
                continue;
            }
            Line::Fact {
                name,
                value,
                detail,
            } => {
                let indent = if detail { "  " } else { "" };
                (format!("{indent}{name}"), value.to_string())
            }
            Line::Parameter { name, value } => (format!("  {name:<30}"), value),
        };
        let name = format!("{:<20} ", safe::line(&name));
        // Text that does not fit continues below the value, with the same indent.
        let indent = name.chars().count();
        let value = within(&safe::line(&value), &" ".repeat(indent), width);
        out.push_str(&name);
        out.push_str(value.get(indent..).unwrap_or("\n"));
    }
    out
}

/// The facts line by line: the host, the path to the far end, the notes.
pub(crate) fn lines(facts: &HostFacts) -> Vec<Line> {
    let mut lines = Lines(Vec::new());
    host(&mut lines, facts);
    if let Some(path) = &facts.path {
        self::path(&mut lines, path);
    }
    if !facts.notes.is_empty() {
        lines.0.push(Line::Head(text!("notes")));
        lines.0.extend(facts.notes.iter().cloned().map(Line::Note));
    }
    lines.0
}

fn host(lines: &mut Lines, facts: &HostFacts) {
    lines.line(text!("kernel"), facts.kernel.as_ref());
    lines.line(text!("architecture"), facts.arch.as_ref());
    lines.line(text!("machine"), facts.machine.as_ref().map(machine));
    lines.line(text!("container"), facts.container.map(container));
    lines.line(text!("processor"), facts.cpu_model.as_ref());
    lines.line(text!("processors"), facts.cpus);
    let crypto = facts.cpu_crypto.as_deref().map(names);
    lines.line(text!("crypto features"), crypto);
    lines.line(text!("frequency governor"), facts.cpu_governor.as_ref());
    lines.line(text!("clock source"), facts.clock_source.as_ref());
    let mib = facts.memory_bytes.map(|b| format!("{} MiB", b >> 20));
    lines.line(text!("memory"), mib);
    let congestion = &facts.congestion;
    lines.line(text!("congestion control"), congestion.default.as_ref());
    let allowed = congestion.allowed.as_deref().map(names);
    lines.detail(text!("allowed to unprivileged users"), allowed);
    let available = congestion.available.as_deref().map(names);
    lines.detail(text!("available"), available);
    for (name, value) in &facts.sysctls {
        if !value.is_empty() {
            let name = name.trim_start_matches("net.").to_owned();
            let value = value.clone();
            lines.0.push(Line::Parameter { name, value });
        }
    }
}

fn machine(machine: &Machine) -> Text {
    match machine {
        Machine::BareMetal => text!("bare metal"),
        Machine::Virtual {
            hypervisor: Some(name),
        } => text!("virtual, {hypervisor}", hypervisor = name),
        Machine::Virtual { hypervisor: None } => text!("virtual, of an unknown hypervisor"),
    }
}

fn container(container: Container) -> Value {
    match container {
        Container::No => text!("none").into(),
        Container::Other => text!("of another kind").into(),
        known => word(known),
    }
}

fn path(lines: &mut Lines, path: &PathFacts) {
    for (depth, layer) in path.layers.iter().enumerate() {
        let toward = layer.toward.to_string();
        lines.0.push(Line::Head(match depth {
            0 => text!("path to {address}", address = toward),
            _ => text!("below it, path to {address}", address = toward),
        }));
        self::layer(lines, layer);
    }
}

fn layer(lines: &mut Lines, layer: &LayerFacts) {
    lines.line(text!("route"), layer.route.as_ref().map(route));
    for device in &layer.devices {
        self::device(lines, device);
    }
    if let Some(tunnel) = &layer.tunnel {
        self::tunnel(lines, tunnel);
    }
}

/// In the syntax of `ip route`.
fn route(route: &RouteFacts) -> String {
    let mut words = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        words.extend(value.map(|v| format!("{name} {v}").trim().to_owned()));
    };
    add("", route.prefix.clone());
    add("", route.local.then(|| "local".to_owned()));
    add("via", route.via.map(|v| v.to_string()));
    add("dev", route.device.clone());
    add("src", route.source.map(|s| s.to_string()));
    let lock = if route.mtu_locked { "mtu lock" } else { "mtu" };
    add(lock, route.mtu.map(|m| m.to_string()));
    add("advmss", route.advmss.map(|m| m.to_string()));
    add("congctl", route.congctl.clone());
    add("initcwnd", route.initcwnd.map(|m| m.to_string()));
    add("initrwnd", route.initrwnd.map(|m| m.to_string()));
    add("features", route.ecn.then(|| "ecn".to_owned()));
    add(
        "table",
        route.table.filter(|&t| t != 254).map(|t| t.to_string()),
    );
    words.join(" ")
}

fn device(lines: &mut Lines, device: &DeviceFacts) {
    let kind = match device.kind {
        DeviceKind::Loopback => text!("loopback").into(),
        DeviceKind::PlainTunnel => text!("tunnel without encryption").into(),
        DeviceKind::Other => text!("of another kind").into(),
        known => word(known),
    };
    let mut what = vec![kind];
    let driver = device.driver.as_ref();
    what.extend(driver.map(|name| text!("driver {name}", name = name).into()));
    what.push(Value::Name(format!("MTU {}", device.mtu)));
    what.extend(device.speed_bps.map(|bps| Value::Bps(bps as f64)));
    what.extend(device.duplex.map(|duplex| match duplex {
        Duplex::Full => text!("full duplex").into(),
        Duplex::Half => text!("half duplex").into(),
    }));
    what.extend((!device.up).then(|| text!("not up").into()));
    lines.line(device.name.as_str(), list(what));
    if let Some(radio) = &device.wireless {
        lines.detail(text!("radio"), list(self::radio(radio)));
    }
    for qdisc in device.qdiscs.iter().flatten() {
        lines.detail(text!("queue"), Some(self::qdisc(qdisc)));
    }
    if let Some(offloads) = &device.offloads {
        let on = |wanted| {
            let names = offloads.iter().filter(move |(_, on)| **on == wanted);
            let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
            Some(names.join(" "))
        };
        lines.detail(text!("offloads on"), on(true));
        lines.detail(text!("offloads off"), on(false));
    }
    queues(lines, device);
}

fn radio(radio: &WirelessFacts) -> Vec<Value> {
    let mut what: Vec<Value> = Vec::new();
    let rate = |bps: u64| Value::Bps(bps as f64);
    what.extend(
        radio
            .signal_dbm
            .map(|s| text!("signal {power}", power = Value::Dbm(s.into())).into()),
    );
    what.extend(
        radio
            .tx_bitrate_bps
            .map(|b| text!("sends at {rate}", rate = rate(b)).into()),
    );
    what.extend(
        radio
            .rx_bitrate_bps
            .map(|b| text!("receives at {rate}", rate = rate(b)).into()),
    );
    what.extend(radio.frequency_mhz.map(|f| Value::Name(format!("{f} MHz"))));
    what.extend((radio.power_save == Some(true)).then(|| text!("power save on").into()));
    what
}

fn queues(lines: &mut Lines, device: &DeviceFacts) {
    let rings = device.rings.map(|r| {
        text!(
            "receive {rx} of {rx_max}, send {tx} of {tx_max}",
            rx = r.rx,
            rx_max = r.rx_max,
            tx = r.tx,
            tx_max = r.tx_max
        )
    });
    lines.detail(text!("rings"), rings);
    let count = |n: Option<u32>| n.map_or_else(|| Value::from("?"), Value::from);
    let (rx, tx) = (count(device.rx_queues), count(device.tx_queues));
    let both = text!("receive {rx}, send {tx}", rx = rx, tx = tx);
    lines.detail(text!("queues"), Some(both));
    let masks = |masks: &Option<Vec<String>>| masks.as_ref().map(|m| m.join(" "));
    lines.detail(text!("RPS masks"), masks(&device.rps_cpus));
    lines.detail(text!("XPS masks"), masks(&device.xps_cpus));
    let irqs = device.irqs.as_ref().map(|i| {
        let counts: Vec<String> = i.per_cpu.iter().map(u64::to_string).collect();
        text!(
            "{n} lines; on each processor {counts}",
            n = i.lines,
            counts = counts.join(" ")
        )
    });
    lines.detail(text!("interrupts"), irqs);
}

/// In the syntax of `tc qdisc`.
fn qdisc(qdisc: &QdiscFacts) -> String {
    let place = if qdisc.parent == "root" {
        "root".to_owned()
    } else {
        format!("parent {}", qdisc.parent)
    };
    let mut text = format!("{} {} {place}", qdisc.kind, qdisc.handle);
    for (name, value) in &qdisc.options {
        let _ = write!(text, " {name}={value}");
    }
    text
}

fn tunnel(lines: &mut Lines, tunnel: &TunnelFacts) {
    let mut what = vec![match tunnel.kind {
        TunnelKind::KernelWireguard => text!("WireGuard of the kernel").into(),
        TunnelKind::OtherTun => text!("of another program").into(),
        TunnelKind::Plain => text!("without encryption").into(),
        TunnelKind::Unknown => text!("unknown").into(),
        known => word(known),
    }];
    if tunnel.product != Product::None {
        what.push(word(tunnel.product));
        what.extend(tunnel.version.as_ref().map(Value::from));
    }
    what.extend(tunnel.path.map(|path| match path {
        TunnelPath::Direct => text!("direct").into(),
        TunnelPath::Relayed => text!("relayed").into(),
        TunnelPath::Idle => text!("idle").into(),
    }));
    lines.line(text!("tunnel"), list(what));
    let relay = tunnel.relay.as_ref().map(|relay| {
        let by = tunnel.relay_transport.as_ref();
        list([relay.into()].into_iter().chain(by.map(Value::from)))
    });
    lines.detail(text!("relay"), relay.flatten());
    lines.detail(text!("endpoint"), tunnel.endpoint.map(|e| e.to_string()));
    let peer = tunnel.peer_key.as_ref().map(|k| format!("{k}..."));
    lines.detail(text!("peer"), peer);
    let age = tunnel.handshake_age_s;
    lines.detail(text!("handshake"), age.map(|s| text!("{n} s ago", n = s)));
    let keepalive = tunnel.keepalive_s.map(|s| match s {
        0 => text!("none"),
        s => text!("every {n} s", n = u32::from(s)),
    });
    lines.detail(text!("keepalive"), keepalive);
    let process = tunnel.process.as_ref();
    lines.detail(
        text!("process"),
        process.map(|p| format!("{} ({})", p.name, p.pid)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_names_its_destination() {
        let document = r#"{"schema":1,"congestion":{},"sysctls":{},"notes":["no root"],"path":{
            "toward":"10.9.0.1","layers":[{"toward":"10.9.0.1","route":{"prefix":"10.9.0.0/24","local":false,
            "device":"wg0","congctl":"bbr"},"devices":[{"name":"wg0","index":7,"kind":"wireguard","up":true,
            "mtu":1420,"qdiscs":[{"kind":"noqueue","handle":"0:","parent":"root"}]}],"tunnel":{"device":"wg0",
            "kind":"kernel_wireguard","product":"none","path":"direct","endpoint":"192.0.2.7:51820",
            "keepalive_s":25}}]}}"#;
        let facts: HostFacts = serde_json::from_str(document).unwrap();
        let text = text(&facts, None);
        for wanted in [
            "path to 10.9.0.1",
            "10.9.0.0/24 dev wg0 congctl bbr",
            "wireguard, MTU 1420",
            "noqueue 0: root",
            "WireGuard of the kernel, direct",
            "192.0.2.7:51820",
            "every 25 s",
            "  no root",
        ] {
            assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
        }
    }
}
