//! The command line of `pathtwin lab`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::{Accuracy, Format, Validate};

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Run the cells of a spec and print what TCP did in each
    Run(Run),
    /// Run programs of this host on the nodes of a path
    Exec(Exec),
    Validate(Validate),
    Accuracy(Accuracy),
    /// The lab's kernel image
    Kernel(Kernel),
}

/// How cells are run.
#[derive(Debug, Args)]
pub(crate) struct Cells {
    /// Seed of the first repeat, in place of the spec's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Set one key of the spec, as --set path.rtt=30ms; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// End a cell after this much real time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wall_limit: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab run cases/4-speedtest/download.toml
  pathtwin lab run path.toml --seed 7 --set path.loss=1% --output jsonl | jq .goodput_mbps
  pathtwin lab run path.toml --engine native     (this host's kernel, real time, root)

Exit codes: 0 all cells ran, 2 wrong use, 3 something is missing, 4 a cell failed.")]
pub(crate) struct Run {
    /// The spec, a TOML file (docs/reference/spec.md)
    pub(crate) spec: PathBuf,
    #[command(flatten)]
    pub(crate) cells: Cells,
    /// Cells at once; default: one a processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Which kernel carries the path
    #[arg(long, value_enum, default_value_t = Engine::Uml)]
    pub(crate) engine: Engine,
    /// Run every cell, also those whose result is known
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Keep each cell's spec, records and description, and all rows, in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Compare with published figures, a TOML file (docs/reference/figures.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Write a page with a graph to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
}

/// Which kernel carries the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// A kernel of its own as a process, in virtual time, without privilege
    Uml,
    /// The kernel of this host, in real time, as root
    Native,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "pathtwin lab exec [OPTIONS] <SPEC> --on <NODE> -- <CMD>... [--on <NODE> -- <CMD>...]...",
    after_help = "Examples:
  pathtwin lab exec path.toml --on server -- iperf3 -s -1 --on client -- iperf3 -c server -R
  pathtwin lab exec path.toml --on client -- ping -c 5 server

Nodes are client and server, and the routers near and far between them. The last program is
waited for; when it ends, the others are ended too. Its exit status is that of this command.

Programs see this host's files as you do and cannot write them: a read-only mount namespace and
Landlock see to that, whichever of the two the host has. They have no network but the path."
)]
pub(crate) struct Exec {
    /// The spec; of a matrix the first cell is taken
    pub(crate) spec: PathBuf,
    #[command(flatten)]
    pub(crate) cells: Cells,
    /// Run the programs also on a host that has no means to keep them from writing its files
    #[arg(long)]
    pub(crate) allow_host_writes: bool,
    /// Virtual time after which all programs are ended, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) limit: u64,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Where the first program runs
    #[arg(long, value_name = "NODE")]
    pub(crate) on: String,
    /// The first program, then further groups of --on NODE -- CMD
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Kernel {
    #[command(subcommand)]
    pub(crate) command: KernelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelCommand {
    /// Build the image, if it is not built yet
    Build {
        /// Kernel source: a tarball, a Debian linux-source package, or a folder; default: the
        /// Debian package that this version was tested with, or where no archive has it the newest
        /// of a tested series
        #[arg(long, value_name = "FILE")]
        source: Option<PathBuf>,
        /// Take the newest linux-source also if nothing of its series was tested
        #[arg(long)]
        untested: bool,
        /// Build even if it is built already
        #[arg(long)]
        force: bool,
    },
    /// Take an image that was built elsewhere, if it boots here
    Import {
        /// An image, or the archive or folder that holds one and its image.json
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Say what the image is and what it can do
    Info {
        /// What to print
        #[arg(long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Print the image's path
    Path,
}
