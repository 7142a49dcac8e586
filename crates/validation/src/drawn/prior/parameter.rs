//! Drawn values as parameters of a path.

use std::time::Duration;

use model::{
    path::{Limit, Nanos, Parameter},
    units::{Rate, Share},
};

/// A parameter that the draw sets.
pub(super) fn given<T>(value: T) -> Option<Parameter<T>> {
    Some(Parameter::given(value))
}

/// A limit that the draw sets.
pub(super) fn limit<T>(value: T) -> Option<Parameter<Limit<T>>> {
    given(Limit::At(value))
}

/// Milliseconds as whole microseconds, at least one.
pub(super) fn duration(ms: f64) -> Duration {
    Duration::from_micros((ms * 1e3).round().max(1.0) as u64)
}

/// Milliseconds as a parameter.
pub(super) fn nanos(ms: f64) -> Option<Parameter<Nanos>> {
    given(duration(ms).into())
}

/// kbit/s, rounded, as a rate.
pub(super) fn rate(kbit: f64) -> Rate {
    Rate::from_bps(kbit.round() as u64 * 1000)
}

/// A percentage as a share, in whole millionths, as people write them.
pub(super) fn percent(percent: f64) -> Share {
    // No draw is above 80 %.
    Share::new((percent * 1e4).round() / 1e6).unwrap_or(Share::ONE)
}
