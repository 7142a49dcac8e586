//! Confidence intervals.

/// An interval that covers a true value with a stated chance, 95 % by default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns true if it contains `value`, ends included.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half its width.
    pub fn half_width(&self) -> f64 {
        0.5 * (self.high - self.low)
    }

    /// The interval of exp(x), where this is that of x.
    pub(crate) fn exp(self) -> Self {
        Self {
            low: self.low.exp(),
            high: self.high.exp(),
        }
    }
}

/// Default confidence level.
pub(crate) const LEVEL: f64 = 0.95;
