//! Parts of a whole.

/// A part of a whole; `None` of nothing. The kernel counts times in ticks, so that a part may come
/// out greater than the whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}
