//! Why the server does not do what it was asked.

use std::{io, time::Duration};

use traffic::{admission, wire::message::Code};

/// Why the server does not do what it was asked. The session goes on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// A limit.
    #[error("{0}")]
    Limit(#[from] admission::Refused),
    /// An order with values that make no sense.
    #[error("{0}")]
    Order(&'static str),
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
    /// An order that this build cannot carry out.
    #[error("this server does not do that")]
    Unable,
    /// A token of no agreement of this session.
    #[error("no such load")]
    Unknown,
    /// A load that runs, or has run.
    #[error("this load was started before: a load is started once, open another")]
    Started,
    /// A service, which works from when it is opened.
    #[error("there is nothing to start")]
    Service,
    /// What belongs to a load did not come in.
    #[error("its {what} did not arrive within {} s", .timeout.as_secs())]
    Missing {
        /// What.
        what: &'static str,
        /// How long it was waited for.
        timeout: Duration,
    },
    /// Evidence without a mark.
    #[error("no mark was set")]
    Unmarked,
    /// What the host refused.
    #[error("{what}: {source}")]
    Host {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl Refused {
    pub(super) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Host { what, source }
    }

    /// What kind of reason it is, for the program at the other end.
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Limit(refused) if refused.is_passing() => Code::Busy,
            Self::Limit(_) | Self::Flows { .. } | Self::Rate { .. } => Code::Limit,
            Self::Order(_) => Code::Order,
            Self::Unable => Code::Unable,
            Self::Unknown | Self::Started | Self::Service | Self::Unmarked => Code::State,
            Self::Missing { .. } => Code::Missing,
            Self::Host { .. } => Code::Host,
        }
    }
}
