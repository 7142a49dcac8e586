//! Parameters of a test: the JSON object that a client sends first.

use model::net::LoadDirection;
use serde_json::{Map, Value, json};

use super::{
    number::{flag, integer},
    refused::{Refused, code},
};

/// Version sent to the server, which ignores it.
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

impl Params {
    /// Parses the parameters from a client. Unknown keys are ignored, as in iperf3.
    ///
    /// # Errors
    /// It is not an object, or one of its values is not allowed.
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
            // A client that sends none of them gets the default of iperf3.
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
