//! Scenarios: lab paths and composed Runs, with their true causes.

use std::fmt;

use model::{cause::CauseCode, units::Seed};
use serde::Deserialize;

use crate::compose::Scene;

/// First seed of the evaluation; seeds below are for training.
pub const EVALUATION: u64 = 1000;

/// Item of a scenario's `set` that sets no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Name of the scenario.
    pub scenario: String,
    /// The item.
    pub item: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` is not KEY=VALUE", self.scenario, self.item)
    }
}

impl std::error::Error for ScenarioError {}

/// A file of scenarios, `corpus/*.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Default true causes of the scenarios.
    #[serde(default)]
    pub cause: Vec<CauseCode>,
    /// Causes that may also be found, and count as neither correct nor wrong.
    #[serde(default)]
    pub also: Vec<CauseCode>,
    /// The base spec of the scenarios, in the grammar of specs.
    #[serde(default)]
    pub spec: String,
    /// Scenarios in the lab.
    #[serde(default)]
    pub scenario: Vec<Lab>,
    /// Computed scenarios.
    #[serde(default)]
    pub composed: Vec<Composed>,
}

/// A scenario in the lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// Its name; unique in the corpus.
    pub name: String,
    /// Keys of the spec, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// True causes, if different from the file's.
    pub cause: Option<Vec<CauseCode>>,
    /// Same as [`Scenario::also`].
    pub also: Option<Vec<CauseCode>>,
}

/// A computed scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Composed {
    /// Its name; unique in the corpus.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// True causes, if different from the file's.
    pub cause: Option<Vec<CauseCode>>,
    /// Same as [`Scenario::also`].
    pub also: Option<Vec<CauseCode>>,
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// True causes; empty or `healthy` = none.
    pub cause: Vec<CauseCode>,
    /// Causes that may also be found.
    pub also: Vec<CauseCode>,
    /// Source of its Run.
    pub source: Source,
}

/// Source of a scenario's Run.
#[derive(Clone, Debug)]
pub enum Source {
    /// A plan is run on a lab path.
    Lab {
        /// The spec.
        spec: String,
        /// Overrides, key and value.
        set: Vec<(String, String)>,
    },
    /// It is computed.
    Composed(Box<Scene>),
}

/// Part of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Used for making rules.
    Training,
    /// Used for evaluating them.
    Evaluation,
}

impl File {
    /// Parses a file.
    ///
    /// # Errors
    /// Invalid TOML or an unknown key, with its position.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Its scenarios.
    ///
    /// # Errors
    /// A malformed scenario, by name.
    pub fn scenarios(&self) -> Result<Vec<Scenario>, ScenarioError> {
        let mut all = Vec::new();
        for lab in &self.scenario {
            let mut set = Vec::new();
            for item in &lab.set {
                let (key, value) = item.split_once('=').ok_or_else(|| ScenarioError {
                    scenario: lab.name.clone(),
                    item: item.clone(),
                })?;
                set.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            all.push(Scenario {
                name: lab.name.clone(),
                cause: lab.cause.clone().unwrap_or_else(|| self.cause.clone()),
                also: lab.also.clone().unwrap_or_else(|| self.also.clone()),
                source: Source::Lab {
                    spec: self.spec.clone(),
                    set,
                },
            });
        }
        for composed in &self.composed {
            all.push(Scenario {
                name: composed.name.clone(),
                cause: composed.cause.clone().unwrap_or_else(|| self.cause.clone()),
                also: composed.also.clone().unwrap_or_else(|| self.also.clone()),
                source: Source::Composed(Box::new(composed.scene.clone())),
            });
        }
        Ok(all)
    }
}

impl Scenario {
    /// Returns true if it is excluded from training.
    pub fn held_out(&self) -> bool {
        self.hash().is_multiple_of(3)
    }

    /// Returns true if it belongs to a part.
    pub fn is_in(&self, part: Part) -> bool {
        part == Part::Evaluation || !self.held_out()
    }

    /// Its seed in a part.
    pub fn seed(&self, part: Part) -> Seed {
        let own = (self.hash() / 3) % (EVALUATION - 1) + 1;
        Seed(match part {
            Part::Training => own,
            Part::Evaluation => EVALUATION + own,
        })
    }

    /// FNV-1a over the name.
    fn hash(&self) -> u64 {
        self.name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Returns true if it is a healthy path.
    pub fn is_healthy(&self) -> bool {
        self.cause.iter().all(|c| *c == CauseCode::HEALTHY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str) -> Scenario {
        Scenario {
            name: name.to_owned(),
            cause: Vec::new(),
            also: Vec::new(),
            source: Source::Composed(Box::default()),
        }
    }

    #[test]
    fn no_seed_is_in_both_parts() {
        for n in 0..2000 {
            let scenario = scenario(&format!("scenario-{n}"));
            assert!(scenario.seed(Part::Training).0 < EVALUATION);
            assert!(scenario.seed(Part::Evaluation).0 >= EVALUATION);
        }
    }

    #[test]
    fn about_a_third_is_held_out() {
        let held = (0..3000).filter(|n| scenario(&format!("s{n}")).held_out());
        assert!((900..1100).contains(&held.count()));
    }
}
