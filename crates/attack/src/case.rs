//! Attacks and their bounds.

use std::{fmt, io, path::PathBuf};

use serde::Serialize;

/// The build under attack.
#[derive(Clone, Debug)]
pub struct Target {
    /// The program.
    pub program: PathBuf,
    /// The guest program of its lab; `None` = the one beside the program.
    pub guest: Option<PathBuf>,
}

/// Why an attack could not be made; says nothing of the program under attack.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The operating system.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The control channel.
    #[error("{0}")]
    Channel(#[from] traffic::wire::ChannelError),
    /// The server refused what the attack needs.
    #[error("the server refused: {0}")]
    No(String),
    /// Something is not as the attack expects.
    #[error("{0}")]
    Setup(String),
    /// This host cannot show it.
    #[error("needs {0}")]
    Needs(&'static str),
}

impl Trouble {
    /// What is not as expected.
    pub fn setup(what: impl fmt::Display) -> Self {
        Self::Setup(what.to_string())
    }
}

/// Whether a bound held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It did.
    Held,
    /// It did not.
    Broken,
    /// The attack could not be made.
    Failed,
    /// This host cannot show it.
    Skipped,
}

/// What an attack showed.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    seen: Vec<String>,
    broken: Vec<String>,
}

impl Seen {
    /// Notes something that has no bound.
    pub fn note(&mut self, what: impl fmt::Display) {
        self.seen.push(what.to_string());
    }

    /// Notes something, and whether it is within its bound.
    pub fn check(&mut self, holds: bool, what: impl fmt::Display) {
        self.seen.push(what.to_string());
        if !holds {
            self.broken.push(what.to_string());
        }
    }

    /// Notes an amount that must not be above `most`.
    pub fn at_most(&mut self, what: &str, amount: f64, most: f64) {
        self.check(
            amount <= most,
            format!("{what} {} of at most {}", number(amount), number(most)),
        );
    }

    /// What was seen, in the order it was seen.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }

    /// Those parts of it that broke the bound.
    pub fn broken(&self) -> &[String] {
        &self.broken
    }
}

/// A number with as many digits as say something.
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
    /// What the attacker does, and as whom.
    pub attack: &'static str,
    /// What must hold.
    pub bound: &'static str,
    /// Makes it.
    pub run: fn(&Target) -> Result<Seen, Trouble>,
}

/// An attack and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the case.
    pub name: &'static str,
    /// What the attacker does.
    pub attack: &'static str,
    /// What must hold.
    pub bound: &'static str,
    /// What was seen.
    pub seen: Vec<String>,
    /// What of it broke the bound.
    pub broken: Vec<String>,
    /// Whether the bound held.
    pub verdict: Verdict,
}

impl Case {
    /// Makes the attack, once.
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
