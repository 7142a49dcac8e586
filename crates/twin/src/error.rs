//! Errors of a fit.

use model::{
    job::Cause,
    path::PathError,
    text,
    text::{Text, Value},
};

/// Reason why no twin can be fitted to a Run.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum TwinError {
    /// The Run lacks data.
    Missing {
        /// Missing measurements.
        missing: Vec<Missing>,
        /// True if it ended early.
        cut_short: bool,
    },
    /// A figure that cannot be.
    Impossible {
        /// The figure.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// No lab path has the properties of the Run.
    NoPath(#[from] PathError),
    /// No candidate could be measured in the lab.
    AllFailed(#[source] Cause),
    /// The budget of time does not allow a trial.
    NoBudget {
        /// Real time that would, s.
        needs_s: u64,
    },
    /// Stopped before its end.
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

impl TwinError {
    /// The error with its values, for reports in any language. Messages of the lab are quoted.
    pub fn text(&self) -> Text {
        match self {
            Self::Missing { missing, cut_short } => {
                let all = missing.iter().map(|missing| missing.text());
                let list = all
                    .reduce(|first, next| text!("{first}, and {next}", first = first, next = next));
                let list = list.unwrap_or_else(|| Missing::Everything.text());
                match cut_short {
                    true => text!(
                        "the run lacks {list}; it was cut short. `pathtwin measure HOST --quick` \
                         measures all that a twin needs in about a minute",
                        list = list
                    ),
                    false => text!(
                        "the run lacks {list}. `pathtwin measure HOST --quick` measures all that a \
                         twin needs in about a minute",
                        list = list
                    ),
                }
            }
            Self::Impossible { what, value } => text!(
                "the run reports {what} of {value}, which is impossible: no twin can be made of it",
                what = *what,
                value = value.to_string()
            ),
            Self::NoPath(error) => text!(
                "the lab has no such path: {error}",
                error = error.to_string()
            ),
            Self::AllFailed(first) => text!(
                "every path that was tried failed in the lab; the first because: {error}",
                error = first.to_string()
            ),
            Self::NoBudget { needs_s } => text!(
                "one run of each remedy takes {seconds} s on two processors: give \
                 --budget-time {seconds}s or more",
                seconds = Value::Name(needs_s.to_string())
            ),
            Self::Stopped => text!("stopped"),
        }
    }
}

impl Missing {
    fn text(self) -> Text {
        match self {
            Self::Everything => text!("any sample that counts"),
            Self::Tcp(direction) => {
                text!("TCP in the direction {direction}", direction = direction)
            }
            Self::BaseRtt => text!("latency without load (probes, or a round trip of TCP)"),
        }
    }
}

/// The error of a search without a single Run.
pub(crate) fn all_failed(first: Option<Cause>) -> TwinError {
    TwinError::AllFailed(first.unwrap_or_else(|| "no run ended".into()))
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
