//! A change by the connections that a host has anyway, as text.

use analysis::traffic::{BeforeAfter, Totals};

use crate::number::{percent, short};

/// Limits of such a comparison.
const LIMITS: &str = "\
These connections are the host's own: their number, their far ends and what they send change by
themselves. The figures show that the setting is in use, and whether something broke. They do not show
that a difference comes from the change: measure in turns with it and without for that (--prove HOST).
";

/// Figures of the connections before a change and after it.
pub fn text(both: &BeforeAfter) -> String {
    let columns = [
        ("before", &both.before),
        ("after: open before", &both.remaining),
        ("after: opened since", &both.new),
    ];
    let mut text = format!("{:<24}", "live connections");
    for (heading, _) in columns {
        text.push_str(&format!("{heading:>24}"));
    }
    text.push('\n');
    for (name, of) in ROWS {
        text.push_str(&format!("{name:<24}"));
        for (_, totals) in columns {
            text.push_str(&format!("{:>24}", of(totals)));
        }
        text.push('\n');
    }
    if both.new.connections == 0 {
        text.push_str(
            "No connection that sends or receives was opened since: settings of new connections, \
             such as\na congestion control, were not in use yet.\n",
        );
    }
    text.push_str(LIMITS);
    text
}

type Row = (&'static str, fn(&Totals) -> String);

const ROWS: &[Row] = &[
    ("not idle", |t| t.connections.to_string()),
    ("sent, Mbit/s", |t| short(t.goodput_out_bps / 1e6)),
    ("received, Mbit/s", |t| short(t.goodput_in_bps / 1e6)),
    ("retransmitted", |t| {
        optional(t.retransmission_rate, percent)
    }),
    ("median RTT, ms", |t| {
        optional(t.rtt_us, |us| short(us / 1e3))
    }),
    ("median RTT over min", |t| optional(t.rtt_over_min, short)),
    ("timeouts", |t| t.timeouts.to_string()),
    ("congestion control", |t| {
        let all = t.congestion_controls.iter();
        let all: Vec<String> = all.map(|(cc, n)| format!("{n} {cc}")).collect();
        all.join(", ")
    }),
];

fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_new_connection_it_says_that_a_setting_of_new_ones_was_not_in_use() {
        let mut both = BeforeAfter::default();
        assert!(text(&both).contains("not in use yet"));
        both.new.connections = 1;
        let text = text(&both);
        assert!(!text.contains("not in use yet"), "{text}");
        assert!(text.contains("They do not show"), "{text}");
    }
}
