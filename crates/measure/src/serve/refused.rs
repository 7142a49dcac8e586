//! Reasons for which the server refuses a request.

use std::{fmt, io, ops::RangeInclusive, time::Duration};

use traffic::{admission, wire::message::Code};

/// Payload of a datagram, bytes: at least its number and time, at most what UDP over IPv4 carries.
pub(super) const PAYLOAD: RangeInclusive<u32> = 17..=65_507;

/// Length of an answer to a request, bytes.
pub(super) const ANSWER: RangeInclusive<u64> = 1..=1 << 30;

/// What belongs to a load and has to arrive before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// TCP connections.
    Connections,
    /// A first datagram, which proves an address.
    Datagrams,
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connections => "connections",
            Self::Datagrams => "datagrams",
        })
    }
}

/// Why the server refuses a request. The session goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// A limit.
    #[error("{0}")]
    Limit(#[from] admission::Refused),
    /// An order of datagrams that cannot be.
    #[error(
        "datagrams of {payload} bytes at {rate_bps} bit/s: one has {} to {} bytes, and a rate is not 0",
        PAYLOAD.start(),
        PAYLOAD.end()
    )]
    Datagrams {
        /// Payload of one, bytes.
        payload: u32,
        /// Their rate, bit/s.
        rate_bps: u64,
    },
    /// An order of answers that cannot be.
    #[error("answers of {bytes} bytes: one has {} to {} bytes", ANSWER.start(), ANSWER.end())]
    Answers {
        /// Length of one, bytes.
        bytes: u64,
    },
    /// An order of more connections than one load may have.
    #[error("a load may have 1 to {most} connections here")]
    Flows {
        /// The limit.
        most: u32,
    },
    /// A rate above the limit.
    #[error("the rate may be {most} bit/s here")]
    Rate {
        /// The limit, bit/s.
        most: u64,
    },
    /// QUIC, where this build has none.
    #[error("this server was built without QUIC")]
    WithoutQuic,
    /// A token of no agreement of this session.
    #[error("no load of this session has this token: it was finished before, or never opened")]
    Unknown,
    /// A load that runs, or has run.
    #[error("this load was started before: a load is started once, open another")]
    Started,
    /// A service, which works from when it is opened.
    #[error("a service is not started: it answers from when it is opened")]
    Service,
    /// Connections or datagrams of a load did not arrive.
    #[error("the {what} of the load did not arrive within {} s", .timeout.as_secs())]
    Missing {
        /// What.
        what: Arrivals,
        /// How long it was waited for.
        timeout: Duration,
    },
    /// Evidence without a mark.
    #[error("there was no `mark` before `evidence`")]
    Unmarked,
    /// The kernel does not have, or does not allow, a congestion control.
    #[error(
        "set congestion control {name}: {source}; `sysctl net.ipv4.tcp_allowed_congestion_control` names what programs may use"
    )]
    Congestion {
        /// Its name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The host did not let a load start.
    #[error("start the load: {0}")]
    Start(io::Error),
    /// The host has no random numbers for a key or a ticket.
    #[error("read random numbers: {0}")]
    Random(io::Error),
}

impl Refused {
    /// What kind of reason it is, for the program at the other end.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Limit(refused) if refused.is_passing() => Code::Busy,
            Self::Limit(_) | Self::Flows { .. } | Self::Rate { .. } => Code::Limit,
            Self::Datagrams { .. } | Self::Answers { .. } => Code::Order,
            Self::WithoutQuic => Code::Unable,
            Self::Unknown | Self::Started | Self::Service | Self::Unmarked => Code::State,
            Self::Missing { .. } => Code::Missing,
            Self::Congestion { .. } | Self::Start(_) | Self::Random(_) => Code::Host,
        }
    }
}
