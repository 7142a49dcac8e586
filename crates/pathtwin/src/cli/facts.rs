//! The command line of `pathtwin facts`.

use std::net::IpAddr;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin facts
  pathtwin facts --toward 100.90.1.2
  sudo pathtwin facts --toward 10.9.0.1 --output json

Nothing is changed and nothing is sent to the address. With root there are more
facts: the peers of WireGuard, and the process behind a tun device. Notes
explain which facts are unknown, and why (docs/reference/facts.md).

Exit codes: 0 success, 2 usage error.")]
pub(crate) struct Facts {
    /// Also show the path to this address: routes, devices, queues, tunnels
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) toward: Option<IpAddr>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// One JSON document
    Json,
}
