//! Parameters of a test: the JSON object that a client sends first.

use std::fmt;

use model::{net::LoadDirection, text, text::Text};
use serde_json::{Map, Value, json};
use traffic::admission;

use super::{
    number::{flag, integer},
    protocol::ProtocolError,
};

/// Version that is sent to the server, which does nothing with it.
const VERSION: &str = concat!("pathtwin ", env!("CARGO_PKG_VERSION"));

/// Transport of the data streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Parameters of a test, within the ranges that iperf3 allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Transport of the data streams.
    pub protocol: Protocol,
    /// Sending end: up the client, down the server (`-R`), or both over separate streams
    /// (`--bidir`).
    pub direction: LoadDirection,
    /// Streams in each direction, 1 to 128.
    pub parallel: u32,
    /// Start of the test that is not counted, s, up to 600.
    pub omit_s: u32,
    /// Length of the test, s, up to 86400; absent = until the bytes are sent.
    pub time_s: Option<u32>,
    /// Bytes to send in each direction, over all streams.
    pub bytes: Option<u64>,
    /// The same in blocks.
    pub blocks: Option<u64>,
    /// Bytes of a write or of a datagram's payload; absent = the default.
    pub len: Option<u32>,
    /// Rate of each stream, bit/s; absent = unlimited.
    pub rate_bps: Option<u64>,
    /// Pacing rate of each socket, bit/s.
    pub fq_rate_bps: Option<u64>,
    /// Size of the sockets' buffers, bytes.
    pub window: Option<u32>,
    /// Largest TCP segment, bytes.
    pub mss: Option<u32>,
    /// Type of service.
    pub tos: Option<u8>,
    /// Small writes are sent at once.
    pub nodelay: bool,
    /// Congestion control, by its kernel name.
    pub congestion: Option<String>,
    /// Datagrams have numbers of 64 bits.
    pub counters_64bit: bool,
}

impl Default for Params {
    /// One TCP stream from the client for 10 s, as iperf3 without options.
    fn default() -> Self {
        Self {
            protocol: Protocol::Tcp,
            direction: LoadDirection::Up,
            parallel: 1,
            omit_s: 0,
            time_s: Some(10),
            bytes: None,
            blocks: None,
            len: None,
            rate_bps: None,
            fq_rate_bps: None,
            window: None,
            mss: None,
            tos: None,
            nodelay: false,
            congestion: None,
            counters_64bit: false,
        }
    }
}

/// Reason why a server refuses a test with the parameters of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// Something else than parameters was received.
    Unreadable(ProtocolError),
    /// JSON, but no object.
    NotAnObject,
    /// A value that iperf3 does not allow.
    Range {
        /// Its key.
        key: &'static str,
        /// The value.
        value: Value,
        /// Least that is allowed.
        least: u64,
        /// Most that is allowed.
        most: u64,
        /// The number that iperf3 has for it.
        code: i32,
    },
    /// A transport that is not implemented here.
    Sctp,
    /// A transport that is not implemented here.
    Mptcp,
    /// Two directions that exclude each other.
    ReverseBidirectional,
    /// More streams than this server allows.
    Streams {
        /// Requested streams in each direction.
        asked: u32,
        /// The limit.
        most: u32,
    },
    /// UDP at any rate, where the rate is limited.
    NoRate {
        /// The limit, bit/s.
        most: u64,
    },
    /// A higher rate than this server allows.
    Rate {
        /// The rate of all streams together, bit/s.
        asked: u64,
        /// The limit, bit/s.
        most: u64,
    },
    /// A limit on the use by clients.
    Limit(admission::Refused),
}

impl Refused {
    /// The reason with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Unreadable(error) => text!(
                "the parameters cannot be read: {error}",
                error = error.text()
            ),
            Self::NotAnObject => text!("the parameters are not a JSON object"),
            Self::Range {
                key,
                value,
                least,
                most,
                ..
            } => text!(
                "`{key}` is {value}; it must be in {least} to {most}",
                key = *key,
                value = value.to_string(),
                least = *least,
                most = *most
            ),
            Self::Sctp => text!("SCTP is not supported: use TCP or UDP"),
            Self::Mptcp => text!("MPTCP is not supported: use TCP or UDP"),
            Self::ReverseBidirectional => {
                text!("reverse and bidirectional exclude each other: use one of them")
            }
            Self::Streams { asked, most } => text!(
                "{asked} streams were requested and {most} are allowed: give fewer with -P",
                asked = *asked,
                most = *most
            ),
            Self::NoRate { most } => text!(
                "UDP without a rate, where {most} bit/s are allowed: give one with -b",
                most = *most
            ),
            Self::Rate { asked, most } => text!(
                "{asked} bit/s were requested and {most} bit/s are allowed: give less with -b",
                asked = *asked,
                most = *most
            ),
            Self::Limit(why) => why.text(),
        }
    }

    /// The number by which the client learns of it (`enum` in src/iperf_api.h, iperf 3.21).
    pub fn code(&self) -> i32 {
        use admission::{Refused as Why, Resource};
        match self {
            Self::Unreadable(_) | Self::NotAnObject => code::PARAMS,
            Self::Range { code, .. } => *code,
            Self::Sctp => code::SCTP,
            Self::Mptcp => code::UNIMPLEMENTED,
            Self::ReverseBidirectional => code::REVERSE_BIDIR,
            Self::Streams { .. } => code::STREAMS,
            Self::NoRate { .. } | Self::Rate { .. } => code::TOTAL_RATE,
            Self::Limit(Why::Time { .. }) => code::TOO_LONG,
            Self::Limit(Why::Limit { resource, .. }) => match resource {
                Resource::Connections => code::STREAMS,
                Resource::SendRate | Resource::ReceiveRate => code::TOTAL_RATE,
                _ => code::CREATE_STREAM,
            },
            Self::Limit(Why::Bytes | Why::MoreBytes { .. }) => code::TOTAL_RATE,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Refused {}

impl From<admission::Refused> for Refused {
    fn from(why: admission::Refused) -> Self {
        Self::Limit(why)
    }
}

/// Numbers of errors (`enum` in src/iperf_api.h, iperf 3.21).
pub(super) mod code {
    pub(crate) const DURATION: i32 = 5;
    pub(crate) const STREAMS: i32 = 6;
    pub(crate) const BLOCK: i32 = 7;
    pub(crate) const BUFFER: i32 = 8;
    pub(crate) const MSS: i32 = 10;
    pub(crate) const OMIT: i32 = 12;
    pub(crate) const UNIMPLEMENTED: i32 = 13;
    pub(crate) const SCTP: i32 = 18;
    pub(crate) const UDP_BLOCK: i32 = 20;
    pub(crate) const TOS: i32 = 21;
    pub(crate) const REVERSE_BIDIR: i32 = 25;
    pub(crate) const TOTAL_RATE: i32 = 27;
    pub(crate) const TOO_LONG: i32 = 37;
    pub(crate) const PARAMS: i32 = 114;
    pub(crate) const TIME_IS_UP: i32 = 160;
    pub(crate) const CREATE_STREAM: i32 = 200;
    pub(crate) const STREAM: i32 = 206;
}

impl Params {
    /// Parses the parameters from a client. Unknown keys are passed over, as iperf3 does.
    ///
    /// # Errors
    /// It is no object, or one of its values is not allowed.
    pub fn parse(value: &Value) -> Result<Self, Refused> {
        let Value::Object(map) = value else {
            return Err(Refused::NotAnObject);
        };
        let fields = Fields(map);
        let protocol = fields.protocol()?;
        let time = fields.within("time", 0, 86_400, code::DURATION)?;
        let params = Self {
            protocol,
            direction: fields.direction()?,
            parallel: fields
                .within("parallel", 1, 128, code::STREAMS)?
                .unwrap_or(1) as u32,
            omit_s: fields.within("omit", 0, 600, code::OMIT)?.unwrap_or(0) as u32,
            time_s: time.filter(|&s| s > 0).map(|s| s as u32),
            bytes: fields.positive("num", code::PARAMS)?,
            blocks: fields.positive("blockcount", code::PARAMS)?,
            len: fields.len(protocol)?,
            rate_bps: fields.positive("bandwidth", code::PARAMS)?,
            fq_rate_bps: fields.positive("fqrate", code::PARAMS)?,
            window: fields.nonzero("window", 512 << 20, code::BUFFER)?,
            mss: fields.nonzero("MSS", 32_767, code::MSS)?,
            tos: fields.nonzero("TOS", 255, code::TOS)?.map(|t| t as u8),
            nodelay: fields.is_true("nodelay"),
            congestion: fields.text("congestion"),
            counters_64bit: map.get("udp_counters_64bit").is_some_and(flag),
        };
        if params.time_s.is_none() && params.bytes.is_none() && params.blocks.is_none() {
            // A client that gives none of them gets the default of iperf3.
            return Ok(Self {
                time_s: Some(10),
                ..params
            });
        }
        Ok(params)
    }

    /// The JSON object that a client sends.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        let protocol = match self.protocol {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        };
        map.insert(protocol.into(), true.into());
        for (key, value) in [
            ("omit", u64::from(self.omit_s)),
            ("time", u64::from(self.time_s.unwrap_or(0))),
            ("num", self.bytes.unwrap_or(0)),
            ("blockcount", self.blocks.unwrap_or(0)),
            ("parallel", u64::from(self.parallel)),
            ("bandwidth", self.rate_bps.unwrap_or(0)),
            ("pacing_timer", 1000),
        ] {
            map.insert(key.into(), value.into());
        }
        // Not sent when absent: newer servers check the range of fields that are present.
        for (key, value) in [
            ("len", self.len.map(u64::from)),
            ("fqrate", self.fq_rate_bps),
            ("window", self.window.map(u64::from)),
            ("MSS", self.mss.map(u64::from)),
            ("TOS", self.tos.map(u64::from)),
        ] {
            if let Some(value) = value {
                map.insert(key.into(), value.into());
            }
        }
        match self.direction {
            LoadDirection::Up => None,
            LoadDirection::Down => map.insert("reverse".into(), true.into()),
            LoadDirection::Both => map.insert("bidirectional".into(), true.into()),
        };
        if self.nodelay {
            map.insert("nodelay".into(), true.into());
        }
        if let Some(name) = &self.congestion {
            map.insert("congestion".into(), json!(name));
        }
        if self.counters_64bit {
            map.insert("udp_counters_64bit".into(), 1.into());
        }
        map.insert("client_version".into(), VERSION.into());
        Value::Object(map)
    }

    /// Bytes to send in each direction, if that is the limit.
    pub fn budget(&self, len: u32) -> Option<u64> {
        let blocks = self.blocks.map(|n| n.saturating_mul(len.into()));
        self.bytes.or(blocks)
    }
}

struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    /// Newer versions of iperf3 pass over a flag that is not a JSON boolean.
    fn is_true(&self, key: &str) -> bool {
        self.0.get(key) == Some(&Value::Bool(true))
    }

    fn protocol(&self) -> Result<Protocol, Refused> {
        if self.is_true("sctp") {
            return Err(Refused::Sctp);
        }
        if self.is_true("mptcp") {
            return Err(Refused::Mptcp);
        }
        Ok(if self.is_true("udp") {
            Protocol::Udp
        } else {
            Protocol::Tcp
        })
    }

    fn direction(&self) -> Result<LoadDirection, Refused> {
        match (self.is_true("reverse"), self.is_true("bidirectional")) {
            (true, true) => Err(Refused::ReverseBidirectional),
            (true, false) => Ok(LoadDirection::Down),
            (false, true) => Ok(LoadDirection::Both),
            (false, false) => Ok(LoadDirection::Up),
        }
    }

    fn len(&self, protocol: Protocol) -> Result<Option<u32>, Refused> {
        let (least, most, code) = match protocol {
            Protocol::Tcp => (1, 1 << 20, code::BLOCK),
            Protocol::Udp => (16, 65_507, code::UDP_BLOCK),
        };
        // 0 is the default.
        let least = if self.0.get("len").and_then(integer) == Some(0) {
            0
        } else {
            least
        };
        let len = self.within("len", least, most, code)?;
        Ok(len.filter(|&len| len != 0).map(|len| len as u32))
    }

    fn within(
        &self,
        key: &'static str,
        least: u64,
        most: u64,
        code: i32,
    ) -> Result<Option<u64>, Refused> {
        let Some(value) = self.0.get(key) else {
            return Ok(None);
        };
        integer(value)
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| (least..=most).contains(n))
            .map(Some)
            .ok_or_else(|| Refused::Range {
                key,
                value: value.clone(),
                least,
                most,
                code,
            })
    }

    /// Absent also when 0.
    fn nonzero(&self, key: &'static str, most: u32, code: i32) -> Result<Option<u32>, Refused> {
        let number = self.within(key, 0, most.into(), code)?;
        Ok(number.filter(|&n| n != 0).map(|n| n as u32))
    }

    /// Absent also when 0.
    fn positive(&self, key: &'static str, code: i32) -> Result<Option<u64>, Refused> {
        let number = self.within(key, 0, i64::MAX as u64, code)?;
        Ok(number.filter(|&n| n != 0))
    }

    fn text(&self, key: &str) -> Option<String> {
        let text = self.0.get(key)?.as_str()?;
        Some(text.to_owned()).filter(|t| !t.is_empty())
    }
}
