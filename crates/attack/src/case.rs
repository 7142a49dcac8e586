//! Attacks and their bounds.

use std::{fmt, path::PathBuf};

use serde::Serialize;

use crate::trouble::Trouble;

/// The build under attack.
#[derive(Clone, Debug)]
pub struct Target {
    /// The program.
    pub program: PathBuf,
    /// The guest program of its lab; `None` = the one beside the program.
    pub guest: Option<PathBuf>,
}

/// Verdict on a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It held.
    Held,
    /// It was broken.
    Broken,
    /// The attack could not be run.
    Failed,
    /// This host does not support it.
    Skipped,
}

/// Observations during an attack.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    seen: Vec<String>,
    broken: Vec<String>,
}

impl Seen {
    /// Records an observation without a bound.
    pub fn note(&mut self, what: impl fmt::Display) {
        self.seen.push(what.to_string());
    }

    /// Records an observation, and whether it is within its bound.
    pub fn check(&mut self, holds: bool, what: impl fmt::Display) {
        self.seen.push(what.to_string());
        if !holds {
            self.broken.push(what.to_string());
        }
    }

    /// Records an amount that must not exceed `most`.
    pub fn at_most(&mut self, what: &str, amount: f64, most: f64) {
        self.check(
            amount <= most,
            format!("{what} {} of at most {}", number(amount), number(most)),
        );
    }

    /// Observations in order.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Observations that broke the bound.
    pub fn broken(&self) -> &[String] {
        &self.broken
    }
}

/// A number with its significant digits.
fn number(amount: f64) -> String {
    match amount {
        a if a.fract() == 0.0 && a.abs() < 1e15 => format!("{a:.0}"),
        a if a.abs() < 10.0 => format!("{a:.2}"),
        a => format!("{a:.0}"),
    }
}

/// An attack.
pub struct Case {
    /// Its name, for the command line and the table.
    pub name: &'static str,
    /// Role and actions of the attacker.
    pub attack: &'static str,
    /// The bound.
    pub bound: &'static str,
    /// Runs the attack.
    pub run: fn(&Target) -> Result<Seen, Trouble>,
}

/// An attack with its result.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the case.
    pub name: &'static str,
    /// Role and actions of the attacker.
    pub attack: &'static str,
    /// The bound.
    pub bound: &'static str,
    /// Observations.
    pub seen: Vec<String>,
    /// Observations that broke the bound.
    pub broken: Vec<String>,
    /// Verdict: whether the bound held.
    pub verdict: Verdict,
}

impl Case {
    /// Runs the attack once.
    pub fn judge(&self, target: &Target) -> Row {
        let row = |seen, broken, verdict| Row {
            name: self.name,
            attack: self.attack,
            bound: self.bound,
            seen,
            broken,
            verdict,
        };
        match (self.run)(target) {
            Ok(Seen { seen, broken }) if broken.is_empty() => row(seen, broken, Verdict::Held),
            Ok(Seen { seen, broken }) => row(seen, broken, Verdict::Broken),
            Err(Trouble::Needs(what)) => {
                row(vec![format!("needs {what}")], Vec::new(), Verdict::Skipped)
            }
            Err(trouble) => row(vec![trouble.to_string()], Vec::new(), Verdict::Failed),
        }
    }
}
