//! Estimates with their intervals, and the values that a path can have.

use crate::error::TwinError;

/// A value and the bounds of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Estimate {
    /// A value, and a share of it on either side.
    pub fn around(value: f64, share: f64) -> Self {
        Self {
            value,
            low: value * (1.0 - share),
            high: value * (1.0 + share),
        }
    }

    /// The same with bounds at least this far away, as a share of the value.
    #[must_use]
    pub fn at_least(self, share: f64) -> Self {
        Self {
            low: self.low.min(self.value * (1.0 - share)),
            high: self.high.max(self.value * (1.0 + share)),
            ..self
        }
    }

    /// The same value with bounds whose distance is this share of theirs, about the same middle.
    #[must_use]
    pub fn narrowed(self, share: f64) -> Self {
        let middle = f64::midpoint(self.low, self.high);
        let half = share * (self.high - self.low) / 2.0;
        Self {
            low: middle - half,
            high: middle + half,
            ..self
        }
    }
}

/// Refuses values that no path has.
pub(super) fn sane(what: &'static str, value: f64, least: f64, most: f64) -> Result<(), TwinError> {
    if value.is_finite() && (least..=most).contains(&value) {
        return Ok(());
    }
    Err(TwinError::Impossible { what, value })
}
