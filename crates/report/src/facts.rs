//! Facts as text for terminals.

use std::fmt::Write;

use model::{
    facts::{
        DeviceFacts, HostFacts, LayerFacts, Machine, PathFacts, QdiscFacts, RouteFacts, TunnelFacts,
    },
    safe,
    text::Text,
};
use serde::Serialize;

/// One line of facts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// Heading of the following lines.
    Head(String),
    /// A name and a value; names of details of the line before are indented.
    Value(String, String),
    /// What could not be determined, and why.
    Note(Text),
}

/// Builder of lines; absent values are left out.
struct Lines(Vec<Line>);

impl Lines {
    fn line(&mut self, name: &str, value: impl Into<Option<String>>) {
        if let Some(value) = value.into().filter(|v| !v.is_empty()) {
            self.0.push(Line::Value(name.to_owned(), value));
        }
    }

    fn head(&mut self, text: &str) {
        self.0.push(Line::Head(text.to_owned()));
    }
}

/// The name of a value in the document, with spaces for underscores.
fn word(value: impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(|word| word.replace('_', " "))
}

/// Facts as text for a terminal.
pub fn text(facts: &HostFacts) -> String {
    let mut out = String::new();
    for line in lines(facts) {
        // Writing to a string cannot fail.
        let _ = match line {
            Line::Head(text) => writeln!(out, "\n{}", safe::line(&text)),
            Line::Value(name, value) => {
                writeln!(out, "{:<20} {}", safe::line(&name), safe::line(&value))
            }
            Line::Note(text) => writeln!(out, "  {}", safe::line(&text.to_string())),
        };
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
        lines.head("notes");
        lines.0.extend(facts.notes.iter().cloned().map(Line::Note));
    }
    lines.0
}

fn host(lines: &mut Lines, facts: &HostFacts) {
    let join = |list: &Option<Vec<String>>| list.as_ref().map(|l| l.join(" "));
    lines.line("kernel", facts.kernel.clone());
    lines.line("architecture", facts.arch.clone());
    lines.line("machine", facts.machine.as_ref().map(machine));
    lines.line("container", facts.container.and_then(word));
    lines.line("processor", facts.cpu_model.clone());
    lines.line("processors", facts.cpus.map(|n| n.to_string()));
    let crypto = facts.cpu_crypto.as_ref().map(|flags| match &flags[..] {
        [] => "none".to_owned(),
        flags => flags.join(" "),
    });
    lines.line("crypto abilities", crypto);
    lines.line("governor", facts.cpu_governor.clone());
    lines.line("clock source", facts.clock_source.clone());
    let mib = facts.memory_bytes.map(|b| format!("{} MiB", b >> 20));
    lines.line("memory", mib);
    lines.line("congestion control", facts.congestion.default.clone());
    lines.line("  allowed", join(&facts.congestion.allowed));
    lines.line("  available", join(&facts.congestion.available));
    for (name, value) in &facts.sysctls {
        let short = name.trim_start_matches("net.");
        lines.line(&format!("  {short:<30}"), value.clone());
    }
}

fn machine(machine: &Machine) -> String {
    match machine {
        Machine::BareMetal => "bare metal".to_owned(),
        Machine::Virtual { hypervisor } => {
            let name = hypervisor.as_deref().unwrap_or("of an unknown hypervisor");
            format!("virtual, {name}")
        }
    }
}

fn path(lines: &mut Lines, path: &PathFacts) {
    for (depth, layer) in path.layers.iter().enumerate() {
        let what = if depth == 0 {
            "path to"
        } else {
            "below it, path to"
        };
        lines.head(&format!("{what} {}", layer.toward));
        self::layer(lines, layer);
    }
}

fn layer(lines: &mut Lines, layer: &LayerFacts) {
    lines.line("route", layer.route.as_ref().map(route));
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
    let mut what = vec![word(device.kind).unwrap_or_default()];
    what.extend(device.driver.as_ref().map(|d| format!("driver {d}")));
    what.push(format!("mtu {}", device.mtu));
    what.extend(
        device
            .speed_bps
            .map(|s| format!("{} Mbit/s", s / 1_000_000)),
    );
    what.extend(device.duplex.and_then(word).map(|d| format!("{d} duplex")));
    what.extend((!device.up).then(|| "down".to_owned()));
    lines.line(&device.name, what.join(", "));
    if let Some(radio) = &device.wireless {
        let mut what = Vec::new();
        what.extend(radio.signal_dbm.map(|s| format!("signal {s} dBm")));
        what.extend(
            radio
                .tx_bitrate_bps
                .map(|b| format!("sends at {} Mbit/s", b / 1_000_000)),
        );
        what.extend(
            radio
                .rx_bitrate_bps
                .map(|b| format!("receives at {} Mbit/s", b / 1_000_000)),
        );
        what.extend(radio.frequency_mhz.map(|f| format!("{f} MHz")));
        what.extend((radio.power_save == Some(true)).then(|| "power save on".to_owned()));
        lines.line("  radio", what.join(", "));
    }
    for qdisc in device.qdiscs.iter().flatten() {
        lines.line("  queue", self::qdisc(qdisc));
    }
    if let Some(offloads) = &device.offloads {
        let on = |wanted| {
            let names = offloads.iter().filter(move |(_, on)| **on == wanted);
            names
                .map(|(name, _)| name.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        lines.line("  offloads on", on(true));
        lines.line("  offloads off", on(false));
    }
    queues(lines, device);
}

fn queues(lines: &mut Lines, device: &DeviceFacts) {
    let rings = device.rings.map(|r| {
        format!(
            "receive {} of {}, send {} of {}",
            r.rx, r.rx_max, r.tx, r.tx_max
        )
    });
    lines.line("  rings", rings);
    let count = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
    let both = format!(
        "receive {}, send {}",
        count(device.rx_queues),
        count(device.tx_queues)
    );
    lines.line("  queues", both);
    lines.line("  rps masks", device.rps_cpus.as_ref().map(|m| m.join(" ")));
    lines.line("  xps masks", device.xps_cpus.as_ref().map(|m| m.join(" ")));
    let irqs = device.irqs.as_ref().map(|i| {
        let counts: Vec<String> = i.per_cpu.iter().map(u64::to_string).collect();
        format!("{} lines; on each processor {}", i.lines, counts.join(" "))
    });
    lines.line("  interrupts", irqs);
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
    let mut what = vec![word(tunnel.kind).unwrap_or_default()];
    if tunnel.product != model::facts::Product::None {
        what.extend(word(tunnel.product));
        what.extend(tunnel.version.clone());
    }
    what.extend(tunnel.path.and_then(word));
    lines.line("tunnel", what.join(", "));
    let relay = tunnel
        .relay
        .as_ref()
        .map(|relay| match &tunnel.relay_transport {
            Some(transport) => format!("{relay} by {transport}"),
            None => relay.clone(),
        });
    lines.line("  relay", relay);
    lines.line("  endpoint", tunnel.endpoint.map(|e| e.to_string()));
    lines.line(
        "  peer",
        tunnel.peer_key.as_ref().map(|k| format!("{k}...")),
    );
    let age = tunnel.handshake_age_s.map(|s| format!("{s} s ago"));
    lines.line("  handshake", age);
    let keepalive = tunnel.keepalive_s.map(|s| match s {
        0 => "none".to_owned(),
        s => format!("every {s} s"),
    });
    lines.line("  keepalive", keepalive);
    let process = tunnel.process.as_ref();
    lines.line(
        "  process",
        process.map(|p| format!("{} ({})", p.name, p.pid)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_says_where_it_leads() {
        let document = r#"{"schema":1,"congestion":{},"sysctls":{},"notes":["no root"],"path":{
            "toward":"10.9.0.1","layers":[{"toward":"10.9.0.1","route":{"prefix":"10.9.0.0/24","local":false,
            "device":"wg0","congctl":"bbr"},"devices":[{"name":"wg0","index":7,"kind":"wireguard","up":true,
            "mtu":1420,"qdiscs":[{"kind":"noqueue","handle":"0:","parent":"root"}]}],"tunnel":{"device":"wg0",
            "kind":"kernel_wireguard","product":"none","path":"direct","endpoint":"192.0.2.7:51820",
            "keepalive_s":25}}]}}"#;
        let facts: HostFacts = serde_json::from_str(document).unwrap();
        let text = text(&facts);
        for wanted in [
            "path to 10.9.0.1",
            "10.9.0.0/24 dev wg0 congctl bbr",
            "wireguard, mtu 1420",
            "noqueue 0: root",
            "kernel wireguard, direct",
            "192.0.2.7:51820",
            "every 25 s",
            "  no root",
        ] {
            assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
        }
    }
}
