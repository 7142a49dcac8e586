//! Errors that end a watch.

use std::{io, net::SocketAddr};

use measure::plans::PlanFileError;
use model::{text, text::Text};

use crate::state::StateError;

/// Reason why a watch ended.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum DaemonError {
    /// Its state.
    State(#[from] StateError),
    /// A plan.
    Plan(#[from] PlanFileError),
    /// Its metrics.
    Listen {
        /// The listen address.
        address: SocketAddr,
        /// The I/O error.
        source: io::Error,
    },
}

impl DaemonError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::State(error) => error.text(),
            Self::Plan(error) => error.text(),
            Self::Listen { address, source } => text!(
                "serve metrics on {address}: {error}; name another port: \
                 listen = \"127.0.0.1:PORT\"",
                address = *address,
                error = source
            ),
        }
    }
}
