//! The command line of `pathtwin observe`.

use std::time::Duration;

use clap::Args;
use model::{prefix::Prefix, spec::quantity};

use super::Format;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin observe
  pathtwin observe --dst 10.0.0.0/8 --follow
  pathtwin observe --port 443 --output jsonl | jq \\
      'select(.verdict == \"loss_or_path\")'

Nothing is sent and nothing is changed. Without root the processes of other
users are not named. Verdicts, figures and bounds: docs/reference/observe.md.

Exit codes: 0 success, 2 usage error, 3 the kernel lacks a feature, 130 stopped
by Ctrl-C before --duration had passed (the result so far is printed).")]
pub(crate) struct Observe {
    /// Only connections to these addresses: 10.0.0.0/8, 2001:db8::/32, 192.0.2.1
    #[arg(long, value_name = "PREFIX")]
    pub(crate) dst: Option<Prefix>,
    /// Only connections with this port, local or remote
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Sampling interval
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) interval: Duration,
    /// Time to observe; with --follow, the time span of the table
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantity::duration)]
    pub(crate) duration: Duration,
    /// Continue until Ctrl-C: a live table on a terminal, rows after each interval with jsonl
    #[arg(long)]
    pub(crate) follow: bool,
    /// Show only the first N connections
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
