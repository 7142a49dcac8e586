//! What a path has and a twin cannot have.

use serde::{Deserialize, Serialize};

/// Time over which bursts are drawn: that of the plan, and more, s.
pub(super) const SPAN_S: f64 = 90.0;

/// What a twin cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The rate down changes every 0.2 to 8 s, by a factor of up to three.
    Rate,
    /// A policer in front of the queue down, at 0.7 to 1.3 times its rate.
    TwoQueues,
    /// Bursts of other traffic down: UDP at 20 to 80 % of the rate, or TCP, of 0.5 to 6 s each.
    Bursts,
    /// A profile of `cases/paths`.
    Profile,
}

impl Feature {
    /// Those that are drawn, in turn.
    pub(super) const DRAWN: [Self; 3] = [Self::Rate, Self::TwoQueues, Self::Bursts];

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rate, Self::TwoQueues, Self::Bursts, Self::Profile];

    /// Short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "a rate that changes",
            Self::TwoQueues => "a policer and a queue in series",
            Self::Bursts => "bursts of others",
            Self::Profile => "profiles of cases/paths",
        }
    }
}
