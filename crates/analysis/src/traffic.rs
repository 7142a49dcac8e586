//! Totals of the connections that a host has anyway, before and after a change of its settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use model::observation::{Observation, ObservedSocket, Verdict};

use crate::flow;

/// Totals of connections that were not idle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Number of connections.
    pub connections: usize,
    /// Acknowledged payload of all, bit/s.
    pub goodput_out_bps: f64,
    /// Payload received by all, bit/s.
    pub goodput_in_bps: f64,
    /// Retransmitted bytes as a share of the bytes that all sent ([`flow::retransmitted`]); absent
    /// if none sent.
    pub retransmission_rate: Option<f64>,
    /// Median over the connections that sent of their RTT, us.
    pub rtt_us: Option<f64>,
    /// Median of their RTT over its minimum.
    pub rtt_over_min: Option<f64>,
    /// Retransmission timeouts of all.
    pub timeouts: u64,
    /// Number of connections by congestion control.
    pub congestion_controls: BTreeMap<String, usize>,
}

/// Connections before a change, and after it: remaining and new ones. A setting for new sockets
/// affects only the latter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeAfter {
    /// All before the change.
    pub before: Totals,
    /// Connections of before that remain after it.
    pub remaining: Totals,
    /// After it, those opened since.
    pub new: Totals,
}

/// Compares two observations of one host.
pub fn before_and_after(before: &Observation, after: &Observation) -> BeforeAfter {
    let ends = |s: &ObservedSocket| (s.local, s.remote);
    let known: BTreeSet<(SocketAddr, SocketAddr)> = before.sockets.iter().map(ends).collect();
    let (remaining, new): (Vec<_>, Vec<_>) =
        after.sockets.iter().partition(|s| known.contains(&ends(s)));
    BeforeAfter {
        before: totals(before.sockets.iter()),
        remaining: totals(remaining.into_iter()),
        new: totals(new.into_iter()),
    }
}

/// Totals of connections; idle ones are left out.
pub fn totals<'a>(sockets: impl Iterator<Item = &'a ObservedSocket>) -> Totals {
    let all: Vec<&ObservedSocket> = sockets.filter(|s| s.verdict != Verdict::Idle).collect();
    let sending = || {
        all.iter()
            .filter(|s| s.goodput_out_bps.is_some_and(|b| b > 0.0))
    };
    let sum = |of: fn(&ObservedSocket) -> Option<f64>| all.iter().filter_map(|s| of(s)).sum();
    let median = |of: fn(&ObservedSocket) -> Option<f64>| {
        let values: Vec<f64> = sending().filter_map(|s| of(s)).collect();
        stats::median(&values)
    };
    let mut congestion_controls = BTreeMap::new();
    for cc in all.iter().filter_map(|s| s.cc.clone()) {
        *congestion_controls.entry(cc).or_insert(0) += 1;
    }
    let bytes = |s: &ObservedSocket| Some((s.retransmitted_bytes? as f64, s.sent_bytes? as f64));
    let (again, sent) = all
        .iter()
        .filter_map(|s| bytes(s))
        .fold((0.0, 0.0), |(again, sent), s| (again + s.0, sent + s.1));
    Totals {
        connections: all.len(),
        goodput_out_bps: sum(|s| s.goodput_out_bps),
        goodput_in_bps: sum(|s| s.goodput_in_bps),
        retransmission_rate: flow::retransmitted(again, sent),
        rtt_us: median(|s| s.rtt_us),
        rtt_over_min: median(|s| s.rtt_over_min),
        timeouts: all.iter().filter_map(|s| s.timeouts).sum(),
        congestion_controls,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn observation(sockets: &str) -> Observation {
        let json = format!(
            r#"{{"schema":1,"filter":{{}},"dumps":3,"observed_us":1000000,"cut_short":false,
            "left_out":0,"sockets":[{sockets}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn socket(port: u16, cc: &str, verdict: &str, mbit: u32, again: u32, rtt: u32) -> String {
        format!(
            r#"{{"local":"10.0.0.1:{port}","remote":"10.0.0.2:80","verdict":"{verdict}",
            "because":"busy","because_threshold":0.0,"cc":"{cc}","uid":0,"samples":3,"observed_us":1000000,"ended":false,
            "goodput_out_bps":{mbit}e6,"retransmitted_bytes":{again},"sent_bytes":{sent},"rtt_us":{rtt}.0}}"#,
            sent = mbit * 125_000 + again
        )
    }

    #[test]
    fn connections_opened_since_the_change_are_apart_from_those_before() {
        let before = observation(&[socket(1, "cubic", "loss_or_path", 8, 0, 100)].join(","));
        let after = observation(
            &[
                socket(1, "cubic", "loss_or_path", 8, 0, 100),
                socket(2, "bbr", "loss_or_path", 16, 0, 300),
                socket(3, "bbr", "loss_or_path", 8, 3_000_000, 500),
                socket(4, "bbr", "idle", 0, 0, 9),
            ]
            .join(","),
        );
        let both = before_and_after(&before, &after);
        assert_eq!(both.before, both.remaining);
        assert_eq!(both.new.connections, 2, "an idle one shows nothing");
        assert_eq!(both.new.congestion_controls["bbr"], 2);
        assert_eq!(both.new.rtt_us, Some(400.0));
        // 3 MB again beside 3 MB delivered: 24 Mbit in one second.
        assert_eq!(both.new.retransmission_rate, Some(0.5));
        assert_eq!(both.new.goodput_out_bps, 24e6);
    }

    #[test]
    fn nothing_sent_has_no_rate_of_retransmission() {
        assert_eq!(totals([].iter()).retransmission_rate, None);
    }
}
