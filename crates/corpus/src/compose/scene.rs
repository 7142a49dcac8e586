//! Scenes: input of composed Runs.

use serde::Deserialize;

use super::{
    hosts::{Machine, Tunnel},
    line::Line,
};

/// Input of a composed Run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scene {
    /// From the far end to the near one.
    pub down: Line,
    /// From the near end to the far one.
    pub up: Line,
    /// The near host.
    pub near: Machine,
    /// The far host.
    pub far: Machine,
    /// A tunnel, measured together with its underlay.
    pub tunnel: Option<Tunnel>,
    /// Measured steps.
    pub measured: Measured,
}

/// Measured steps of a [`Scene`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Measured {
    /// Congestion controls.
    pub cc: Vec<String>,
    /// Numbers of flows.
    pub flows: Vec<u32>,
    /// True if a UDP sweep is included.
    pub sweep: bool,
    /// Repeats of TCP.
    pub repeats: u32,
    /// True if path MTU and sizes are included.
    pub sizes: bool,
    /// Duration of a load, s.
    pub seconds: f64,
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            cc: vec!["cubic".to_owned(), "bbr".to_owned()],
            flows: vec![1, 4],
            sweep: true,
            repeats: 3,
            sizes: true,
            seconds: 5.0,
        }
    }
}
