//! Messages of the control channel: one request, one reply.

use std::net::IpAddr;

use model::{evidence::Evidence, facts::HostFacts, run::Series, text::Text};
use serde::{Deserialize, Serialize};

use super::{Errors, PublicKey, Token, ticket::Secret};

/// A request or a reply with its number. The near end numbers its requests; a reply has the number
/// of the request that it answers, so that it cannot be mistaken for the reply to another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Numbered<M>(
    /// The number: 1 for the first request of a session.
    pub u32,
    /// The message.
    pub M,
);

/// A request of the near end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// The first request.
    Hello {
        /// Version of the near program.
        program: String,
    },
    /// The host's facts, for the path to the peer's address of this connection.
    Facts {
        /// Address of the near end, if it is not the source of this connection.
        toward: Option<IpAddr>,
    },
    /// Start recording the host's counters.
    Mark {
        /// True to profile its processors, too, if permitted.
        hotspots: bool,
    },
    /// The counters' changes since the mark.
    Evidence,
    /// A load or a service to be made ready.
    Open(Order),
    /// The load starts now.
    Start {
        /// The token.
        token: Token,
    },
    /// Ends the load, if it has not ended yet; the reply is its outcome.
    Finish {
        /// The token.
        token: Token,
    },
    /// The slot for loads of clients that watch, until the end of the session; refused as busy
    /// while another session has it. Only of servers with the ability [`SLOT`].
    Slot,
    /// No operation; keeps the connection open.
    Ping,
    /// The end.
    Bye,
}

/// A reply of the far end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// To `hello`.
    Welcome(Welcome),
    /// To `facts`.
    Facts {
        /// The facts.
        facts: Box<HostFacts>,
    },
    /// To `evidence`.
    Evidence {
        /// Changes of the counters.
        evidence: Box<Evidence>,
    },
    /// To `open`.
    Opened {
        /// The token that its connections and datagrams carry.
        token: Token,
        /// Their proof.
        secret: Secret,
        /// Of QUIC: the one key that the far end will show (RFC 7250, Ed25519).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<PublicKey>,
    },
    /// To `finish`.
    Finished {
        /// Its outcome.
        outcome: Box<Outcome>,
    },
    /// Done, without further data.
    Done,
    /// It cannot be done, or not here; the session continues.
    No {
        /// Kind of reason.
        #[serde(default)]
        code: Code,
        /// The reason, for people.
        why: String,
        /// The same as a template with values, for other languages; absent from servers before it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Box<Text>>,
    },
}

/// Kind of reason of a refusal. One unknown to a reader counts as no particular reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A limit of this client.
    Limit,
    /// A limit that others use up: it may be possible later.
    Busy,
    /// An order that makes no sense.
    Order,
    /// This server cannot do it.
    Unable,
    /// Not now: the load is another, or in another state.
    State,
    /// Connections or datagrams of the load did not arrive.
    Missing,
    /// The host refused the operation.
    Host,
    /// Another reason.
    #[default]
    #[serde(other)]
    Other,
}

/// The ability to run an [`Order::Quic`].
pub const QUIC: &str = "quic";
/// The ability to grant a [`Request::Slot`].
pub const SLOT: &str = "slot";

/// The server's first reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Version of the far program.
    pub program: String,
    /// Optional abilities beyond those of every server of this version, such as [`QUIC`].
    #[serde(default)]
    pub abilities: Vec<String>,
    /// Congestion controls it can send with.
    pub congestion: Vec<String>,
    /// Its limits for a client.
    pub limits: Limits,
}

/// Limits of a server for a client. Absent = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Highest rate of all loads of a session together, in each direction, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Longest load, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Bytes of a session in both directions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Connections of one load; a session may have a load of that many in each direction.
    pub flows: u32,
}

/// A load or a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Bulk TCP: the near end makes the connections.
    Tcp(TcpOrder),
    /// Datagrams: the near end shows its address first.
    Udp(UdpOrder),
    /// Replies to probes and to datagrams of any size, until finished.
    Echo,
    /// Responses on separate connections, one request each.
    Short {
        /// Bytes of an answer.
        bytes: u64,
    },
    /// HTTP/1.1 on the data connections.
    Http {
        /// Bytes of an answer.
        bytes: u64,
    },
    /// Bulk QUIC on a UDP socket that has shown its address; the near end connects.
    Quic {
        /// True if the far end sends.
        send: bool,
        /// Sending time after the start, µs.
        duration_us: u64,
        /// From one sample of the connection to the next, µs.
        #[serde(rename = "look_us")]
        sample_us: u64,
    },
}

/// Bulk TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TcpOrder {
    /// True if the far end sends.
    pub send: bool,
    /// Connections.
    pub flows: u16,
    /// Congestion control of the far end, if it sends.
    pub cc: Option<String>,
    /// Sending time after the start, µs.
    pub duration_us: u64,
    /// From one sample of `TCP_INFO` to the next, µs.
    #[serde(rename = "look_us")]
    pub sample_us: u64,
}

/// Datagrams at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpOrder {
    /// True if the far end sends.
    pub send: bool,
    /// Bit/s of payload.
    pub rate_bps: u64,
    /// Payload bytes of a datagram.
    pub payload: u32,
    /// Sending time after the start, µs.
    pub duration_us: u64,
}

/// Outcome of a load on the far end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Of bulk TCP.
    Tcp(TcpOutcome),
    /// Of datagrams, sent or received.
    Udp(UdpOutcome),
    /// Of bulk QUIC.
    Quic(QuicOutcome),
    /// Outcome of replies to probes.
    Echo(EchoOutcome),
    /// Outcome of responses to short requests.
    Short(ShortOutcome),
    /// Outcome of responses to HTTP requests.
    Http(HttpOutcome),
    /// Of a load that was never started.
    Nothing,
}

/// Outcome of replies to probes: empty, since the near end has all counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EchoOutcome {}

/// Outcome of responses on separate connections: empty, since the near end has all counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortOutcome {}

/// Outcome of responses to HTTP requests: empty, since the near end has all counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpOutcome {}

/// Result of bulk TCP at one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpOutcome {
    /// The samples of each connection, by the fields of `TCP_INFO`.
    pub flows: Vec<Series>,
    /// Congestion control of each socket, as the kernel reports it.
    pub cc_used: Vec<String>,
    /// Errors of its connections.
    #[serde(flatten)]
    pub errors: Errors,
}

/// Result of datagrams at one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpOutcome {
    /// Datagrams given to the network, if this end sent.
    pub sent: u64,
    /// Of these, the number that this host refused.
    pub refused: u64,
    /// From the first to the last datagram, sent or received, ns.
    pub span_ns: u64,
    /// Datagrams that arrived, each counted once.
    pub received: u64,
    /// Highest number that arrived, plus one.
    pub highest: u64,
    /// Datagrams that arrived after one with a higher number.
    pub reordered: u64,
    /// Datagrams that arrived twice.
    pub duplicates: u64,
    /// Jitter by RFC 3550, ns.
    pub jitter_ns: u64,
    /// Runs of missing numbers.
    pub loss_runs: u64,
    /// Longest run of losses.
    pub longest_loss: u64,
    /// Highest run of the last part: datagrams received in the second half of the time, for a rate
    /// without the start.
    pub late_received: u64,
    /// Length of that second half, ns.
    pub late_span_ns: u64,
}

/// Result of bulk QUIC at one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuicOutcome {
    /// The samples: `bytes_received`, payload in order; for the sender also the values of the
    /// library.
    pub series: Series,
    /// The library and its congestion control.
    pub cc_used: String,
    /// Errors of its connections.
    #[serde(flatten)]
    pub errors: Errors,
}
