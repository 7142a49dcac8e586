//! Random choices.

use stats::Random;

/// One of several items.
pub(super) fn pick<'a, T>(random: &mut Random, all: &'a [T]) -> Option<&'a T> {
    let at = random.next_u64().checked_rem(all.len() as u64)?;
    all.get(at as usize)
}
