//! Tokens of a bucket over time.

/// Tokens that a bucket of a rate, in bytes/s, lacks at each of these points but the first, bytes.
/// A point is a time in s and the bytes that have passed until then. A bucket that is full at the
/// start lacks the same at any size.
pub(crate) fn lacks(
    points: impl Iterator<Item = (f64, f64)>,
    rate: f64,
) -> impl Iterator<Item = f64> {
    let (mut last, mut lacks) = (None, 0.0_f64);
    points.filter_map(move |(at_s, bytes)| {
        let (before_s, before) = last.replace((at_s, bytes))?;
        lacks = (lacks + bytes - before - rate * (at_s - before_s)).max(0.0);
        Some(lacks)
    })
}
