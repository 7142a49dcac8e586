//! Parts of a whole.

/// A part of a whole; `None` if the whole is 0. The kernel counts times in ticks, so a part may
/// exceed the whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}
