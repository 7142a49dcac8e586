//! Why a run against the far end fails.

use std::{fmt, io, net::SocketAddr};

use traffic::wire::{ChannelError, message::Code};

/// Why the far end, or this end on the way to it, did not do its part.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// No connection.
    #[error(
        "connect to {address}: {source}; is `pathtwin serve` running there, and is the port open?"
    )]
    Connect {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The control channel.
    #[error("{0}")]
    Channel(#[from] ChannelError),
    /// A reply that does not answer its request.
    #[error("the far end's reply to `{request}`: {source}; update the older of the two programs")]
    Reply {
        /// Name of the request.
        request: &'static str,
        /// What is wrong with the reply.
        source: ChannelError,
    },
    /// The far end said no.
    #[error("the far end: {why}")]
    Refused {
        /// What kind of reason it gave.
        code: Code,
        /// The reason, as it was sent.
        why: String,
    },
    /// This host has no way to an address.
    #[error("find a route to {address}: {source}; `ip route get {}` shows what is known", address.ip())]
    Route {
        /// Where to.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// This host's kernel does not have, or does not allow, a congestion control.
    #[error(
        "set congestion control {name} at this end: {source}; `sysctl net.ipv4.tcp_allowed_congestion_control` names what programs may use"
    )]
    Congestion {
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// This end's half of a load.
    #[error("start the load at this end: {source}")]
    Start {
        /// Why it failed.
        source: io::Error,
    },
    /// A plan of which iperf3 can do nothing.
    #[error("the plan has no step that iperf3 can do: give it one of kind tcp")]
    Plan,
    /// Datagrams to the far end, or their answers, are lost.
    #[error(
        "no answer from {address} to {tries} UDP datagrams; is the UDP port open in every firewall on the way?"
    )]
    Silent {
        /// Where they were sent.
        address: SocketAddr,
        /// How many.
        tries: u32,
    },
    /// A data connection or socket.
    #[error("{action} {address}: {source}")]
    Data {
        /// What was tried.
        action: Action,
        /// With whom.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
}

/// What is done with a data connection or socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open connections.
    Connect,
    /// Open a UDP socket that the far end has seen to receive.
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

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect to",
            Self::Open => "open a UDP socket to",
            Self::Probe => "send probes to",
            Self::Udp => "exchange UDP datagrams with",
            Self::Sizes => "exchange datagrams of several sizes with",
            Self::Pmtu => "search the path MTU to",
            Self::Request => "send requests to",
            Self::Quic => "exchange data by QUIC with",
        })
    }
}

impl Action {
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
    /// Whether the session is over, so that no further step makes sense.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Channel(_) | Self::Reply { .. } | Self::Connect { .. }
        )
    }
}
