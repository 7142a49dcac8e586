//! What a test showed, for people and as JSON.

use std::fmt::Write as _;

use iperf3::{
    outcome::{End, Outcome, Stream, Total, Udp},
    params::Protocol,
    server::Report,
};
use model::{
    net::{Direction, Side},
    safe,
};
use serde_json::{Map, Value, json};

use crate::{cli::Format, exit::Failure, format};

const DIRECTIONS: [Direction; 2] = [Direction::Up, Direction::Down];

/// A test with the server at `url`.
pub(super) fn outcome(url: &str, outcome: &Outcome, format: Format) -> Result<(), Failure> {
    show(("server", url), outcome, format)
}

/// A test that a server has done.
pub(super) fn report(report: &Report, format: Format) -> Result<(), Failure> {
    let client = report.client.to_string();
    match &report.result {
        Ok(outcome) => show(("client", &client), outcome, format),
        Err(error) => {
            let error = error.to_string();
            format::say(format_args!(
                "the test with {client} failed: {}",
                safe::line(&error)
            ));
            Ok(())
        }
    }
}

/// Shows a test, with the key and the name of the other end.
fn show(peer: (&str, &str), outcome: &Outcome, format: Format) -> Result<(), Failure> {
    match format {
        Format::Text => format::text(&text(peer, outcome)),
        Format::Json => format::json(&document(peer, outcome)),
        Format::Jsonl => format::json_lines(&rows(peer, outcome)),
    }
}

fn sender(outcome: &Outcome, direction: Direction) -> &End {
    match Side::sends(direction) {
        Side::Near => &outcome.client,
        Side::Far => &outcome.server,
    }
}

fn text(peer: (&str, &str), outcome: &Outcome) -> String {
    let mut text = format!("{:<7} {}\n", peer.0, peer.1);
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
    let _ = write!(
        text,
        "{label:<7} {:>10.2} Mbit/s  {:>10.3} MB in {:.2} s",
        rate.unwrap_or(0.0) / 1e6,
        bytes as f64 / 1e6,
        us as f64 / 1e6,
    );
}

fn details(text: &mut String, retransmits: Option<u64>, udp: Option<Udp>) {
    if let Some(count) = retransmits {
        let _ = write!(text, ", {count} retransmits");
    }
    if let Some(udp) = udp {
        let share = udp.lost as f64 / udp.packets.max(1) as f64 * 100.0;
        let _ = write!(
            text,
            ", {} of {} lost ({share:.2} %), jitter {:.3} ms",
            udp.lost,
            udp.packets,
            udp.jitter_us / 1000.0
        );
    }
    text.push('\n');
}

/// One flat row for each direction.
fn rows(peer: (&str, &str), outcome: &Outcome) -> Vec<Value> {
    let rows = DIRECTIONS.into_iter().filter_map(|direction| {
        let total = outcome.total(direction)?;
        let mut row = asked(peer, outcome);
        row.insert("direction".into(), json!(direction));
        row.extend(figures(&total));
        row.extend(ends(outcome, direction));
        row.insert("valid".into(), json!(outcome.invalid.is_empty()));
        Some(Value::Object(row))
    });
    rows.collect()
}

fn asked(peer: (&str, &str), outcome: &Outcome) -> Map<String, Value> {
    let params = &outcome.params;
    let protocol = match params.protocol {
        Protocol::Tcp => "tcp",
        Protocol::Udp => "udp",
    };
    present([
        (peer.0, json!(peer.1)),
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

fn document(peer: (&str, &str), outcome: &Outcome) -> Value {
    let mut document = asked(peer, outcome);
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

/// What is known; the rest is left out.
fn present<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let known = pairs.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}
