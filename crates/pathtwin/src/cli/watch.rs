//! The command line of `pathtwin watch`.

use std::path::PathBuf;

use clap::Args;

/// Measure paths continuously, and report each lasting change once
///
/// It stays within a budget of bytes and time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin watch --example > watch.toml
  pathtwin watch --config watch.toml --check
  pathtwin watch --config watch.toml

Probes run continuously, short loads occasionally, the full plan daily and after
a change, at random intervals, only while the line is quiet, and never with more
bytes in a month than the budget. A change is reported to a program or a
webhook. Keys of the config: docs/reference/watch.md.

Exit codes: 0 ended by Ctrl-C, 2 usage error or wrong config, 3 the state or the
history cannot be used, 4 the watch failed.")]
pub(crate) struct Watch {
    /// The config (TOML)
    #[arg(long, value_name = "FILE", required_unless_present = "example")]
    pub(crate) config: Option<PathBuf>,
    /// Only check the config, and print the measurement intervals within the budget
    #[arg(long, requires = "config")]
    pub(crate) check: bool,
    /// Print an example config
    #[arg(long, conflicts_with = "config")]
    pub(crate) example: bool,
}
