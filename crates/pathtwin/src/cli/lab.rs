//! The command line of `pathtwin lab`.

use std::{num::NonZeroUsize, path::PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use lab::{
    batch::Options,
    kubernetes::ObjectName,
    segment::{Segment, TaskId},
};
use model::job::Command;

use super::{Accuracy, Format, Validate};

#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Run the cells of a spec and print the results of each
    Run(Run),
    /// Run programs of this host on the nodes of a lab path
    Exec(Exec),
    Validate(Validate),
    Accuracy(Accuracy),
    /// Combine segments and print the rows of all cells
    Gather(Gather),
    /// Print the segments of a spec as a Kubernetes Indexed Job
    Kubernetes(Kubernetes),
    /// Build, import or inspect the kernel image of the lab
    Kernel(Kernel),
}

/// Options for cells.
#[derive(Debug, Args)]
pub(crate) struct Cells {
    /// Seed of the first repeat; default: the seed of the spec
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Override a key of the spec, as --set path.rtt=30ms; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Stop a cell after this much real time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wall_limit: u64,
}

impl Cells {
    /// The options that override the spec, as they were given.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = String> {
        let seed = self
            .seed
            .map(|seed| ["--seed".to_owned(), seed.to_string()]);
        let set = self.set.iter();
        let set = set.flat_map(|set| ["--set".to_owned(), set.clone()]);
        seed.into_iter().flatten().chain(set)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin lab run cases/4-speedtest/demo.toml
  pathtwin lab run path.toml --seed 7 --set path.loss=1% --output jsonl | jq \\
      .goodput_mbps
  pathtwin lab run path.toml --engine native
      (this host's kernel, in real time, as root)
  pathtwin lab run path.toml --set kernel=7.2  (an image of `lab kernel list`)
  pathtwin lab run sweep.toml --on slurm:partition=short --out results

Exit codes: 0 all cells ran, 2 usage error, 3 something is missing, 4 a cell
failed or no row counts.")]
pub(crate) struct Run {
    /// The spec (TOML, docs/reference/spec.md)
    pub(crate) spec: PathBuf,
    #[command(flatten)]
    pub(crate) cells: Cells,
    /// Cells to run in parallel; default: one per processor
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Kernel that runs the path
    #[arg(long, value_enum, default_value_t = Engine::Uml)]
    pub(crate) engine: Engine,
    /// Run every cell, even if its result is cached
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Write each cell's spec, records and description, and all rows, to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run only one of N parts of the cells, as --segment 3/10: DIR of --out gets its rows, and
    /// `pathtwin lab gather` combines the parts
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["against", "graph"])]
    pub(crate) segment: Option<Segment>,
    /// Run the cells on a cluster, as --on slurm:partition=short (docs/reference/segments.md): DIR
    /// of --out must be a folder that all its hosts see
    #[arg(long, value_name = "slurm[:OPTIONS]", requires = "out", conflicts_with_all = ["segment", "jobs"])]
    pub(crate) on: Option<Options>,
    /// Run a task of an array job, whose document is in DIR
    #[arg(long, value_name = "ROUND/TASK", requires = "out", hide = true, conflicts_with_all = ["segment", "on"])]
    pub(crate) task: Option<TaskId>,
    /// Continue a segment or an array job: cells whose rows are in DIR are not run again
    #[arg(long)]
    pub(crate) resume: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Compare with published figures (TOML, docs/reference/figures.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Write an HTML page with a graph to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  pathtwin lab run sweep.toml --segment 1/2 --out a     (on one machine)
  pathtwin lab run sweep.toml --segment 2/2 --out b     (on another)
  pathtwin lab gather a b --output jsonl > rows.jsonl

The rows have no cost (cpu_s, wall_s, cached), so they are the same bytes for
every split.

Exit codes: 0 all cells have rows, 2 usage error, 4 cells are missing or failed.")]
pub(crate) struct Gather {
    /// Folders with the results of segments
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  pathtwin lab kubernetes sweep.toml --segments 50 --claim results \\
      --image registry.example/pathtwin:1 | kubectl apply -f -

The container image needs pathtwin, its guest program and the kernel image
(PATHTWIN_GUEST and PATHTWIN_KERNEL name them). All pods write to the volume
claim, which must allow that (ReadWriteMany); `pathtwin lab gather` reads the
results there.")]
pub(crate) struct Kubernetes {
    /// The spec, a TOML file (docs/reference/spec.md)
    pub(crate) spec: PathBuf,
    /// Seed of the first repeat, in place of the spec's
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Set one key of the spec, as --set path.rtt=30ms; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Number of segments, each a pod
    #[arg(long, value_name = "N")]
    pub(crate) segments: NonZeroUsize,
    /// Pods at once; default: all
    #[arg(long, value_name = "N")]
    pub(crate) parallel: Option<NonZeroUsize>,
    /// Container image
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: String,
    /// Volume claim for the results
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: ObjectName,
    /// Name of the Job and its ConfigMap
    #[arg(long, value_name = "NAME", default_value = "pathtwin")]
    pub(crate) name: ObjectName,
}

/// Kernel that runs the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The lab's own kernel as a process, in virtual time, without privileges
    Uml,
    /// This host's kernel, in real time, as root
    Native,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "pathtwin lab exec [OPTIONS] <SPEC> --on <NODE> -- <CMD>... [--on <NODE> -- <CMD>...]...",
    after_help = "Examples:
  pathtwin lab exec path.toml --on server -- iperf3 -s -1 --on client \\
      -- iperf3 -c server -R
  pathtwin lab exec path.toml --on client -- ping -c 5 server

Nodes are client and server, and the routers near and far between them. The
command ends with the last program and returns its exit status; other programs
that still run are killed then.

Programs see this host's files as you do but cannot write them: a read-only
mount namespace or Landlock prevents it, whichever this host has. They have no
network but the path."
)]
pub(crate) struct Exec {
    /// The spec; the first cell of a matrix is used
    pub(crate) spec: PathBuf,
    #[command(flatten)]
    pub(crate) cells: Cells,
    /// Run the programs even if this host cannot prevent them from writing its files
    #[arg(long)]
    pub(crate) allow_host_writes: bool,
    /// Stop all programs after this much virtual time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub(crate) limit: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Node of the first program
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
    /// Build the image, unless it is built already
    Build {
        /// Kernel source: a tarball, a Debian linux-source package, or a folder; default: the
        /// Debian package that this version was tested with, or the newest of a tested series if
        /// no archive has it
        #[arg(long, value_name = "FILE")]
        source: Option<PathBuf>,
        /// Options of the kernel beyond those of the lab, as a Kconfig fragment. The image is built
        /// beside the current one, and used where PATHTWIN_KERNEL names it
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Build the newest package of a series instead, such as 6.12. The image is built beside
        /// the current one, and used where a spec (`kernel`) or PATHTWIN_KERNEL names it
        #[arg(long, value_name = "SERIES", conflicts_with_all = ["source", "config"])]
        series: Option<String>,
        /// Also allow a linux-source package of a series that was not tested
        #[arg(long)]
        untested: bool,
        /// Build even if there is an image already
        #[arg(long)]
        force: bool,
    },
    /// Import an image that was built elsewhere, if it boots here
    Import {
        /// An image, or an archive or folder with an image and its image.json
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List all images with version and hash, either of which PATHTWIN_KERNEL accepts; * marks the
    /// one that is used otherwise
    List,
    /// Show the version and the features of the image
    Info {
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Print the path of the image
    Path,
}

impl Exec {
    /// The programs with their nodes.
    pub(crate) fn commands(&self) -> anyhow::Result<Vec<Command>> {
        groups(&self.on, &self.rest)
    }
}

/// Splits `A… --on NODE -- B…` into groups.
fn groups(first: &str, rest: &[String]) -> anyhow::Result<Vec<Command>> {
    let mut node = first.to_owned();
    let mut argv = Vec::new();
    let mut commands = Vec::new();
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        if word != "--on" {
            argv.push(word.clone());
            continue;
        }
        let next = words.next().context("--on needs the name of a node")?;
        if words.next().map(String::as_str) != Some("--") {
            anyhow::bail!("after --on {next} there must be -- and a program");
        }
        commands.push(Command {
            node: std::mem::replace(&mut node, next.clone()),
            argv,
        });
        argv = Vec::new();
    }
    commands.push(Command { node, argv });
    match commands.iter().find(|c| c.argv.is_empty()) {
        Some(command) => Err(anyhow!("no program for --on {}", command.node)),
        None => Ok(commands),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(rest: &[&str]) -> anyhow::Result<Vec<Command>> {
        groups(
            "server",
            &rest.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn groups_are_split_at_on() {
        let commands = split(&[
            "iperf3", "-s", "-1", "--on", "client", "--", "iperf3", "-c", "server",
        ])
        .unwrap();
        assert_eq!(commands.len(), 2);
        assert_eq!(
            (commands[0].node.as_str(), commands[0].argv.len()),
            ("server", 3)
        );
        assert_eq!(
            (commands[1].node.as_str(), commands[1].argv.len()),
            ("client", 3)
        );
    }

    #[test]
    fn an_empty_group_is_refused() {
        assert!(split(&["a", "--on", "client", "--"]).is_err());
        assert!(split(&["a", "--on", "client", "b"]).is_err());
        assert!(split(&["a", "--on"]).is_err());
    }
}
