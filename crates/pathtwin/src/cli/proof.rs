//! Arguments of commands that prove a change: the goal, and the far end.

use std::net::IpAddr;

use clap::{Args, ValueEnum};
use model::advice::{Goal, Keep};

/// Figure to improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GoalName {
    /// Goodput and loaded latency alike
    Balanced,
    /// Goodput, within the guards on latency
    Throughput,
    /// Loaded latency, at a small cost in goodput
    Latency,
}

impl From<GoalName> for Goal {
    fn from(name: GoalName) -> Self {
        match name {
            GoalName::Balanced => Self::Balanced,
            GoalName::Throughput => Self::Throughput,
            GoalName::Latency => Self::Latency,
        }
    }
}

/// Criteria for keeping a change.
#[derive(Debug, Args)]
pub(crate) struct Proof {
    /// Figure to improve
    #[arg(long = "for", value_enum, default_value_t = GoalName::Balanced, value_name = "GOAL")]
    pub(crate) goal: GoalName,
    /// A bound that the change must keep, for example goodput>=90% or rtt-p99<=80ms; repeatable
    #[arg(long, value_name = "FIGURE>=VALUE")]
    pub(crate) keep: Vec<Keep>,
    /// Turns with the change, and as many without
    #[arg(long, value_name = "N", default_value_t = tune::PAIRS, value_parser = clap::value_parser!(u32).range(3..=20))]
    pub(crate) pairs: u32,
}

/// Connection to a far end with `pathtwin serve`.
#[derive(Debug, Args)]
pub(crate) struct FarEnd {
    /// Address of the far end inside a tunnel; may be given several times
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) via: Vec<IpAddr>,
    /// TCP and UDP port of the far end's `pathtwin serve`, if HOST has none
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// File with the key; - is standard input. Default: as `pathtwin measure`
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The far end runs with --open and needs no key
    #[arg(long, conflicts_with = "key")]
    pub(crate) open: bool,
}
