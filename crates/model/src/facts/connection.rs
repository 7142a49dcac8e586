//! Connection of a tunnel to its peer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{TunnelFacts, TunnelPath};
use crate::{text, text::Text};

/// A tunnel's connection to its peer. Written as text: `direct`, `relayed`, `relayed through
/// RELAY`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Connection {
    /// To the peer itself.
    Direct,
    /// Through a relay, with its name or address if that is known.
    Relayed(Option<String>),
    /// Name used by an older document or another program.
    Other(String),
}

/// Text before the name of a relay.
const THROUGH: &str = "relayed through ";

impl Connection {
    /// The connection that the facts of a tunnel name; `None` if it is unknown, or if nothing was
    /// sent.
    pub fn of(tunnel: &TunnelFacts) -> Option<Self> {
        match tunnel.path? {
            TunnelPath::Direct => Some(Self::Direct),
            TunnelPath::Relayed => Some(Self::Relayed(tunnel.relay.clone())),
            TunnelPath::Idle => None,
        }
    }

    /// Its description.
    pub fn text(&self) -> Text {
        match self {
            Self::Direct => text!("direct"),
            Self::Relayed(None) => text!("relayed"),
            Self::Relayed(Some(relay)) => text!("relayed through {relay}", relay = relay),
            Self::Other(name) => Text::name(name),
        }
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("direct"),
            Self::Relayed(None) => f.write_str("relayed"),
            Self::Relayed(Some(relay)) => write!(f, "{THROUGH}{relay}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl From<String> for Connection {
    fn from(text: String) -> Self {
        match (text.as_str(), text.strip_prefix(THROUGH)) {
            ("direct", _) => Self::Direct,
            ("relayed", _) => Self::Relayed(None),
            (_, Some(relay)) => Self::Relayed(Some(relay.to_owned())),
            _ => Self::Other(text),
        }
    }
}

impl From<Connection> for String {
    fn from(connection: Connection) -> Self {
        connection.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Documents of all versions hold the same text.
        #[test]
        fn text_round_trips(name in "\\PC{0,12}", kind in 0..4) {
            let text = match kind {
                0 => "direct".to_owned(),
                1 => "relayed".to_owned(),
                2 => format!("relayed through {name}"),
                _ => name,
            };
            prop_assert_eq!(Connection::from(text.clone()).to_string(), text);
        }
    }
}
