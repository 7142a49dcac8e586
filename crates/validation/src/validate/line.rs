//! Lines of the table: expectation, value and verdict.

use std::fmt;

use serde::Serialize;

/// Expected value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expect {
    /// The theoretical value; absent if there is only a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The least that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The most that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

impl Expect {
    /// `value` ± `tolerance`.
    pub fn near(value: f64, tolerance: f64) -> Self {
        Self {
            value: Some(value),
            low: Some(value - tolerance),
            high: Some(value + tolerance),
        }
    }

    /// `value` ± a share of it.
    pub fn within(value: f64, share: f64) -> Self {
        Self::near(value, value.abs() * share)
    }

    /// Exactly `value`.
    pub fn exactly(value: f64) -> Self {
        Self::near(value, 0.0)
    }

    /// `low` or more.
    pub fn at_least(low: f64) -> Self {
        Self {
            low: Some(low),
            ..Self::default()
        }
    }

    /// `high` or less.
    pub fn at_most(high: f64) -> Self {
        Self {
            high: Some(high),
            ..Self::default()
        }
    }

    /// Returns true if a value passes.
    pub fn holds(&self, got: f64) -> bool {
        // The bounds themselves pass; a millionth of a millionth is rounding.
        let slack = 1e-12 * got.abs();
        got.is_finite()
            && self.low.is_none_or(|low| got >= low - slack)
            && self.high.is_none_or(|high| got <= high + slack)
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value, self.low, self.high) {
            (Some(value), Some(low), Some(high)) if high > low => {
                write!(f, "{} ± {}", number(value), number((high - low) / 2.0))
            }
            (Some(value), ..) => f.write_str(&number(value)),
            (None, Some(low), Some(high)) => write!(f, "{} to {}", number(low), number(high)),
            (None, Some(low), None) => write!(f, ">= {}", number(low)),
            (None, None, Some(high)) => write!(f, "<= {}", number(high)),
            (None, None, None) => Ok(()),
        }
    }
}

/// A number with five digits at most, or whole if it is large.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (4.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The value is as expected.
    Pass,
    /// The value is out of tolerance, or missing.
    Fail,
    /// It is not, for a reason in docs/validation.md; not counted as a failure.
    Known,
    /// It cannot be checked on this host.
    Skip,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Known => "differs",
            Self::Skip => "skip",
        })
    }
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The check and its detail.
    pub check: String,
    /// Expected value.
    pub expected: Expect,
    /// Measured value; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<f64>,
    /// Unit of both.
    pub unit: &'static str,
    /// Source of the expectation.
    pub source: String,
    /// Result.
    pub verdict: Verdict,
    /// Reason for the lack of a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Line {
    /// A judged value. `what` distinguishes it from the other lines of its check.
    pub(super) fn new(
        what: impl Into<String>,
        expected: Expect,
        got: Option<f64>,
        unit: &'static str,
    ) -> Self {
        let passes = got.is_some_and(|got| expected.holds(got));
        let reason = got.is_none().then(|| "nothing was measured".to_owned());
        Self {
            check: what.into(),
            expected,
            got,
            unit,
            source: String::new(),
            verdict: if passes { Verdict::Pass } else { Verdict::Fail },
            reason,
        }
    }

    /// The same line with a different source.
    pub(super) fn source(self, source: impl Into<String>) -> Self {
        let source = source.into();
        Self { source, ..self }
    }

    /// The same line with a documented difference; a missing value still fails.
    pub(super) fn known(self, why: &str) -> Self {
        if self.verdict != Verdict::Fail || self.got.is_none() {
            return self;
        }
        Self {
            verdict: Verdict::Known,
            reason: Some(why.to_owned()),
            ..self
        }
    }

    /// A line without a value, because of an error.
    pub(super) fn failed(what: String, why: impl ToString) -> Self {
        Self {
            reason: Some(why.to_string()),
            ..Self::new(what, Expect::default(), None, "")
        }
    }

    /// A line without a value, because this host cannot check it.
    pub(super) fn skipped(why: impl ToString) -> Self {
        Self {
            verdict: Verdict::Skip,
            ..Self::failed(String::new(), why)
        }
    }
}
