//! The command line.

#[cfg(feature = "lab")]
pub(crate) mod advise;
#[cfg(feature = "history")]
mod age;
#[cfg(feature = "lab")]
mod check;
pub(crate) mod compare;
#[cfg(all(feature = "history", feature = "page"))]
pub(crate) mod dashboard;
pub(crate) mod document;
mod explain;
pub(crate) mod facts;
#[cfg(feature = "lab")]
pub(crate) mod fix;
mod format;
#[cfg(feature = "history")]
pub(crate) mod history;
pub(crate) mod iperf3;
#[cfg(feature = "lab")]
mod lab;
pub(crate) mod measure;
pub(crate) mod observe;
#[cfg(feature = "tune")]
pub(crate) mod proof;
#[cfg(feature = "page")]
pub(crate) mod report;
pub(crate) mod serve;
#[cfg(feature = "tune")]
pub(crate) mod tune;
#[cfg(feature = "lab")]
pub(crate) mod twin;
#[cfg(feature = "lab")]
mod validation;
#[cfg(feature = "watch")]
pub(crate) mod watch;

use clap::{Parser, Subcommand};

#[cfg(feature = "lab")]
pub use check::Check;
pub(crate) use explain::Explain;
pub use explain::Form;
pub use format::Format;
#[cfg(feature = "lab")]
pub(crate) use lab::{Cells, Engine, Exec, Gather, Kernel, KernelCommand, Kubernetes, Lab, Run};
#[cfg(feature = "lab")]
pub use validation::{Accuracy, Corpus, Indices, PathBy, TwinPaths, Validate, Which};

/// Find out why TCP is slow on a path, prove the fix on a twin of it
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure a path to a host, and name what limits it
    ///
    /// The other end runs `pathtwin serve` or an iperf3 server; or both are ends of a lab path.
    Measure(Box<measure::Measure>),
    /// Run the far end of measurements
    Serve(serve::Serve),
    /// Run the real Linux kernel on a path you describe, in virtual time
    #[cfg(feature = "lab")]
    #[command(subcommand)]
    Lab(Lab),
    /// Measure with iperf3 servers, or serve iperf3 clients
    #[command(subcommand)]
    Iperf3(iperf3::Iperf3),
    /// Show what limits live TCP connections, without adding any load
    Observe(observe::Observe),
    /// Show the facts of this host and of its path to an address
    Facts(facts::Facts),
    Explain(Explain),
    #[cfg(feature = "lab")]
    Twin(twin::Twin),
    #[cfg(feature = "lab")]
    Advise(Box<advise::Advise>),
    #[cfg(feature = "lab")]
    Fix(Box<fix::Fix>),
    #[cfg(feature = "tune")]
    #[command(subcommand)]
    Tune(tune::Tune),

    Compare(compare::Compare),
    #[cfg(feature = "page")]
    Report(report::Report),
    #[cfg(feature = "history")]
    History(history::History),
    #[cfg(feature = "watch")]
    Watch(watch::Watch),
    #[cfg(all(feature = "history", feature = "page"))]
    Dashboard(dashboard::Dashboard),
    /// Print a completion script for a shell
    #[cfg(feature = "manual")]
    #[command(
        after_help = "Example:\n  pathtwin completions bash \\\n      > ~/.local/share/bash-completion/completions/pathtwin"
    )]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a folder
    #[cfg(feature = "manual")]
    #[command(
        after_help = "Example:\n  pathtwin manual ~/.local/share/man/man1 && man pathtwin-measure"
    )]
    Manual {
        /// The folder; it is made if it does not exist
        folder: std::path::PathBuf,
    },
}
