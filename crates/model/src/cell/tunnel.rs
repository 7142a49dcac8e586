//! The tunnel of a cell.

use serde::{Deserialize, Serialize};

use super::queue::{Buffer, Loss};
use crate::{
    net::{Direction, IpVersion},
    units::Rate,
};

/// A tunnel over the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tunnel {
    /// Implementation.
    pub kind: TunnelKind,
    /// MTU of the tunnel device.
    pub mtu: u32,
    /// Location of the tunnel's endpoints.
    pub at: TunnelAt,
    /// Address family inside.
    pub ip: IpVersion,
    /// Stage passed only by tunnel packets from the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<TunnelStage>,
    /// Stage passed only by tunnel packets to the far end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<TunnelStage>,
}

impl Tunnel {
    /// Returns the stage passed only by tunnel packets in `direction`.
    pub fn stage(&self, direction: Direction) -> Option<&TunnelStage> {
        match direction {
            Direction::Down => self.down.as_ref(),
            Direction::Up => self.up.as_ref(),
        }
    }
}

/// A stage in front of the bottleneck that only packets of the tunnel pass: a line that treats UDP
/// worse, or a host that is too slow for the tunnel. A direction of a [`Local`](super::Local) line
/// has the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunnelStage {
    /// Its rate, outer and Ethernet headers included; absent = not limited.
    #[serde(rename = "rate_bps")]
    pub rate: Option<Rate>,
    /// Capacity of its queue, which drops at the tail; counted in full packets.
    pub buffer: Buffer,
    /// Its loss, random or in bursts.
    pub loss: Loss,
}

impl TunnelStage {
    /// Returns true if it neither limits nor loses anything.
    pub fn is_nothing(&self) -> bool {
        self.rate.is_none() && self.loss == Loss::None
    }
}

/// Implementation of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelKind {
    /// The kernel's own WireGuard.
    Wireguard,
}

/// Location of a tunnel's endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TunnelAt {
    /// On the two hosts.
    Ends,
    /// On routers in front of the two hosts.
    Routers,
}
