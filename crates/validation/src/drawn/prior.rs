//! Prior distributions of drawn paths.
//!
//! First a path without a fault, then none to three faults. Both parts are wide on purpose: rules
//! are made and evaluated on random paths.

mod base;
mod distribution;
mod inject;
mod parameter;
mod scale;

use model::path::Path;
use stats::Random;

use distribution::pick;

/// Draws a path with this name: its differences from the defaults of a spec.
pub fn path(name: &str, seed: u64) -> Path {
    let mut random = Random::new(seed);
    let mut path = Path::named(name);
    let scale = base::draw(&mut random, &mut path);
    let faults = pick(&mut random, &[(0, 16), (1, 58), (2, 20), (3, 6)]);
    for _ in 0..faults {
        inject::draw(&mut random, &scale, &mut path);
    }
    path
}
