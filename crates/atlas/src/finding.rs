//! Findings: what is worth knowing, each by a rule over the cells.

use serde::Serialize;

use crate::compare::{Group, Rule};

/// Name of the file with the cells of each finding.
pub const FILE: &str = "findings.jsonl";

/// A finding: a claim, and the rule by which the cells show it.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// Its id, in addresses.
    pub id: &'static str,
    /// The claim.
    pub claim: &'static str,
    /// Why it is so, and what to do with it.
    pub text: &'static str,
    /// The rule.
    pub rule: Rule,
    /// When the claim counts as shown, in words.
    pub shown_if: &'static str,
    /// The same, as a test of the groups.
    pub holds: fn(&[Group]) -> bool,
}

/// A finding and what the cells say.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// The groups of its rule.
    pub groups: Vec<Group>,
}

impl Found {
    /// Returns true if the cells show the claim.
    pub fn holds(&self) -> bool {
        !self.groups.is_empty() && (self.finding.holds)(&self.groups)
    }
}

/// A line of [`FILE`]: a group of a finding with its cells.
#[derive(Serialize)]
struct Line<'a> {
    finding: &'a str,
    #[serde(flatten)]
    group: &'a Group,
}

/// The file: one JSON line for each group.
///
/// # Errors
/// The groups cannot be written as JSON.
pub fn lines(found: &[Found]) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    for one in found {
        for group in &one.groups {
            let finding = one.finding.id;
            text.push_str(&serde_json::to_string(&Line { finding, group })?);
            text.push('\n');
        }
    }
    Ok(text)
}
