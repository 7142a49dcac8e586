//! What limits a path, and how that is known: the Findings.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    message::Messages,
    net::{Direction, IpVersion, Layer, Side},
};

/// Version of [`Findings`].
pub const FINDINGS_SCHEMA: u32 = 1;

/// What a Run says of its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`FINDINGS_SCHEMA`] of the writer.
    pub schema: u32,
    /// Version of the program that judged.
    pub program: String,
    /// Name of the Run that was judged.
    pub run: String,
    /// Layer that was judged: the tunnel if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// Address family that was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<IpVersion>,
    /// The whole in one sentence.
    pub summary: String,
    /// What holds; the first is what to deal with first.
    pub findings: Vec<Finding>,
    /// What does not hold, and how that is known.
    #[serde(default)]
    pub ruled_out: Vec<RuledOut>,
    /// What this Run cannot tell, and what would.
    #[serde(default)]
    pub cannot_tell: Vec<CannotTell>,
    /// How the summary was worded; a summary that repeats a finding has its words there.
    #[serde(default, skip_serializing_if = "Messages::is_empty")]
    pub messages: Messages,
}

impl Findings {
    /// The gravest severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }
}

/// One cause that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the cause, such as `receive-window`; each has a page in `docs/causes/`.
    pub code: String,
    /// The cause in a few words.
    pub title: String,
    /// How much it matters.
    pub severity: Severity,
    /// Probability that this cause is there, 0 to 1: what became of findings of this strength on the
    /// corpus.
    pub confidence: f64,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// One sentence with the figures.
    pub says: String,
    /// The figures it rests on.
    pub evidence: Vec<Exhibit>,
    /// What to do.
    pub remedy: Remedy,
    /// Codes of findings that could produce the same picture, and should be dealt with before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What measurement would change or settle this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<String>,
    /// How `says` and `settle` were worded, where they have values in them.
    #[serde(default, skip_serializing_if = "Messages::is_empty")]
    pub messages: Messages,
}

/// Where a finding is. What it does not depend on is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Direction of the data it holds for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The host it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
}

/// How much a cause matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// It costs little, or might under other loads.
    Low,
    /// It costs throughput or latency that people notice.
    Medium,
    /// It is what makes the path slow.
    High,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// One figure of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exhibit {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// What it was held against, in words: `above 15 %`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Whether this figure decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decides: bool,
    /// How it was computed, if it was: the formula, with its source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<String>,
    /// Numbers of the samples in the Run that it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<u32>,
    /// The host whose facts or counters it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Side>,
    /// How `name`, `bound`, `arithmetic` and a `value` of words were worded, where they have values in
    /// them.
    #[serde(default, skip_serializing_if = "Messages::is_empty")]
    pub messages: Messages,
}

/// A value with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "value", rename_all = "snake_case")]
pub enum Value {
    /// Bit/s.
    Bps(f64),
    /// Microseconds.
    Us(f64),
    /// A share, 0 to 1.
    Share(f64),
    /// Bytes.
    Bytes(f64),
    /// A number of something.
    Count(f64),
    /// One value over another.
    Ratio(f64),
    /// A word: a name, a setting.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bps(v) => write!(f, "{} Mbit/s", digits(v / 1e6)),
            Self::Us(v) => write!(f, "{} ms", digits(v / 1e3)),
            Self::Share(v) if *v > 0.0 && *v < 1e-4 => write!(f, "{:.4} %", v * 100.0),
            Self::Share(v) => write!(f, "{} %", digits(v * 100.0)),
            Self::Bytes(v) if *v >= 1e6 => write!(f, "{} MB", digits(v / 1e6)),
            Self::Bytes(v) if *v >= 1e4 => write!(f, "{} kB", digits(v / 1e3)),
            Self::Bytes(v) => write!(f, "{v:.0} bytes"),
            Self::Count(v) => f.write_str(&digits(*v)),
            Self::Ratio(v) => write!(f, "{} times", digits(*v)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Three digits, and no more of a fraction than they need.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    // What rounds to nothing has no sign.
    let value = if value.abs() < 0.0005 { 0.0 } else { value };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// What to do about a cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// Kind of the remedy.
    pub class: RemedyClass,
    /// What to do, in one sentence.
    pub what: String,
    /// The host to do it on; absent = neither of the two ends, or none in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Side>,
    /// Why there, and why not elsewhere.
    pub why_there: String,
}

/// Kind of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemedyClass {
    /// Nothing to do.
    None,
    /// Get a direct connection in place of a relay.
    DirectConnection,
    /// Another implementation of the tunnel, or a newer one.
    TunnelSoftware,
    /// Larger socket buffers.
    Buffers,
    /// A larger limit of a queue on a host.
    QueueLimit,
    /// Switch an offload, or change the kernel or driver.
    Offload,
    /// MTU of the tunnel, or the MSS announced.
    Mtu,
    /// Spread or lower the processor's work.
    Processor,
    /// Change the program that sends or receives.
    Application,
    /// Queue management, with a shaper where the bottleneck is elsewhere.
    QueueManagement,
    /// Another port or protocol, or a shaper below the limit.
    AvoidLimit,
    /// Several connections at once.
    MoreFlows,
    /// The cause of reordering: links and queues in parallel.
    Ordering,
    /// Another congestion control at the sender.
    CongestionControl,
    /// The radio link: cable, channel, power saving.
    Radio,
    /// A kernel parameter back to its default.
    Settings,
    /// The line itself, or who runs it.
    Line,
}

/// A cause that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// Code of the cause.
    pub code: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// Why not, with the figure.
    pub why: String,
    /// How `why` was worded, if it has values in it.
    #[serde(default, skip_serializing_if = "Messages::is_empty")]
    pub messages: Messages,
}

/// A cause that can be neither shown nor ruled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CannotTell {
    /// Code of the cause.
    pub code: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// What is missing, or contradicts.
    pub because: String,
    /// What measurement would settle it.
    pub settle: String,
    /// How `because` and `settle` were worded, where they have values in them.
    #[serde(default, skip_serializing_if = "Messages::is_empty")]
    pub messages: Messages,
}

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FindingsError {
    /// Not Findings at all.
    #[error("not findings: {0}")]
    Format(#[from] serde_json::Error),
    /// Made by a later version.
    #[error(
        "the findings have schema {0}, and this program knows up to {FINDINGS_SCHEMA}: update pathtwin"
    )]
    Newer(u32),
}

impl Findings {
    /// Reads Findings from JSON.
    pub fn parse(text: &[u8]) -> Result<Self, FindingsError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_slice(text)?;
        if version.schema > FINDINGS_SCHEMA {
            return Err(FindingsError::Newer(version.schema));
        }
        Ok(serde_json::from_slice(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits() {
        assert_eq!(Value::Bps(37_840_000.0).to_string(), "37.8 Mbit/s");
        assert_eq!(Value::Bps(947_100_000.0).to_string(), "947 Mbit/s");
        assert_eq!(Value::Us(24_000.0).to_string(), "24 ms");
        assert_eq!(Value::Share(0.0002).to_string(), "0.02 %");
        assert_eq!(Value::Share(0.00002).to_string(), "0.0020 %");
        assert_eq!(Value::Bytes(430_000.0).to_string(), "430 kB");
        assert_eq!(Value::Count(7546.0).to_string(), "7546");
    }

    #[test]
    fn nothing_is_not_minus_nothing() {
        assert_eq!(Value::Us(-0.3).to_string(), "0 ms");
        assert_eq!(Value::Us(-6.0).to_string(), "-0.006 ms");
    }
}
