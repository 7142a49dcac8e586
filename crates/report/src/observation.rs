//! Observed connections as a table for terminals, sorted by limit and traffic.

use model::observation::{Figure, Observation, ObservedSocket, Verdict};

use crate::{
    fit,
    number::{percent, short},
};

type Value = fn(&ObservedSocket) -> Option<String>;

/// A column: heading, whether it is aligned to the right, importance, value. Columns without any
/// value are left out.
struct Column(&'static str, bool, u8, Value);

const COLUMNS: [Column; 13] = [
    Column("limited by", false, fit::ALWAYS, |s| {
        Some(s.verdict.label().to_owned())
    }),
    Column("because", false, 75, |s| Some(because(s))),
    Column("remote", false, fit::ALWAYS, |s| Some(s.remote.to_string())),
    Column("cc", false, 50, |s| s.cc.clone()),
    Column("out\nMbit/s", true, 100, |s| s.goodput_out_bps.map(mbps)),
    Column("in\nMbit/s", true, 95, |s| s.goodput_in_bps.map(mbps)),
    Column("RTT\nms", true, 90, |s| s.rtt_us.map(|us| short(us / 1e3))),
    Column("over\nmin", true, 60, |s| {
        s.rtt_over_min.map(|ratio| format!("{}x", short(ratio)))
    }),
    Column("retrans-\nmitted", true, 85, |s| {
        s.retransmission_rate.map(percent)
    }),
    Column("cwnd", true, 40, |s| s.cwnd.map(|cwnd| cwnd.to_string())),
    Column("MSS/\nPMTU", true, 30, |s| {
        Some(format!("{}/{}", s.mss_bytes?, s.pmtu_bytes?))
    }),
    Column("reordered/\nduplicates", true, 20, |s| {
        let (reordered, duplicates) = (s.reord_seen?, s.dsack_dups?);
        (reordered + duplicates > 0).then(|| format!("{reordered}/{duplicates}"))
    }),
    Column("process", false, 80, |s| {
        Some(format!("{} ({})", s.process.as_deref()?, s.pid?))
    }),
];

/// The table of an observation with a summary line. Idle connections are only counted. Within a
/// `width`, columns that do not fit are left out, the least important first.
pub fn table(observation: &Observation, width: Option<usize>) -> String {
    let (idle, shown): (Vec<_>, Vec<_>) = observation
        .sockets
        .iter()
        .partition(|s| s.verdict == Verdict::Idle);
    let mut text = summary(observation, idle.len());
    if shown.is_empty() {
        return text;
    }
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| shown.iter().any(|s| column.3(s).is_some()))
        .collect();
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|s| columns.iter().map(|c| c.3(s).unwrap_or_default()).collect())
        .collect();
    let columns: Vec<fit::Column> = columns
        .iter()
        .map(|column| fit::Column {
            heading: column.0.to_owned(),
            right: column.1,
            importance: column.2,
        })
        .collect();
    text.push_str(&fit::table(&columns, &rows, width));
    text
}

fn summary(observation: &Observation, idle: usize) -> String {
    let all = observation.sockets.len() + observation.left_out;
    let mut parts = vec![format!(
        "{all} connection{}",
        if all == 1 { "" } else { "s" }
    )];
    if idle > 0 {
        parts.push(format!("{idle} idle"));
    }
    if observation.left_out > 0 {
        parts.push(format!("{} not shown", observation.left_out));
    }
    let filter = &observation.filter;
    parts.extend(filter.dst.map(|dst| format!("to {dst}")));
    parts.extend(filter.port.map(|port| format!("port {port}")));
    format!(
        "{}; {} samples in {} s{}\n",
        parts.join(", "),
        observation.dumps,
        short(observation.observed_us as f64 / 1e6),
        if observation.cut_short {
            ", cut short"
        } else {
            ""
        }
    )
}

fn mbps(bps: f64) -> String {
    short(bps / 1e6)
}

/// The decisive figure as text.
fn because(socket: &ObservedSocket) -> String {
    let Some(value) = socket.because.value else {
        return "not reported by the kernel".to_owned();
    };
    match socket.because.figure {
        Figure::RwndLimited | Figure::SndbufLimited => {
            format!("{} of busy time", percent(value))
        }
        Figure::CwndLimited => match socket.retransmission_rate.filter(|&rate| rate > 0.0) {
            Some(rate) => format!(
                "{} of busy time, {} retransmitted",
                percent(value),
                percent(rate)
            ),
            None => format!("{} of busy time, no retransmissions", percent(value)),
        },
        Figure::AppLimited => format!("{} of samples application-limited", percent(value)),
        Figure::AllSent => format!("nothing unsent in {} of samples", percent(value)),
        Figure::Busy => format!("data to send {} of the time", percent(value)),
        Figure::ReceiveBufferUsed => format!("{} of the buffer unread", percent(value)),
        Figure::PacingLimitUsed => format!("{} of the limit used", percent(value)),
        Figure::SentShare => format!("{} of its payload is sent", percent(value)),
        Figure::MovedBytes => "nothing moves".to_owned(),
        Figure::Samples => format!("{value} of {} samples", socket.because.threshold),
        Figure::ObservedUs => format!("observed for only {} ms", short(value / 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use model::observation::{Because, Filter};

    use super::*;

    fn socket(verdict: Verdict, figure: Figure, value: Option<f64>) -> ObservedSocket {
        let json = serde_json::json!({
            "local": "192.0.2.1:40000", "remote": "192.0.2.2:443", "verdict": verdict,
            "because": figure, "because_value": value, "because_threshold": 0.15,
            "uid": 0, "samples": 11, "observed_us": 10_000_000, "ended": false,
            "goodput_out_bps": 94.5e6, "retransmission_rate": 0.011, "rtt_us": 30_500.0,
            "rtt_over_min": 1.02, "process": "rsync", "pid": 4711,
        });
        serde_json::from_value(json).unwrap()
    }

    fn observation(sockets: Vec<ObservedSocket>) -> Observation {
        Observation {
            schema: 1,
            kernel: None,
            filter: Filter::default(),
            dumps: 11,
            observed_us: 10_000_000,
            cut_short: false,
            left_out: 0,
            sockets,
        }
    }

    #[test]
    fn a_connection_is_a_line_and_unknown_values_have_no_column() {
        let limited = socket(Verdict::LossOrPath, Figure::CwndLimited, Some(0.98));
        let text = table(&observation(vec![limited]), None);
        assert!(
            text.starts_with("1 connection; 11 samples in 10.0 s\n"),
            "{text}"
        );
        for part in [
            "loss or path (cwnd)",
            "98 % of busy time, 1.1 % retransmitted",
            "192.0.2.2:443",
            "94.5",
            "30.5",
            "1.02x",
            "rsync (4711)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("cwnd\n") && !text.contains("MSS"), "{text}");
    }

    #[test]
    fn connections_at_rest_are_only_counted() {
        let idle = socket(Verdict::Idle, Figure::MovedBytes, Some(0.0));
        let mut all = observation(vec![idle]);
        all.left_out = 2;
        all.filter.port = Some(443);
        let text = table(&all, None);
        assert_eq!(
            text,
            "3 connections, 1 idle, 2 not shown, port 443; 11 samples in 10.0 s\n"
        );
    }

    #[test]
    fn uncounted_events_are_named() {
        let mut old = socket(Verdict::CannotTell, Figure::Busy, None);
        assert_eq!(because(&old), "not reported by the kernel");
        old.because = Because {
            figure: Figure::Samples,
            value: Some(2.0),
            threshold: 3.0,
        };
        assert_eq!(because(&old), "2 of 3 samples");
    }
}
