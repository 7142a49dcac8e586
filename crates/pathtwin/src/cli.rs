//! The command line.

mod explain;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "lab")]
mod validation;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use explain::Explain;
pub use explain::Form;
#[cfg(feature = "lab")]
pub(crate) use lab::{Cells, Engine, Exec, Kernel, KernelCommand, Lab, Run};
#[cfg(feature = "lab")]
pub use validation::{Accuracy, Check, Corpus, Validate, Which};

/// Find out why TCP is slow on a path, prove the fix on a twin of it
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a path: against `pathtwin serve`, an iperf3 server, or between the ends of a lab path
    Measure(Box<crate::commands::measure::Measure>),
    /// Be the far end of measurements
    Serve(crate::commands::serve::Serve),
    /// The real Linux kernel on a path you describe, in virtual time
    #[cfg(feature = "lab")]
    #[command(subcommand)]
    Lab(Lab),
    /// The protocol of iperf3
    #[command(subcommand)]
    Iperf3(crate::commands::iperf3::Iperf3),
    /// What limits the live TCP connections of this host, without adding any load
    Observe(crate::commands::observe::Observe),
    /// Say what this host is and how it reaches an address
    Facts(crate::commands::facts::Facts),
    Explain(Explain),
    Compare(crate::commands::compare::Compare),
    #[cfg(feature = "page")]
    Report(crate::commands::report::Report),
    #[cfg(feature = "history")]
    History(crate::commands::history::History),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  pathtwin completions bash > ~/.local/share/bash-completion/completions/pathtwin"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table
    Text,
    /// One document
    Json,
    /// One flat row a line
    Jsonl,
}
