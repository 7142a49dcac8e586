//! Parameters of a path: value, interval and source.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A value with its interval and source. Unknown parameters are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter<T> {
    /// Best estimate.
    pub value: T,
    /// Lower end of the 95 % interval of the value; absent = unknown, or the value is exact.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub low: Option<T>,
    /// Upper end of that interval.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub high: Option<T>,
    /// Source of the value.
    pub source: Source,
}

impl<T> Parameter<T> {
    /// A value without an interval.
    pub const fn new(value: T, source: Source) -> Self {
        Self {
            value,
            low: None,
            high: None,
            source,
        }
    }

    /// A value set by the spec of a lab path or by a remedy on trial.
    pub const fn given(value: T) -> Self {
        Self::new(value, Source::Given)
    }

    /// A default for an unknown value.
    pub const fn assumed(value: T) -> Self {
        Self::new(value, Source::Assumed)
    }

    /// The parameter with this interval.
    #[must_use]
    pub fn within(self, low: T, high: T) -> Self {
        Self {
            low: Some(low),
            high: Some(high),
            ..self
        }
    }
}

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Computed from the measurements of a Run.
    Measured,
    /// Fitted by running candidates in the lab.
    Fitted,
    /// Taken from the facts of a host.
    Facts,
    /// Set by the spec of a lab path (then it is the truth) or by a remedy on trial.
    Given,
    /// A default for an unknown value.
    Assumed,
}

impl Source {
    /// All sources, from measured to assumed.
    pub const ALL: [Self; 5] = [
        Self::Measured,
        Self::Fitted,
        Self::Facts,
        Self::Given,
        Self::Assumed,
    ];

    /// Description for the reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "computed from the measurements of a Run",
            Self::Fitted => "fitted by running candidates in the lab",
            Self::Facts => "taken from the facts of a host",
            Self::Given => "set by the spec of a lab path or by a remedy on trial",
            Self::Assumed => "a default for an unknown value",
        }
    }

    /// Its name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Facts => "facts",
            Self::Given => "given",
            Self::Assumed => "assumed",
        }
    }
}

/// A limit, possibly known not to exist: in JSON a number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written<T>", into = "Written<T>")]
#[serde(bound(
    serialize = "T: Serialize + Clone",
    deserialize = "T: Deserialize<'de>"
))]
pub enum Limit<T> {
    /// Limit at this value.
    At(T),
    /// Known to be unlimited; greater than every value.
    Unlimited,
}

impl<T> Limit<T> {
    /// The limit, if there is one.
    pub fn bound(self) -> Option<T> {
        match self {
            Self::At(value) => Some(value),
            Self::Unlimited => None,
        }
    }
}

impl<T> From<Option<T>> for Limit<T> {
    /// `None` means known to be unlimited, not unknown.
    fn from(bound: Option<T>) -> Self {
        bound.map_or(Self::Unlimited, Self::At)
    }
}

/// A [`Limit`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Word(Word),
    Value(T),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Unlimited,
}

impl<T> From<Written<T>> for Limit<T> {
    fn from(written: Written<T>) -> Self {
        match written {
            Written::Word(Word::Unlimited) => Self::Unlimited,
            Written::Value(value) => Self::At(value),
        }
    }
}

impl<T> From<Limit<T>> for Written<T> {
    fn from(limit: Limit<T>) -> Self {
        match limit {
            Limit::Unlimited => Self::Word(Word::Unlimited),
            Limit::At(value) => Self::Value(value),
        }
    }
}

/// A span of time in whole nanoseconds (fields are named `…_ns`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl From<Nanos> for Duration {
    fn from(span: Nanos) -> Self {
        Self::from_nanos(span.0)
    }
}

impl From<Duration> for Nanos {
    /// Saturates at 584 years.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}
