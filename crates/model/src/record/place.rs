//! Places and kinds of a cell's records.

use serde::{Deserialize, Serialize};

use crate::net::Side;

/// Place of a sampled queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueuePlace {
    /// The bottleneck of a direction.
    Bottleneck,
    /// The shaper of the near end.
    #[serde(rename = "client")]
    Near,
    /// The shaper of the far end.
    #[serde(rename = "server")]
    Far,
    /// The shaper of the router between the two lines of a path.
    Router,
}

impl From<Side> for QueuePlace {
    fn from(side: Side) -> Self {
        match side {
            Side::Near => Self::Near,
            Side::Far => Self::Far,
        }
    }
}

/// Stage that loses packets on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossyStage {
    /// The configured loss of a line.
    Loss,
    /// A policer, beside a queue or instead of one.
    Policer,
    /// The stage that only packets of a tunnel pass: its queue and its loss together.
    Tunnel,
}

/// Kind of a flow, by the spec's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowKind {
    /// Bulk TCP.
    Tcp,
    /// UDP datagrams at a constant rate.
    Udp,
    /// Consecutive requests, each on its own connection.
    Short,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Stored results have these names.
    #[test]
    fn names_on_the_wire_stay() {
        fn of<T: Serialize>(all: &T) -> String {
            serde_json::to_string(all).unwrap()
        }
        let places = [
            QueuePlace::Bottleneck,
            Side::Near.into(),
            Side::Far.into(),
            QueuePlace::Router,
        ];
        let stages = [LossyStage::Loss, LossyStage::Policer, LossyStage::Tunnel];
        let flows = [FlowKind::Tcp, FlowKind::Udp, FlowKind::Short];
        assert_eq!(of(&places), r#"["bottleneck","client","server","router"]"#);
        assert_eq!(of(&stages), r#"["loss","policer","tunnel"]"#);
        assert_eq!(of(&flows), r#"["tcp","udp","short"]"#);
    }
}
