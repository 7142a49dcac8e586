//! Errors of a run against the far end.

use std::{fmt, io, net::SocketAddr};

use model::{
    text,
    text::{Text, Value},
};
use traffic::wire::{ChannelError, message::Code};

/// Failure of the far end, or of this end on the way to it.
#[derive(Debug)]
pub enum FarError {
    /// No connection.
    Connect {
        /// The address.
        address: SocketAddr,
        /// The I/O error.
        source: io::Error,
    },
    /// The control channel.
    Channel(ChannelError),
    /// A reply to another request.
    Reply {
        /// Name of the request.
        request: &'static str,
        /// Fault of the reply.
        source: ChannelError,
    },
    /// The far end refused.
    Refused {
        /// Kind of its reason.
        code: Code,
        /// The reason, as it was sent.
        why: Text,
    },
    /// This host has no way to an address.
    Route {
        /// The address.
        address: SocketAddr,
        /// The I/O error.
        source: io::Error,
    },
    /// This host's kernel does not have, or does not allow, a congestion control.
    Congestion {
        /// Its name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// This end's half of a load.
    Start {
        /// The I/O error.
        source: io::Error,
    },
    /// A plan without any step that iperf3 can run.
    Plan,
    /// Datagrams to the far end, or their replies, are lost.
    Silent {
        /// Destination address.
        address: SocketAddr,
        /// Number of tries.
        tries: u32,
    },
    /// A data connection or socket.
    Data {
        /// The action.
        action: Action,
        /// With whom.
        address: SocketAddr,
        /// The I/O error.
        source: io::Error,
    },
}

impl fmt::Display for FarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for FarError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Channel(source) | Self::Reply { source, .. } => Some(source),
            Self::Connect { source, .. }
            | Self::Route { source, .. }
            | Self::Congestion { source, .. }
            | Self::Start { source }
            | Self::Data { source, .. } => Some(source),
            Self::Refused { .. } | Self::Plan | Self::Silent { .. } => None,
        }
    }
}

impl From<ChannelError> for FarError {
    fn from(error: ChannelError) -> Self {
        Self::Channel(error)
    }
}

/// Action on a data connection or socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open connections.
    Connect,
    /// Open a UDP socket whose address the far end has validated.
    Open,
    /// Send probes.
    Probe,
    /// Send or receive datagrams at a rate.
    Udp,
    /// Exchange datagrams of several sizes.
    Sizes,
    /// Search the path MTU.
    Pmtu,
    /// Make requests.
    Request,
    /// Send or receive by QUIC.
    Quic,
}

impl Action {
    /// The failure of the action.
    fn text(self, address: Value, source: Value) -> Text {
        match self {
            Self::Connect => text!(
                "connect to {address}: {source}",
                address = address,
                source = source
            ),
            Self::Open => text!(
                "open a UDP socket to {address}: {source}",
                address = address,
                source = source
            ),
            Self::Probe => text!(
                "send probes to {address}: {source}",
                address = address,
                source = source
            ),
            Self::Udp => text!(
                "exchange UDP datagrams with {address}: {source}",
                address = address,
                source = source
            ),
            Self::Sizes => text!(
                "exchange datagrams of several sizes with {address}: {source}",
                address = address,
                source = source
            ),
            Self::Pmtu => text!(
                "search the path MTU to {address}: {source}",
                address = address,
                source = source
            ),
            Self::Request => text!(
                "send requests to {address}: {source}",
                address = address,
                source = source
            ),
            Self::Quic => text!(
                "exchange data by QUIC with {address}: {source}",
                address = address,
                source = source
            ),
        }
    }

    /// The error of an action with `address`.
    pub(crate) fn failed(self, address: SocketAddr) -> impl FnOnce(io::Error) -> FarError {
        move |source| FarError::Data {
            action: self,
            address,
            source,
        }
    }
}

impl FarError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Connect { address, source } => text!(
                "connect to {address}: {source}; is `pathtwin serve` running there, and is the port open?",
                address = *address,
                source = source
            ),
            Self::Channel(source) => source.text(),
            Self::Reply { request, source } => text!(
                "the far end's reply to `{request}`: {source}; update the older of the two programs",
                request = *request,
                source = source.text()
            ),
            Self::Refused { why, .. } => text!("the far end: {why}", why = why.clone()),
            Self::Route { address, source } => text!(
                "find a route to {address}: {source}; `ip route get {ip}` shows the kernel's route",
                address = *address,
                source = source,
                ip = address.ip()
            ),
            Self::Congestion { name, source } => text!(
                "set congestion control {name} at this end: {source}; `sysctl net.ipv4.tcp_allowed_congestion_control` lists those that programs may use",
                name = name,
                source = source
            ),
            Self::Start { source } => {
                text!("start the load at this end: {source}", source = source)
            }
            Self::Plan => {
                text!("the plan has no step that iperf3 supports: add one of kind tcp")
            }
            Self::Silent { address, tries } => text!(
                "no answer from {address} to {tries} UDP datagrams; is the UDP port open in every firewall on the path?",
                address = *address,
                tries = *tries
            ),
            Self::Data {
                action,
                address,
                source,
            } => action.text((*address).into(), source.into()),
        }
    }

    /// Returns true if the far end is at its limits because of other clients, which is temporary.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                code: Code::Busy,
                ..
            }
        )
    }

    /// Returns true if the session is over, so that no further step makes sense.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Channel(_) | Self::Reply { .. } | Self::Connect { .. }
        )
    }
}
