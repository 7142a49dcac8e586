//! Jobs for a guest, and the names of the files it reads and writes.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    advice::{Goal, Keep},
    cell::Cell,
    change::Change,
    net::Direction,
    plan::Plan,
    proof::Proof,
    remedy::Remedy,
    run::{Run, Series},
    text::Text,
};

/// The job, in the cell's folder.
pub const JOB_FILE: &str = "job.json";
/// Description of the result ([`crate::record::Output`], [`ExecOutput`] or [`Facts`]).
pub const OUTPUT_FILE: &str = "output.json";
/// Records that a measuring host could see, too.
pub const RECORDS_FILE: &str = "records.bin";
/// Records of the truth that no host can see.
pub const TRUTH_FILE: &str = "truth.bin";

/// Job for a guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Measure a cell.
    Cell(Box<Cell>),
    /// Run programs on the path of a cell.
    Exec(Box<Exec>),
    /// Run a plan between the ends of a cell's path, as `serve` and `measure` do between hosts.
    Measure(Box<Measure>),
    /// Change settings of the ends, and keep them only if they help.
    Prove(Box<Prove>),
    /// Report the kernel's features.
    Facts,
}

/// A plan to run between the ends of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The path with its cross traffic; the cell's measured traffic is not started.
    pub cell: Cell,
    /// The plan.
    pub plan: Plan,
    /// Version of the requesting program.
    pub program: String,
    /// Limit of virtual time, ns.
    pub limit_ns: u64,
}

impl Measure {
    /// A plan on a path, for this version of a program. A run that takes more virtual time than
    /// `limit` counts as hung.
    pub fn new(cell: Cell, plan: Plan, program: &str, limit: Duration) -> Self {
        Self {
            cell,
            plan,
            program: program.to_owned(),
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Executor of plans on paths for a search: the lab, or its substitute in a test.
pub trait Bench {
    /// Runs all jobs, in any order, and reports each as it ends, by its index.
    ///
    /// # Errors
    /// It was stopped before the end.
    fn measure(
        &mut self,
        jobs: &[Measure],
        seen: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped>;
}

/// Reason for a failed job: an executor has its own error types.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Result of a job of a [`Bench`].
#[derive(Debug)]
pub enum Outcome {
    /// A Run, and the name of the result.
    Run(Box<Run>, String),
    /// No Run, and the reason.
    Failed(Cause),
}

/// A [`Bench`] was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Remedies to apply to the ends of a path, and to prove by their effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prove {
    /// The path with its cross traffic.
    pub cell: Cell,
    /// Plan measured in each turn.
    pub plan: Plan,
    /// The remedies.
    pub remedies: Vec<Remedy>,
    /// Figure to improve.
    pub goal: Goal,
    /// Changes predicted by an Advice.
    pub predicted: Vec<crate::advice::Change>,
    /// Bounds that the user set.
    pub keep: Vec<Keep>,
    /// True if the remedies were taken at a cost to others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_a_cost: bool,
    /// Turns with the change, and as many without.
    pub pairs: u32,
    /// Version of the requesting program.
    pub program: String,
    /// Limit of virtual time, ns.
    pub limit_ns: u64,
}

/// Result of a proof.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProveOutput {
    /// Reason if there is no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// Remedies that the hosts cannot apply, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applied: Vec<Text>,
    /// Settings that would have no effect on a router of the path, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Text>,
    /// The changes as their journals have them at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<Proof>>,
    /// Differences between the hosts' settings read before and after the job, if any remain
    /// although the change was undone.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "some_or_one"
    )]
    pub left_changed: Vec<Text>,
}

impl ProveOutput {
    /// Returns true if the changes were kept.
    pub fn is_kept(&self) -> bool {
        let proof = self.proof.as_ref();
        proof.is_some_and(|proof| proof.decision.is_kept())
    }
}

/// Texts as a list; documents of earlier programs hold a single text.
fn some_or_one<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Text>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read {
        Some(Vec<Text>),
        One(Option<Text>),
    }
    Ok(match Read::deserialize(from)? {
        Read::Some(all) => all,
        Read::One(one) => one.into_iter().collect(),
    })
}

/// Result of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureOutput {
    /// Reason if there is no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<Run>>,
    /// True state of the bottleneck queues, with times from the start of the run.
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
    /// The path; the cell's traffic is not started.
    pub cell: Cell,
    /// The programs, in start order.
    pub commands: Vec<Command>,
    /// Working directory, if it exists in the guest.
    pub directory: String,
    /// Limit of virtual time, ns.
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

/// Exit statuses of the programs. Their output is in `N.stdout` and `N.stderr`, N from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecOutput {
    /// Error of the guest itself, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// Exit status of each; absent if it was stopped because the last foreground program had ended.
    pub statuses: Vec<Option<i32>>,
    /// Virtual time from boot to the end, ns.
    pub virtual_ns: u64,
}

/// Features of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Release.
    pub release: String,
    /// Ticks per second.
    pub hz: u32,
    /// Congestion controls.
    pub congestion: Vec<String>,
    /// Supported queues among those pathtwin uses.
    pub qdiscs: Vec<String>,
    /// Supported tunnels among those pathtwin uses.
    pub tunnels: Vec<String>,
    /// Missing features, with the kernel's error.
    pub lacks: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::change::State;

    /// Former plain strings are texts now.
    #[test]
    fn a_proof_of_an_earlier_program_is_read() {
        let stored = r#"{"error": "turn 1 failed", "left_changed": "net.a = 1; net.b = 2",
            "not_applied": ["the moon is full"], "changes": [{"schema": 1, "program": "0",
            "id": "07070707070707070707070707070707",
            "state": {"is": "rollback_failed", "step": 0, "error": "no device"},
            "scope": {"boot": "b", "netns": 1, "host": "h"},
            "steps": [{"setting": {"kind": "sysctl", "name": "net.a", "value": "1"},
                "old": {"kind": "parameter", "value": "0"}}],
            "events": [{"boottime_ns": 5, "what": "planned"}]}],
            "proof": {"schema": 1, "program": "0", "changes": [], "goal": "balanced",
            "decision": "kept", "says": "kept", "figures": [], "turns": [],
            "acted": [{"setting": "MTU of wg0: 1400 bytes", "evidence": "it is not there"}],
            "comparison": {"schema": 1, "before": {"name": "", "runs": []},
                "after": {"name": "", "runs": []}, "threshold": 0.02,
                "share_threshold": 0.001, "lines": []}}}"#;
        let read: ProveOutput = serde_json::from_str(stored).unwrap();
        assert_eq!(read.error, Some(Text::plain("turn 1 failed")));
        assert_eq!(read.left_changed, [Text::plain("net.a = 1; net.b = 2")]);
        let change = &read.changes[0];
        assert_eq!(change.events[0].what, Text::plain("planned"));
        assert!(
            matches!(&change.state, State::RollbackFailed { step: 0, error }
            if *error == Text::plain("no device"))
        );
        let acted = &read.proof.as_ref().unwrap().acted[0];
        assert_eq!(acted.setting, Text::plain("MTU of wg0: 1400 bytes"));
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<ProveOutput>(&written).unwrap(), read);
    }

    #[test]
    fn a_proof_without_anything_left_changed_is_read() {
        for text in ["{}", r#"{"left_changed": null}"#, r#"{"left_changed": []}"#] {
            let read: ProveOutput = serde_json::from_str(text).unwrap();
            assert!(read.left_changed.is_empty(), "{text}");
        }
    }
}
