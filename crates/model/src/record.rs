//! What a cell hands back: a small description, and a stream of records.
//!
//! A record is a kind, the number of the flow or queue it belongs to, a time and a payload. The
//! guest writes the stream as it is, without computing anything from it, so that looking often
//! stays cheap; the host computes. Truth that no measuring host could see (the state of queues)
//! goes to a stream of its own.

use serde::{Deserialize, Serialize};

use crate::net::Direction;

/// Version of [`Output`] and of the record stream.
pub const OUTPUT_SCHEMA: u32 = 1;

/// First bytes of a record stream: a name and the version.
pub const MAGIC: [u8; 8] = *b"ptwrec\x00\x01";

const HEADER: usize = 16;

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `struct tcp_info` of a sending socket, as the kernel gave it.
    TcpSender = 1,
    /// `struct tcp_info` of a receiving socket, as the kernel gave it.
    TcpReceiver = 2,
    /// State of a queue: a [`QueueSample`].
    Queue = 3,
    /// An answered probe: a [`ProbeSample`].
    Probe = 4,
    /// An interval of a UDP flow: a [`UdpSample`].
    Udp = 5,
    /// A finished request: a [`ShortSample`].
    Short = 6,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::TcpSender,
            2 => Self::TcpReceiver,
            3 => Self::Queue,
            4 => Self::Probe,
            5 => Self::Udp,
            6 => Self::Short,
            _ => return None,
        })
    }
}

/// One record, borrowed from its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// What it holds.
    pub kind: Kind,
    /// Number of the flow or queue it belongs to.
    pub id: u16,
    /// Nanoseconds after the load of the cell started; negative before.
    pub at_ns: i64,
    /// The kind's own bytes.
    pub payload: &'a [u8],
}

/// A stream being written.
#[derive(Debug)]
pub struct Stream(Vec<u8>);

impl Default for Stream {
    fn default() -> Self {
        Self(MAGIC.to_vec())
    }
}

impl Stream {
    /// Appends a record. Payloads are cut at 65535 bytes, which none comes near.
    pub fn push(&mut self, kind: Kind, id: u16, at_ns: i64, payload: &[u8]) {
        let len = payload.len().min(usize::from(u16::MAX));
        self.0.push(kind as u8);
        self.0.push(0);
        self.0.extend_from_slice(&id.to_le_bytes());
        self.0.extend_from_slice(&(len as u32).to_le_bytes());
        self.0.extend_from_slice(&at_ns.to_le_bytes());
        self.0.extend_from_slice(&payload[..len]);
    }

    /// Appends a record of plain numbers.
    pub fn push_words(&mut self, kind: Kind, id: u16, at_ns: i64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.push(kind, id, at_ns, &bytes);
    }

    /// The stream's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Why a stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// Not a record stream, or one of another version.
    #[error("not a record stream of this version: it starts with {0:?}")]
    Magic(Vec<u8>),
    /// The stream ends inside a record.
    #[error("the record stream is cut off at byte {0}")]
    Cut(usize),
    /// A kind that this version does not know.
    #[error("unknown record kind {kind} at byte {at}")]
    Kind {
        /// The kind's number.
        kind: u8,
        /// Where.
        at: usize,
    },
}

/// The records of a stream; ends after the first error.
pub fn records(bytes: &[u8]) -> Result<Records<'_>, StreamError> {
    match bytes.strip_prefix(&MAGIC) {
        Some(_) => Ok(Records {
            bytes,
            at: MAGIC.len(),
        }),
        None => Err(StreamError::Magic(bytes[..bytes.len().min(8)].to_vec())),
    }
}

/// Iterator over a stream; see [`records`].
#[derive(Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let rest = self.bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let record = read(rest, at);
        self.at = match &record {
            Ok(record) => at + HEADER + record.payload.len(),
            Err(_) => self.bytes.len(),
        };
        Some(record)
    }
}

fn read(rest: &[u8], at: usize) -> Result<Record<'_>, StreamError> {
    let header = rest.first_chunk::<HEADER>().ok_or(StreamError::Cut(at))?;
    let [kind, _, i0, i1, l0, l1, l2, l3, time @ ..] = *header;
    let kind = Kind::from_byte(kind).ok_or(StreamError::Kind { kind, at })?;
    let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    let payload = rest[HEADER..].get(..len).ok_or(StreamError::Cut(at))?;
    Ok(Record {
        kind,
        id: u16::from_le_bytes([i0, i1]),
        at_ns: i64::from_le_bytes(time),
        payload,
    })
}

/// Declares a record payload that is a row of 64-bit words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name { $($(#[$field_doc])* pub $field: u64),+ }

        impl $name {
            /// The payload as it is written.
            pub fn words(&self) -> Vec<u64> {
                vec![$(self.$field),+]
            }

            /// Reads a payload; fields that a shorter one lacks are 0.
            pub fn read(payload: &[u8]) -> Self {
                let words = payload.as_chunks().0;
                let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
                Self { $($field: words.next().unwrap_or(0)),+ }
            }
        }
    };
}

words! {
    /// State of a queue at one moment; counters run from the start of the cell.
    QueueSample {
        /// Bytes waiting.
        backlog_bytes,
        /// Packets waiting.
        packets_waiting,
        /// Bytes that left it.
        bytes,
        /// Packets that left it.
        packets,
        /// Packets dropped.
        drops,
        /// Packets marked with ECN.
        marks,
        /// Delay the queue's own controller last saw in its (first, classic) queue, ns.
        delay_ns,
        /// The same in the low-latency queue, if it has one, ns.
        delay_l4s_ns,
    }
}

words! {
    /// An answered probe; the record's time is when it was sent.
    ProbeSample {
        /// Number of the probe, from 0.
        seq,
        /// Round trip, ns.
        rtt_ns,
    }
}

words! {
    /// What a UDP receiver counted so far; the record's time is when it looked.
    UdpSample {
        /// Datagrams received.
        received,
        /// Payload bytes received.
        bytes,
        /// Highest sequence number seen, plus one.
        highest,
        /// Datagrams with a lower number than one before.
        reordered,
        /// Datagrams seen before.
        duplicates,
        /// Jitter by RFC 3550 section 6.4.1, ns.
        jitter_ns,
    }
}

words! {
    /// A finished request; the record's time is when the client began to connect.
    ShortSample {
        /// Until the connection stood, ns.
        connect_ns,
        /// Until the last byte had come, ns.
        complete_ns,
        /// Bytes transferred.
        bytes,
    }
}

/// The description that goes with the streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// [`OUTPUT_SCHEMA`] of the guest.
    pub schema: u32,
    /// What went wrong; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Release of the kernel the cell ran on.
    pub kernel: String,
    /// Virtual time from boot to the end, ns.
    pub virtual_ns: u64,
    /// Virtual time from boot to the first packet, ns.
    pub ready_ns: u64,
    /// The flows, in the order of their numbers.
    pub flows: Vec<Flow>,
    /// The queues that were sampled, in the order of their numbers.
    pub queues: Vec<QueueInfo>,
    /// Sending times of all probes, ns after the load started; answered or not.
    pub probes_sent_ns: Vec<i64>,
    /// Losses after the bottleneck that were made on purpose: what came in, what was dropped.
    pub losses: Vec<LossTruth>,
    /// Increase of named counters of the hosts during the cell.
    pub counters: std::collections::BTreeMap<String, u64>,
}

/// What is known of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Number in the records.
    pub id: u16,
    /// Competing traffic group, from 0; absent = the measured traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<usize>,
    /// Direction of its data.
    pub direction: Direction,
    /// Kind, by the spec's name.
    pub kind: String,
    /// Congestion control that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_requested: Option<String>,
    /// Congestion control the socket had at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// Why it did not run as asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Datagrams sent, for UDP, and when the first and last of them went, ns after load start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_sent: Option<u64>,
}

/// What is known of one sampled queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueInfo {
    /// Number in the records.
    pub id: u16,
    /// Where it is: `bottleneck` or the name of an end.
    pub place: String,
    /// Direction of the packets in it.
    pub direction: Direction,
    /// The kernel's name of its kind.
    pub kind: String,
    /// Rate at which it drains, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
}

/// What a loss stage did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossTruth {
    /// Direction of the packets.
    pub direction: Direction,
    /// Which stage: `loss` or `policer`.
    pub stage: String,
    /// Packets that came in.
    pub packets: u64,
    /// Packets that were dropped.
    pub drops: u64,
}
