//! Figures of the rows of the lab.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::Row;
use crate::{
    run::{Better, Unit},
    text::Text,
};

/// Unknown name of a figure of a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows have no figure {0}")]
pub struct UnknownRowFigure(pub String);

macro_rules! figures {
    ($($variant:ident $name:literal $unit:ident $better:ident $text:literal = $value:expr;)*) => {
        /// A figure of a [`Row`]: a field that is a number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RowFigure {
            $(#[doc = $text] $variant,)*
        }

        impl RowFigure {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name: that of the field.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its unit.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$variant => Unit::$unit,)* }
            }

            /// Its direction of improvement.
            pub const fn better(self) -> Better {
                match self { $(Self::$variant => Better::$better,)* }
            }

            /// Its description: the English text, and the template of its translations.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Its value in a row.
            pub fn of(self, row: &Row) -> Option<f64> {
                let value: fn(&Row) -> Option<f64> = match self { $(Self::$variant => $value,)* };
                value(row)
            }
        }
    };
}

figures! {
    Goodput "goodput_mbps" MegabitsPerSecond Higher
        "goodput" = |row| row.goodput_mbps;
    Retransmits "retransmits" Segments Lower
        "retransmitted segments" = |row| count(row.retransmits);
    Segments "segments" Segments Neither
        "sent segments" = |row| count(row.segments);
    Retransmitted "retransmitted" Share Lower
        "share of the sent bytes that were retransmitted" = |row| row.retransmitted;
    TcpRttP50 "tcp_rtt_p50_ms" Milliseconds Lower
        "the sender's smoothed RTT, median" = |row| row.tcp_rtt_p50_ms;
    CwndP50 "cwnd_p50" Segments Neither
        "congestion window, median" = |row| row.cwnd_p50;
    RwndLimited "rwnd_limited" Share Lower
        "share of the busy time limited by the receive window" = |row| row.rwnd_limited;
    SndbufLimited "sndbuf_limited" Share Lower
        "share of the busy time limited by the send buffer" = |row| row.sndbuf_limited;
    ProbeIdleP50 "probe_idle_p50_ms" Milliseconds Lower
        "idle RTT, median" = |row| row.probe_idle_p50_ms;
    ProbeN "probe_n" Count Neither
        "answered probes under load" = |row| count(row.probe_n);
    ProbeP50 "probe_p50_ms" Milliseconds Lower
        "RTT under load, median" = |row| row.probe_p50_ms;
    ProbeP99 "probe_p99_ms" Milliseconds Lower
        "RTT under load, 99th percentile" = |row| row.probe_p99_ms;
    ProbeLost "probe_lost" Share Lower
        "share of unanswered probes" = |row| row.probe_lost;
    QueueP50 "queue_p50_ms" Milliseconds Lower
        "delay of the bottleneck's queue, median (known only in the lab)" = |row| row.queue_p50_ms;
    QueueP99 "queue_p99_ms" Milliseconds Lower
        "delay of the bottleneck's queue, 99th percentile (known only in the lab)" = |row| row.queue_p99_ms;
    QueueDrops "queue_drops" Packets Lower
        "packets dropped by the bottleneck's queue" = |row| count(row.queue_drops);
    QueueMarks "queue_marks" Packets Neither
        "packets marked by the bottleneck's queue" = |row| count(row.queue_marks);
    TrueLoss "true_loss" Share Lower
        "share of packets lost on the path (known only in the lab)" = |row| row.true_loss;
    UdpLost "udp_lost" Share Lower
        "share of lost datagrams" = |row| row.udp_lost;
    UdpReordered "udp_reordered_n" Packets Lower
        "reordered datagrams" = |row| count(row.udp_reordered_n);
    UdpDuplicates "udp_duplicates" Packets Lower
        "duplicate datagrams" = |row| count(row.udp_duplicates);
    UdpJitter "udp_jitter_ms" Milliseconds Lower
        "jitter of RFC 3550" = |row| row.udp_jitter_ms;
    ShortN "short_n" Count Higher
        "completed exchanges" = |row| count(row.short_n);
    ShortP50 "short_p50_ms" Milliseconds Lower
        "completion time of an exchange, median" = |row| row.short_p50_ms;
    ShortP99 "short_p99_ms" Milliseconds Lower
        "completion time of an exchange, 99th percentile" = |row| row.short_p99_ms;
}

fn count(number: Option<u64>) -> Option<f64> {
    number.map(|number| number as f64)
}

impl RowFigure {
    /// Its description as a text.
    pub const fn words(self) -> Text {
        Text::fixed(self.text())
    }
}

impl std::str::FromStr for RowFigure {
    type Err = UnknownRowFigure;

    fn from_str(name: &str) -> Result<Self, UnknownRowFigure> {
        let found = Self::ALL.iter().find(|figure| figure.name() == name);
        found
            .copied()
            .ok_or_else(|| UnknownRowFigure(name.to_owned()))
    }
}

impl Serialize for RowFigure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for RowFigure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A row in which each number differs from the others.
    fn row() -> serde_json::Value {
        let mut row = serde_json::json!({
            "schema": 1, "name": "t", "factors": {}, "seed": 1, "layer": "underlay",
            "direction": "down", "flows": 1, "valid": true, "kernel": "7.2", "virtual_s": 1.0,
            "digest": "",
        });
        for (number, figure) in RowFigure::ALL.iter().enumerate() {
            row[figure.name()] = (number + 1).into();
        }
        row
    }

    #[test]
    fn the_value_of_a_figure_is_the_field_of_its_name() {
        let document = row();
        let row: Row = serde_json::from_value(document.clone()).unwrap();
        for &figure in RowFigure::ALL {
            let value = document[figure.name()].as_f64();
            assert_eq!(figure.of(&row), value, "{}", figure.name());
            assert_eq!(figure.name().parse(), Ok(figure));
        }
        assert!("luck".parse::<RowFigure>().is_err());
    }

    /// The share was of segments in rows and of bytes in a Run.
    #[test]
    fn the_retransmitted_share_of_a_row_is_not_made_of_its_segments() {
        let mut document = row();
        document["retransmits"] = 1.into();
        document["segments"] = 2.into();
        document["retransmitted"] = 0.125.into();
        let row: Row = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(RowFigure::Retransmitted.of(&row), Some(0.125));
        document.as_object_mut().unwrap().remove("retransmitted");
        let older: Row = serde_json::from_value(document).unwrap();
        assert_eq!(RowFigure::Retransmitted.of(&older), None);
    }

    #[test]
    fn names_of_times_and_rates_end_with_their_units() {
        for figure in RowFigure::ALL {
            assert!(figure.name().ends_with(figure.unit().suffix()));
        }
    }
}
