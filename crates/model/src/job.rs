//! What a guest is told to do, and the names of the files it reads and writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    cell::Cell,
    net::Direction,
    plan::Plan,
    run::{Run, Series},
};

/// The job, in the cell's folder.
pub const JOB_FILE: &str = "job.json";
/// The description of what came out ([`crate::record::Output`], [`ExecOutput`] or [`Facts`]).
pub const OUTPUT_FILE: &str = "output.json";
/// Records a measuring host could have made.
pub const RECORDS_FILE: &str = "records.bin";
/// Records of what no host could see.
pub const TRUTH_FILE: &str = "truth.bin";

/// What a guest is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Measure a cell.
    Cell(Box<Cell>),
    /// Run programs on the path of a cell.
    Exec(Box<Exec>),
    /// Measure between the ends of a cell's path as `serve` and `measure` do between hosts.
    Measure(Box<Measure>),
    /// Say what the kernel can do.
    Facts,
}

/// A plan to carry out between the ends of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The path, with its cross traffic; its own traffic is not started.
    pub cell: Cell,
    /// What to measure.
    pub plan: Plan,
    /// Version of the program that asks.
    pub program: String,
    /// Virtual time after which all is stopped, ns.
    pub limit_ns: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureOutput {
    /// Why there is no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<Run>>,
    /// What no measuring host could see: the bottlenecks' queues, with the run's start as zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truth: Vec<QueueTruth>,
}

/// The queue of a bottleneck over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueTruth {
    /// Direction of the packets in it.
    pub direction: Direction,
    /// Rate at which it drains, bit/s.
    pub rate_bps: Option<u64>,
    /// Column `backlog_bytes`.
    pub series: Series,
}

/// Programs to run on the nodes of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exec {
    /// The path; its traffic is not started.
    pub cell: Cell,
    /// The programs, started in this order.
    pub commands: Vec<Command>,
    /// Working directory, if it exists in the guest.
    pub directory: String,
    /// Virtual time after which all is stopped, ns.
    pub limit_ns: u64,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Name of the node it runs on.
    pub node: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// How the programs ended. Their output is in `N.stdout` and `N.stderr`, N from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecOutput {
    /// What went wrong before or beside them; absent if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Exit status of each; absent if it was stopped because the last one in front had ended.
    pub statuses: Vec<Option<i32>>,
    /// Virtual time from boot to the end, ns.
    pub virtual_ns: u64,
}

/// What a kernel can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Release.
    pub release: String,
    /// Ticks per second.
    pub hz: u32,
    /// Congestion controls.
    pub congestion: Vec<String>,
    /// Queues, of those that pathtwin knows.
    pub qdiscs: Vec<String>,
    /// Tunnels, of those that pathtwin knows.
    pub tunnels: Vec<String>,
    /// What pathtwin could use and the kernel lacks, with the kernel's answer.
    pub lacks: BTreeMap<String, String>,
}
