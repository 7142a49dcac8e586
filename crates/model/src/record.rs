//! Results of a cell: a short description and a stream of records.
//!
//! A record has a kind, the number of its flow or queue, a time and a payload. The guest writes raw
//! values, so that frequent sampling stays cheap; the host computes results from them. Truth that
//! no measuring host can see (the state of queues) goes to a separate stream.

mod place;

use serde::{Deserialize, Serialize};

use crate::{net::Direction, text::Text};

pub use place::{FlowKind, LossyStage, QueuePlace};

/// Version of [`Output`] and of the record stream.
pub const OUTPUT_SCHEMA: u32 = 1;

/// Magic bytes of a record stream, with its version.
pub const MAGIC: [u8; 8] = *b"ptwrec\x00\x01";

const HEADER: usize = 16;

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Raw `struct tcp_info` of a sending socket.
    TcpSender = 1,
    /// Raw `struct tcp_info` of a receiving socket.
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

/// One record of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// Kind.
    pub kind: Kind,
    /// Number of the flow or queue it belongs to.
    pub id: u16,
    /// Nanoseconds after the load of the cell started; negative before.
    pub at_ns: i64,
    /// Payload.
    pub payload: &'a [u8],
}

/// Writer of a stream.
#[derive(Debug)]
pub struct Stream(Vec<u8>);

impl Default for Stream {
    fn default() -> Self {
        Self(MAGIC.to_vec())
    }
}

impl Stream {
    /// Appends a record. Payloads are truncated to 65535 bytes, which no kind reaches.
    pub fn push(&mut self, kind: Kind, id: u16, at_ns: i64, payload: &[u8]) {
        let len = payload.len().min(usize::from(u16::MAX));
        self.0.push(kind as u8);
        self.0.push(0);
        self.0.extend_from_slice(&id.to_le_bytes());
        self.0.extend_from_slice(&(len as u32).to_le_bytes());
        self.0.extend_from_slice(&at_ns.to_le_bytes());
        self.0.extend_from_slice(&payload[..len]);
    }

    /// Appends a record whose payload is a list of 64-bit words.
    pub fn push_words(&mut self, kind: Kind, id: u16, at_ns: i64, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.push(kind, id, at_ns, &bytes);
    }

    /// The stream's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Error of reading a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// Not a record stream, or one of another version.
    #[error("not a record stream of this version: it starts with {0:?}")]
    Magic(Vec<u8>),
    /// The stream ends within a record.
    #[error("the record stream is cut off at byte {0}")]
    Cut(usize),
    /// A kind unknown to this version.
    #[error("unknown record kind {kind} at byte {at}")]
    Kind {
        /// The kind's number.
        kind: u8,
        /// Byte offset.
        at: usize,
    },
}

/// Iterates over the records of a stream, up to the first error.
///
/// # Errors
/// The stream does not begin with [`MAGIC`].
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

/// Declares a record payload of 64-bit words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name { $($(#[$field_doc])* pub $field: u64),+ }

        impl $name {
            /// The payload to write.
            pub fn words(&self) -> Vec<u64> {
                vec![$(self.$field),+]
            }

            /// Reads a payload; missing fields are 0.
            pub fn read(payload: &[u8]) -> Self {
                let words = payload.as_chunks().0;
                let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
                Self { $($field: words.next().unwrap_or(0)),+ }
            }
        }
    };
}

words! {
    /// State of a queue; counters start with the cell.
    QueueSample {
        /// Backlog, bytes.
        backlog_bytes,
        /// Backlog, packets.
        packets_waiting,
        /// Dequeued bytes.
        bytes,
        /// Dequeued packets.
        packets,
        /// Dropped packets.
        drops,
        /// ECN-marked packets.
        marks,
        /// Last delay measured by the AQM in its (classic) queue, ns.
        delay_ns,
        /// The same for the L4S queue, if it has one, ns.
        delay_l4s_ns,
    }
}

words! {
    /// An answered probe; the record's time is its sending time.
    ProbeSample {
        /// Number of the probe, from 0.
        seq,
        /// Round trip, ns.
        rtt_ns,
    }
}

words! {
    /// Counters of a UDP receiver at the record's time.
    UdpSample {
        /// Datagrams received.
        received,
        /// Payload bytes received.
        bytes,
        /// Highest sequence number received, plus one.
        highest,
        /// Datagrams received after one with a higher number.
        reordered,
        /// Duplicate datagrams.
        duplicates,
        /// Jitter by RFC 3550 section 6.4.1, ns.
        jitter_ns,
    }
}

words! {
    /// A completed request; the record's time is the start of its connect.
    ShortSample {
        /// Time to connect, ns.
        connect_ns,
        /// Time to the last byte, ns.
        complete_ns,
        /// Bytes transferred.
        bytes,
    }
}

/// Description that accompanies the streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// [`OUTPUT_SCHEMA`] of the guest.
    pub schema: u32,
    /// Error, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// Kernel release.
    pub kernel: String,
    /// Virtual time from boot to the end, ns.
    pub virtual_ns: u64,
    /// Virtual time from boot to the first packet, ns.
    pub ready_ns: u64,
    /// Flows, by number.
    pub flows: Vec<Flow>,
    /// Sampled queues, by number.
    pub queues: Vec<QueueInfo>,
    /// Sending times of all probes, answered or not, ns after the load started.
    pub probes_sent_ns: Vec<i64>,
    /// Counters of the stages that drop packets on purpose.
    pub losses: Vec<LossTruth>,
    /// Increase of host counters during the cell.
    pub counters: std::collections::BTreeMap<String, u64>,
}

/// Counters of a host that show that it ran out of memory for TCP
/// (Documentation/networking/snmp_counter.rst, Linux 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryCounter {
    /// TCP entered the state of memory pressure.
    Pressure,
    /// A receive queue was collapsed to save memory.
    Collapsed,
    /// A packet was dropped because it did not fit the receive queue.
    QueueDrop,
}

impl MemoryCounter {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pressure, Self::Collapsed, Self::QueueDrop];

    /// The kernel's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pressure => "TCPMemoryPressures",
            Self::Collapsed => "TCPRcvCollapsed",
            Self::QueueDrop => "TCPRcvQDrop",
        }
    }
}

impl Output {
    /// Sum of the increases of a counter over all hosts of the cell. Names of counters are those of
    /// the host, of the kernel's table and of the kernel, joined by dots.
    pub fn memory(&self, counter: MemoryCounter) -> u64 {
        let ours = |name: &str| name.rsplit('.').next() == Some(counter.name());
        let of = self.counters.iter().filter(|(name, _)| ours(name));
        of.fold(0, |sum, (_, by)| sum.saturating_add(*by))
    }
}

/// Description of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Number in the records.
    pub id: u16,
    /// Index of the cross traffic group; absent = the measured traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<usize>,
    /// Direction of its data.
    pub direction: Direction,
    /// Kind.
    pub kind: FlowKind,
    /// Requested congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_requested: Option<String>,
    /// Congestion control of the socket at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc_used: Option<String>,
    /// Error of the flow, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// UDP datagrams sent, and the times of the first and last, ns after the load started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp_sent: Option<u64>,
}

/// Description of one sampled queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueInfo {
    /// Number in the records.
    pub id: u16,
    /// Location.
    pub place: QueuePlace,
    /// Direction of the packets in it.
    pub direction: Direction,
    /// Kind, by the kernel's name; possibly unknown to this version.
    pub kind: String,
    /// Rate at which it drains, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
}

/// Counters of a loss stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossTruth {
    /// Direction of the packets.
    pub direction: Direction,
    /// Stage.
    pub stage: LossyStage,
    /// Packets received.
    pub packets: u64,
    /// Dropped packets.
    pub drops: u64,
}

impl LossTruth {
    /// Share of the packets received that it dropped; absent if it received none.
    pub fn share(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.drops as f64 / self.packets as f64)
    }
}
