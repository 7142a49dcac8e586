//! Queue disciplines as settings: `fq_codel target=5ms ecn=on`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use super::SettingError;
use crate::{
    remedy::Discipline,
    spec::quantity,
    units::{Bytes, Rate, show_duration},
};

/// A root queue discipline with options; absent options are the kernel's defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "snake_case")]
pub enum Queue {
    /// Fair queueing with pacing.
    Fq(Fq),
    /// Fair queueing with CoDel.
    FqCodel(FqCodel),
    /// CAKE.
    Cake(Cake),
    /// A token bucket with a queue in it.
    Htb(Htb),
    /// First in, first out.
    Pfifo {
        /// Packets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_packets: Option<u32>,
    },
    /// First in, first out, limited in bytes.
    Bfifo {
        /// Bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_bytes: Option<u32>,
    },
}

/// Options of fq.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fq {
    /// Packets in all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_packets: Option<u32>,
    /// Packets of one flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_limit_packets: Option<u32>,
}

/// Options of fq_codel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FqCodel {
    /// Packets in all flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_packets: Option<u32>,
    /// Acceptable standing delay, us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_us: Option<u32>,
    /// Time for an end to react, us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_us: Option<u32>,
    /// True if packets are marked rather than dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
}

/// Options of cake.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cake {
    /// Rate of its shaper, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Round-trip time it is tuned for, us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<u32>,
    /// Bytes that the line adds to a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_bytes: Option<i32>,
    /// True if addresses behind the host's own NAT are looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat: Option<bool>,
    /// True if dropped packets count as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<bool>,
}

/// A shaper for disciplines without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Htb {
    /// Rate of the bucket, bit/s.
    pub rate_bps: u64,
    /// The queue in it.
    pub queue: Discipline,
}

impl Htb {
    /// Quantum of its class, bytes: only shares among classes depend on it, and the kernel warns of
    /// large ones.
    pub const QUANTUM_BYTES: u32 = 1514;

    /// Bytes of the bucket: a millisecond of the rate, as in sqm-scripts, since timers of busy
    /// hosts expire late and time missed by a smaller bucket is lost for good.
    pub fn burst_bytes(&self) -> u32 {
        const PACKET: u64 = 1600;
        (self.rate_bps / 8000).clamp(PACKET, u32::MAX.into()) as u32
    }
}

impl Queue {
    /// A shaper with a queue. CAKE shapes by itself; other queues are placed below htb.
    pub fn shaper(rate_bps: u64, queue: Discipline) -> Self {
        match queue {
            Discipline::Cake => Self::Cake(Cake {
                rate_bps: Some(rate_bps),
                ..Cake::default()
            }),
            Discipline::Fq | Discipline::FqCodel => Self::Htb(Htb { rate_bps, queue }),
        }
    }

    /// The rate it shapes to, bit/s.
    pub fn rate_bps(&self) -> Option<u64> {
        match self {
            Self::Cake(cake) => cake.rate_bps,
            Self::Htb(htb) => Some(htb.rate_bps),
            _ => None,
        }
    }

    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fq(_) => "fq",
            Self::FqCodel(_) => "fq_codel",
            Self::Cake(_) => "cake",
            Self::Htb(_) => "htb",
            Self::Pfifo { .. } => "pfifo",
            Self::Bfifo { .. } => "bfifo",
        }
    }

    /// Options as `tc` names them, with values.
    pub(super) fn options(&self) -> Vec<(&'static str, String)> {
        let number = |v: Option<u32>| v.map(|v| v.to_string());
        let time = |v: Option<u32>| v.map(|us| show_duration(Duration::from_micros(us.into())));
        let switch = |v: Option<bool>| v.map(|on| if on { "on" } else { "off" }.to_owned());
        let all: Vec<(&str, Option<String>)> = match self {
            Self::Fq(q) => vec![
                ("limit", number(q.limit_packets)),
                ("flow_limit", number(q.flow_limit_packets)),
            ],
            Self::FqCodel(q) => vec![
                ("limit", number(q.limit_packets)),
                ("target", time(q.target_us)),
                ("interval", time(q.interval_us)),
                ("ecn", switch(q.ecn)),
            ],
            Self::Cake(q) => vec![
                ("bandwidth", q.rate_bps.map(exact)),
                ("rtt", time(q.rtt_us)),
                ("overhead", q.overhead_bytes.map(|v| v.to_string())),
                ("nat", switch(q.nat)),
                ("ingress", switch(q.ingress)),
            ],
            Self::Htb(q) => vec![
                ("rate", Some(exact(q.rate_bps))),
                ("queue", Some(q.queue.name().to_owned())),
            ],
            Self::Pfifo { limit_packets } => vec![("limit", number(*limit_packets))],
            Self::Bfifo { limit_bytes } => vec![("limit", number(*limit_bytes))],
        };
        let given = |(name, value): (&'static str, Option<String>)| Some((name, value?));
        all.into_iter().filter_map(given).collect()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match (self, name) {
            (Self::Fq(q), "limit") => q.limit_packets = Some(count(value)?),
            (Self::Fq(q), "flow_limit") => q.flow_limit_packets = Some(count(value)?),
            (Self::FqCodel(q), "limit") => q.limit_packets = Some(count(value)?),
            (Self::FqCodel(q), "target") => q.target_us = Some(micros(value)?),
            (Self::FqCodel(q), "interval") => q.interval_us = Some(micros(value)?),
            (Self::FqCodel(q), "ecn") => q.ecn = Some(switch(value)?),
            (Self::Cake(q), "bandwidth") => q.rate_bps = Some(quantity::rate(value)?.bps()),
            (Self::Cake(q), "rtt") => q.rtt_us = Some(micros(value)?),
            (Self::Cake(q), "overhead") => q.overhead_bytes = Some(overhead(value)?),
            (Self::Cake(q), "nat") => q.nat = Some(switch(value)?),
            (Self::Cake(q), "ingress") => q.ingress = Some(switch(value)?),
            (Self::Htb(q), "rate") => q.rate_bps = quantity::rate(value)?.bps(),
            (Self::Htb(q), "queue") => q.queue = inside(value)?,
            (Self::Pfifo { limit_packets }, "limit") => *limit_packets = Some(count(value)?),
            (Self::Bfifo { limit_bytes }, "limit") => *limit_bytes = Some(count(value)?),
            (queue, _) => {
                return Err(SettingError::NoOption {
                    queue: queue.name(),
                    option: name.to_owned(),
                    valid: queue.names(),
                });
            }
        }
        Ok(())
    }

    fn names(&self) -> &'static [&'static str] {
        match self {
            Self::Fq(_) => &["limit", "flow_limit"],
            Self::FqCodel(_) => &["limit", "target", "interval", "ecn"],
            Self::Cake(_) => &["bandwidth", "rtt", "overhead", "nat", "ingress"],
            Self::Htb(_) => &["rate", "queue"],
            Self::Pfifo { .. } | Self::Bfifo { .. } => &["limit"],
        }
    }
}

impl From<Discipline> for Queue {
    fn from(queue: Discipline) -> Self {
        match queue {
            Discipline::Fq => Self::Fq(Fq::default()),
            Discipline::FqCodel => Self::FqCodel(FqCodel::default()),
            Discipline::Cake => Self::Cake(Cake::default()),
        }
    }
}

impl FromStr for Queue {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let mut words = text.split_whitespace();
        let mut queue = match words.next() {
            Some("fq") => Self::Fq(Fq::default()),
            Some("fq_codel") => Self::FqCodel(FqCodel::default()),
            Some("cake") => Self::Cake(Cake::default()),
            Some("htb") => Self::Htb(Htb {
                rate_bps: 0,
                queue: Discipline::FqCodel,
            }),
            Some("pfifo") => Self::Pfifo {
                limit_packets: None,
            },
            Some("bfifo") => Self::Bfifo { limit_bytes: None },
            Some("dualpi2") => return Err(SettingError::Dualpi2),
            other => {
                return Err(SettingError::Queue(other.unwrap_or_default().to_owned()));
            }
        };
        for word in words {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| SettingError::OptionForm(word.to_owned()))?;
            queue.set(name, value)?;
        }
        if queue.rate_bps() == Some(0) {
            return Err(SettingError::ShaperRate(text.to_owned()));
        }
        Ok(queue)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (name, value) in self.options() {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

/// A rate in the largest unit that divides it.
fn exact(bps: u64) -> String {
    Rate::from_bps(bps).to_string()
}

/// A number, or a size of bytes.
fn count(text: &str) -> Result<u32, SettingError> {
    let wrong = || SettingError::Count(text.to_owned());
    let value = text
        .parse::<u64>()
        .or_else(|_| quantity::size(text).map(|Bytes(b)| b))
        .map_err(|_| wrong())?;
    u32::try_from(value)
        .ok()
        .filter(|&v| v > 0)
        .ok_or_else(wrong)
}

fn micros(text: &str) -> Result<u32, SettingError> {
    let span = quantity::duration(text)?;
    u32::try_from(span.as_micros())
        .ok()
        .filter(|&us| us > 0 && span.subsec_nanos().is_multiple_of(1000))
        .ok_or_else(|| SettingError::Micros(text.to_owned()))
}

fn inside(text: &str) -> Result<Discipline, SettingError> {
    match text {
        "fq" => Ok(Discipline::Fq),
        "fq_codel" => Ok(Discipline::FqCodel),
        _ => Err(SettingError::HtbQueue(text.to_owned())),
    }
}

fn switch(text: &str) -> Result<bool, SettingError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(SettingError::Switch(text.to_owned())),
    }
}

/// The kernel's bounds (net/sched/sch_cake.c: `cake_policy` and `cake_change`, Linux 7.2).
fn overhead(text: &str) -> Result<i32, SettingError> {
    text.parse()
        .ok()
        .filter(|v| (-64..=256).contains(v))
        .ok_or_else(|| SettingError::Overhead(text.to_owned()))
}
