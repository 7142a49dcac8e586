//! Refusals of a server, with the error numbers sent to the client.

use std::fmt;

use model::{text, text::Text};
use serde_json::Value;
use traffic::admission;

use super::protocol::ProtocolError;

/// Reason why a server refuses a test with the parameters of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The received message is not parameters.
    Unreadable(ProtocolError),
    /// JSON, but no object.
    NotAnObject,
    /// A value that iperf3 does not allow.
    Range {
        /// Its key.
        key: &'static str,
        /// The value.
        value: Value,
        /// Minimum allowed.
        least: u64,
        /// Maximum allowed.
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

    /// The error number sent to the client (`enum` in src/iperf_api.h, iperf 3.21).
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
