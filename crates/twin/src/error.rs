//! Errors of a fit.

use std::fmt;

use model::{job::Cause, path::PathError};

/// Reason why no twin can be fitted to a Run.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// The Run lacks data.
    #[error("{}", listing(.missing, *.cut_short))]
    Missing {
        /// Missing measurements.
        missing: Vec<Missing>,
        /// True if it ended early.
        cut_short: bool,
    },
    /// A figure that cannot be.
    #[error("the run reports {what} of {value}, which is impossible: no twin can be made of it")]
    Impossible {
        /// The figure.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// No lab path has the properties of the Run.
    #[error("the lab has no such path: {0}")]
    NoPath(#[from] PathError),
    /// No candidate could be measured in the lab.
    #[error("every path that was tried failed in the lab; the first because: {0}")]
    AllFailed(#[source] Cause),
    /// The budget of time does not allow a trial.
    #[error(
        "one run of each remedy takes {needs_s} s on two processors: give --budget-time {needs_s}s or more"
    )]
    NoBudget {
        /// Real time that would, s.
        needs_s: u64,
    },
    /// Stopped before its end.
    #[error("stopped")]
    Stopped,
}

/// Measurement missing from a Run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// No sample counts.
    Everything,
    /// TCP in this direction.
    Tcp(model::net::Direction),
    /// The round trip without load.
    BaseRtt,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("any sample that counts"),
            Self::Tcp(direction) => write!(f, "TCP in the direction {direction}"),
            Self::BaseRtt => f.write_str("latency without load (probes, or a round trip of TCP)"),
        }
    }
}

/// The error of a search without a single Run.
pub(crate) fn all_failed(first: Option<Cause>) -> TwinError {
    TwinError::AllFailed(first.unwrap_or_else(|| "no run ended".into()))
}

fn listing(missing: &[Missing], cut_short: bool) -> String {
    let list: Vec<String> = missing.iter().map(Missing::to_string).collect();
    let early = if cut_short { "; it was cut short" } else { "" };
    format!(
        "the run lacks {}{early}. `pathtwin measure HOST --quick` measures all that a twin needs in about a minute",
        list.join(", and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_missing_programs_and_their_packages() {
        let error = TwinError::Missing {
            missing: vec![Missing::Tcp(model::net::Direction::Up), Missing::BaseRtt],
            cut_short: true,
        };
        let text = error.to_string();
        assert!(text.starts_with("the run lacks TCP in the direction up, and latency"));
        assert!(text.contains("cut short") && text.contains("measure HOST --quick"));
    }
}
