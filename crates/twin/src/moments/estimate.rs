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

    /// The same share, 0 to 1, with each bound this many times as far away from it.
    #[must_use]
    pub fn stretched(self, times: f64) -> Self {
        Self {
            low: (self.value - times * (self.value - self.low)).max(0.0),
            high: (self.value + times * (self.high - self.value)).min(1.0),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_stretched_about_the_value_and_stay_a_share() {
        let of = |value, low, high| {
            let e = Estimate { value, low, high }.stretched(2.0);
            [e.low, e.value, e.high]
        };
        assert_eq!(of(0.0, 0.0, 0.25), [0.0, 0.0, 0.5]);
        assert_eq!(of(0.5, 0.375, 0.875), [0.25, 0.5, 1.0]);
    }
}
