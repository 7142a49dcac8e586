//! Keys of samples: which measurement a sample repeats.

mod name;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    net::{Direction, IpVersion, Layer},
    text,
    text::{Text, Value},
    units::{Bytes, Rate},
};

pub use name::UnknownKey;

/// Identifies a measurement: samples with the same key are repeats of each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Kind of step.
    pub step: StepKind,
    /// Layer of the traffic.
    pub layer: Layer,
    /// Address family.
    pub family: IpVersion,
    /// Direction of the data; absent for steps that use both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// True if the load ran in both directions at once. Documents of version 1 call it `opposed`.
    #[serde(
        rename = "opposed",
        alias = "bidirectional",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub bidirectional: bool,
    /// Parallel connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<u32>,
    /// Requested congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Requested rate, bit/s of UDP payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Response size, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Kind of step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Idle latency.
    Idle,
    /// UDP sweep over increasing rates.
    UdpSweep,
    /// UDP at one rate.
    Udp,
    /// Bulk TCP.
    Tcp,
    /// Path MTU.
    Pmtu,
    /// Datagrams of several sizes.
    Sizes,
    /// Requests, each on its own connection.
    Short,
    /// HTTP/1.1 requests on one connection.
    Http,
    /// Bulk QUIC.
    Quic,
}

impl StepKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Idle,
        Self::UdpSweep,
        Self::Udp,
        Self::Tcp,
        Self::Pmtu,
        Self::Sizes,
        Self::Short,
        Self::Http,
        Self::Quic,
    ];

    /// Its name, which `Display` shows in English.
    pub fn text(self) -> Text {
        match self {
            Self::Idle => text!("idle"),
            Self::UdpSweep => text!("udp-sweep"),
            Self::Udp => text!("udp"),
            Self::Tcp => text!("tcp"),
            Self::Pmtu => text!("pmtu"),
            Self::Sizes => text!("sizes"),
            Self::Short => text!("short"),
            Self::Http => text!("http"),
            Self::Quic => text!("quic"),
        }
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl Key {
    /// The key as text. Its English, which `Display` shows, is the name of the measurement in
    /// tables, test reports and the history; `FromStr` reads it.
    pub fn text(&self) -> Text {
        text!(
            "{layer}/{family} {step}",
            layer = self.layer,
            family = Value::Name(self.family.to_string()),
            step = self.load()
        )
    }

    /// The step and its settings, without the layer and the address family.
    pub fn load(&self) -> Text {
        let settings = [
            self.direction.map(Value::from),
            self.bidirectional.then(|| text!("bidirectional").into()),
            self.flows.map(|n| text!("x{flows}", flows = n).into()),
            self.cc.as_ref().map(Value::from),
            // Spelled as in a spec, in every language.
            self.rate_bps
                .map(|rate| Rate::from_bps(rate).to_string().into()),
            self.bytes.map(|n| Bytes(n).to_string().into()),
        ];
        let join = |key, setting| text!("{key} {setting}", key = key, setting = setting);
        settings.into_iter().flatten().fold(self.step.text(), join)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl From<&Key> for Value {
    fn from(key: &Key) -> Self {
        Self::Text(key.text())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read(text: &str) -> Key {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_document_of_version_1_calls_a_bidirectional_load_opposed() {
        let old = r#"{"step":"tcp","layer":"underlay","family":"v4","direction":"down","opposed":true,"flows":2,"cc":"reno"}"#;
        let key = read(old);
        assert!(key.bidirectional);
        assert_eq!(serde_json::to_string(&key).unwrap(), old);
        assert_eq!(read(&old.replace("opposed", "bidirectional")), key);
        let name = "underlay/v4 tcp down bidirectional x2 reno";
        assert_eq!(key.to_string(), name);
    }

    #[test]
    fn a_name_has_rates_and_sizes_as_a_spec_spells_them() {
        let udp =
            r#"{"step":"udp","layer":"tunnel","family":"v6","direction":"up","rate_bps":50000000}"#;
        assert_eq!(read(udp).to_string(), "tunnel/v6 udp up 50mbit");
        let short = r#"{"step":"short","layer":"tunnel","family":"v6","bytes":100000}"#;
        assert_eq!(read(short).to_string(), "tunnel/v6 short 100kB");
    }

    #[test]
    fn kinds_of_steps_have_names_of_their_own() {
        let names: std::collections::BTreeSet<String> =
            StepKind::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), StepKind::ALL.len());
    }
}
