//! Elementary distributions.

use model::net::Direction;
use stats::Random;

/// A random one of some weighted values.
pub(super) fn pick<T: Copy>(random: &mut Random, of: &[(T, usize)]) -> T {
    let mut at = random.below(of.iter().map(|(_, weight)| weight).sum());
    for (value, weight) in of {
        match at.checked_sub(*weight) {
            Some(rest) => at = rest,
            None => return *value,
        }
    }
    // Not reached: `at` is below the sum of the weights.
    of[of.len() - 1].0
}

/// Returns true with this probability.
pub(super) fn chance(random: &mut Random, share: f64) -> bool {
    random.unit() < share
}

/// A value between two, evenly on the scale of logarithms.
pub(super) fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    (low.ln() + random.unit() * (high / low).ln()).exp()
}

/// Down, up or both, with equal probability.
pub(super) fn directions(random: &mut Random) -> &'static [Direction] {
    const OF: [&[Direction]; 3] = [
        &[Direction::Down],
        &[Direction::Up],
        &[Direction::Down, Direction::Up],
    ];
    OF[random.below(3)]
}
