//! The command line of `pathtwin facts`.

use std::net::IpAddr;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin facts
  pathtwin facts --toward 100.90.1.2
  sudo pathtwin facts --toward 10.9.0.1 --output json

Nothing is changed and nothing is sent to the address. As root more is found out: the peers of
WireGuard, and which process moves the packets of a tun device. What could not be found out is said
under notes (docs/reference/facts.md).

Exit codes: 0 printed, 2 wrong use.")]
pub(crate) struct Facts {
    /// Also say how this address is reached: routes, devices, queues, tunnels
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) toward: Option<IpAddr>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// The document
    Json,
}
