//! Results of an iperf3 test as text and as JSON.

use std::fmt::Write as _;

use ::iperf3::{
    outcome::{End, Outcome, Stream, Total, Udp},
    params::Protocol,
};
use analysis::datagrams::lost;
use model::net::{Direction, Side};
use serde_json::{Map, Value, json};

/// The other end of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A server, as it was named.
    Server(String),
    /// A client, by its address.
    Client(String),
}

impl Peer {
    /// Its role and its name.
    fn pair(&self) -> (&'static str, &str) {
        match self {
            Self::Server(name) => ("server", name),
            Self::Client(name) => ("client", name),
        }
    }
}

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

fn sender(outcome: &Outcome, direction: Direction) -> &End {
    match Side::sends(direction) {
        Side::Near => &outcome.client,
        Side::Far => &outcome.server,
    }
}

/// A line for each direction, and for each of several streams, with both ends' processors.
pub fn text(peer: &Peer, outcome: &Outcome) -> String {
    let (role, peer) = peer.pair();
    let mut text = format!("{role:<7} {peer}\n");
    for direction in DIRECTIONS {
        let Some(total) = outcome.total(direction) else {
            continue;
        };
        let of = |s: &&Stream| s.direction == direction;
        let streams: Vec<&Stream> = outcome.streams.iter().filter(of).collect();
        if streams.len() > 1 {
            for stream in &streams {
                let rate = stream.goodput_bps();
                let label = format!("{direction} {}", stream.id);
                line(
                    &mut text,
                    &label,
                    rate,
                    stream.received_bytes,
                    stream.received_us,
                );
                details(&mut text, stream.retransmits, stream.udp);
            }
        }
        let label = direction.to_string();
        line(
            &mut text,
            &label,
            total.goodput_bps,
            total.received_bytes,
            total.received_us,
        );
        details(&mut text, total.retransmits, total.udp);
        let end = text.pop();
        if let Some(used) = &sender(outcome, direction).congestion_used {
            let _ = write!(text, ", {used}");
        }
        text.extend(end);
    }
    let (client, server) = (outcome.client.cpu, outcome.server.cpu);
    let _ = writeln!(
        text,
        "cpu     client {:.0} %, server {:.0} % of a processor",
        client.total_percent, server.total_percent
    );
    for reason in &outcome.invalid {
        let _ = writeln!(text, "not valid: {reason}");
    }
    text
}

fn line(text: &mut String, label: &str, rate: Option<f64>, bytes: u64, us: u64) {
    let rate = rate.map_or_else(|| "unknown".to_owned(), |bps| format!("{:.2}", bps / 1e6));
    let _ = write!(
        text,
        "{label:<7} {rate:>10} Mbit/s  {:>10.3} MB in {:.2} s",
        bytes as f64 / 1e6,
        us as f64 / 1e6,
    );
}

fn details(text: &mut String, retransmits: Option<u64>, udp: Option<Udp>) {
    if let Some(count) = retransmits {
        let _ = write!(text, ", {count} retransmits");
    }
    if let Some(udp) = udp {
        let share = lost(udp.packets, udp.packets.saturating_sub(udp.lost));
        let share = share.map_or_else(String::new, |s| format!(" ({:.2} %)", 100.0 * s));
        let _ = write!(
            text,
            ", {} of {} lost{share}, jitter {:.3} ms",
            udp.lost,
            udp.packets,
            udp.jitter_us / 1000.0
        );
    }
    text.push('\n');
}

/// One flat row for each direction.
pub fn rows(peer: &Peer, outcome: &Outcome) -> Vec<Value> {
    let rows = DIRECTIONS.into_iter().filter_map(|direction| {
        let total = outcome.total(direction)?;
        let mut row = requested(peer, outcome);
        row.insert("direction".into(), json!(direction));
        row.extend(figures(&total));
        row.extend(ends(outcome, direction));
        row.insert("valid".into(), json!(outcome.invalid.is_empty()));
        Some(Value::Object(row))
    });
    rows.collect()
}

/// The test as it was requested.
fn requested(peer: &Peer, outcome: &Outcome) -> Map<String, Value> {
    let params = &outcome.params;
    let protocol = match params.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    let (role, peer) = peer.pair();
    present([
        (role, json!(peer)),
        ("protocol", json!(protocol)),
        ("flows", json!(params.parallel)),
        ("omit_s", json!(params.omit_s)),
        ("block_bytes", json!(params.len)),
        ("bytes_requested", json!(params.bytes)),
        ("rate_requested_bps", json!(params.rate_bps)),
        ("cc_requested", json!(params.congestion)),
    ])
}

fn figures(total: &Total) -> Map<String, Value> {
    present([
        ("goodput_mbps", json!(total.goodput_bps.map(|r| r / 1e6))),
        ("sent_bytes", json!(total.sent_bytes)),
        ("received_bytes", json!(total.received_bytes)),
        ("received_us", json!(total.received_us)),
        ("retransmits", json!(total.retransmits)),
        ("packets", json!(total.udp.map(|u| u.packets))),
        ("lost", json!(total.udp.map(|u| u.lost))),
        ("reordered", json!(total.udp.and_then(|u| u.reordered))),
        ("jitter_us", json!(total.udp.map(|u| u.jitter_us))),
    ])
}

fn ends(outcome: &Outcome, direction: Direction) -> Map<String, Value> {
    present([
        ("cc_used", json!(sender(outcome, direction).congestion_used)),
        (
            "cpu_client_percent",
            json!(outcome.client.cpu.total_percent),
        ),
        (
            "cpu_server_percent",
            json!(outcome.server.cpu.total_percent),
        ),
    ])
}

/// The whole result as one document.
pub fn document(peer: &Peer, outcome: &Outcome) -> Value {
    let mut document = requested(peer, outcome);
    document.insert("direction".into(), json!(outcome.params.direction));
    for direction in DIRECTIONS {
        if let Some(total) = outcome.total(direction) {
            document.insert(direction.to_string(), figures(&total).into());
        }
    }
    let streams: Vec<Value> = outcome.streams.iter().map(stream).collect();
    document.insert("streams".into(), streams.into());
    document.insert(
        "ends".into(),
        json!({
            "client": end(&outcome.client),
            "server": end(&outcome.server),
        }),
    );
    let invalid: Vec<String> = outcome.invalid.iter().map(ToString::to_string).collect();
    document.insert("valid".into(), invalid.is_empty().into());
    document.insert("invalid".into(), json!(invalid));
    Value::Object(document)
}

fn end(end: &End) -> Value {
    present([
        ("cpu_percent", json!(end.cpu.total_percent)),
        ("cpu_user_percent", json!(end.cpu.user_percent)),
        ("cpu_system_percent", json!(end.cpu.system_percent)),
        ("cc_used", json!(end.congestion_used)),
    ])
    .into()
}

fn stream(stream: &Stream) -> Value {
    let tcp = stream.tcp.as_ref();
    present([
        ("id", json!(stream.id)),
        ("direction", json!(stream.direction)),
        ("goodput_mbps", json!(stream.goodput_bps().map(|r| r / 1e6))),
        ("sent_bytes", json!(stream.sent_bytes)),
        ("sent_us", json!(stream.sent_us)),
        ("received_bytes", json!(stream.received_bytes)),
        ("received_us", json!(stream.received_us)),
        ("retransmits", json!(stream.retransmits)),
        ("packets_sent", json!(stream.udp.map(|u| u.sent))),
        ("packets", json!(stream.udp.map(|u| u.packets))),
        ("lost", json!(stream.udp.map(|u| u.lost))),
        ("reordered", json!(stream.udp.and_then(|u| u.reordered))),
        ("jitter_us", json!(stream.udp.map(|u| u.jitter_us))),
        ("tcp_rtt_us", json!(tcp.map(|t| t.rtt_us))),
        ("tcp_min_rtt_us", json!(tcp.and_then(|t| t.min_rtt_us))),
        ("tcp_mss", json!(tcp.map(|t| t.snd_mss))),
        ("tcp_pmtu", json!(tcp.map(|t| t.pmtu))),
    ])
    .into()
}

/// The known values; unknown ones are absent.
fn present<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let known = pairs.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}
