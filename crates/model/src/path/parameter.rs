//! One parameter of a path: its value, how sure it is, and where it comes from.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A value with its interval and its source. What is unknown is no parameter: it is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter<T> {
    /// The best single value.
    pub value: T,
    /// Lower end of the 95 % interval of the value; absent = unknown, or the value is exact.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub low: Option<T>,
    /// Upper end of that interval.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub high: Option<T>,
    /// Where the value comes from.
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

    /// A value that was set on purpose: by the spec of a lab path, or by a remedy on trial.
    pub const fn given(value: T) -> Self {
        Self::new(value, Source::Given)
    }

    /// A value that nobody knows, and that something has to stand for.
    pub const fn assumed(value: T) -> Self {
        Self::new(value, Source::Assumed)
    }

    /// The same value with its interval.
    #[must_use]
    pub fn within(self, low: T, high: T) -> Self {
        Self {
            low: Some(low),
            high: Some(high),
            ..self
        }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Computed from what a Run measured.
    Measured,
    /// Found by running candidates in the lab.
    Fitted,
    /// Taken from the facts of a host.
    Facts,
    /// Set on purpose: by the spec of a lab path (then it is the truth), or by a remedy on trial.
    Given,
    /// Known to nobody: a default that stands in.
    Assumed,
}

impl Source {
    /// All, from what was seen to what was not.
    pub const ALL: [Self; 5] = [
        Self::Measured,
        Self::Fitted,
        Self::Facts,
        Self::Given,
        Self::Assumed,
    ];

    /// What it means, for the reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "computed from what a Run measured",
            Self::Fitted => "found by running candidates in the lab",
            Self::Facts => "taken from the facts of a host",
            Self::Given => "set on purpose, by the spec of a lab path or a remedy on trial",
            Self::Assumed => "known to nobody; a default stands in",
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

/// A bound that may be known not to exist: in JSON a number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written<T>", into = "Written<T>")]
#[serde(bound(
    serialize = "T: Serialize + Clone",
    deserialize = "T: Deserialize<'de>"
))]
pub enum Limit<T> {
    /// It bounds at this value.
    At(T),
    /// It is known not to bound; greater than every value.
    Unlimited,
}

impl<T> Limit<T> {
    /// The bound, if there is one.
    pub fn bound(self) -> Option<T> {
        match self {
            Self::At(value) => Some(value),
            Self::Unlimited => None,
        }
    }
}

impl<T> From<Option<T>> for Limit<T> {
    /// No bound is known to be none, not unknown.
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
    /// Spans beyond 584 years become that long.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}
