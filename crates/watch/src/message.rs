//! Messages: one for each change.

use model::{findings::Findings, safe};
use serde::{Deserialize, Serialize};

use crate::figures::Figure;

/// Version of [`Message`].
pub const MESSAGE_SCHEMA: u32 = 1;

/// A message, as passed to a program or posted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// [`MESSAGE_SCHEMA`] of the writer.
    pub schema: u32,
    /// Number; a message that is delivered twice has it twice.
    pub id: u64,
    /// The path; of [`Event::Drifted`] this host.
    pub path: String,
    /// The event.
    pub event: Event,
    /// Estimated start, µs since 1970.
    pub at_us: u64,
    /// Time of detection, µs since 1970.
    pub found_us: u64,
    /// The figures that changed.
    pub figures: Vec<FigureChange>,
    /// The facts of the hosts that changed around that time.
    pub facts: Vec<FactChange>,
    /// Changes of `tune` around that time, by id.
    pub changes: Vec<String>,
    /// The causes that the run after it shows, the most important first.
    pub causes: Vec<Cause>,
    /// Id of that run in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// All of it in words.
    pub text: String,
}

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Figures changed, and stayed.
    Changed,
    /// The far end does not answer.
    Unreachable,
    /// It answers again.
    Reachable,
    /// Somebody has set what a kept change of `tune` had set.
    Drifted,
}

/// A figure that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    /// Name for people.
    pub name: String,
    /// The figure.
    #[serde(flatten)]
    pub figure: Figure,
    /// Before: s, share or bit/s.
    pub before: f64,
    /// After.
    pub after: f64,
    /// After over before, less one; absent if it was 0 before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
}

/// A fact of a host that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactChange {
    /// First sample with the new value, µs since 1970.
    pub at_us: u64,
    /// Its name, such as `near.kernel`.
    pub fact: String,
    /// Before; absent if it was not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// After.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A cause that a run shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Its code: one of [`model::cause::CauseCode`], `unreachable`, or `drift`.
    pub code: String,
    /// Description in one sentence.
    pub text: String,
}

/// The causes among findings.
pub fn causes(findings: &Findings) -> Vec<Cause> {
    let cause = |finding: &model::findings::Finding| Cause {
        code: finding.code.to_string(),
        text: finding.text.to_string(),
    };
    findings.findings.iter().map(cause).collect()
}

impl Message {
    /// All of it in words, one line each.
    pub fn words(&self) -> String {
        let mut lines = vec![match self.event {
            Event::Changed => format!("{}: a lasting change", self.path),
            Event::Unreachable => format!("{}: the far end does not answer", self.path),
            Event::Reachable => format!("{}: the far end answers again", self.path),
            Event::Drifted => format!(
                "{}: somebody has set what a kept change of pathtwin tune had set",
                self.path
            ),
        }];
        for change in &self.figures {
            let share = change
                .change
                .map_or_else(String::new, |share| format!(" ({:+.1} %)", 100.0 * share));
            let show = |value| change.figure.kind.value(value);
            let (before, after) = (show(change.before), show(change.after));
            lines.push(format!("{}: {before} to {after}{share}", change.name));
        }
        for fact in &self.facts {
            let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".into());
            let (before, after) = (or(&fact.before), or(&fact.after));
            lines.push(format!("at that time {}: {before} to {after}", fact.fact));
        }
        for change in &self.changes {
            lines.push(match self.event {
                Event::Drifted => {
                    format!("change {change}: pathtwin tune undo {change} takes it back")
                }
                _ => format!("at that time: change {change} of pathtwin tune"),
            });
        }
        for cause in &self.causes {
            lines.push(format!("{}: {}", cause.code, cause.text));
        }
        if let Some(run) = &self.run {
            lines.push(format!("all evidence: pathtwin explain {run}"));
        }
        safe::lines(&lines.join("\n")).to_string()
    }
}
