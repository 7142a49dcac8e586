//! Checks of reproducibility: a cell gives the same bytes again, and others with another seed.

use super::{Check, Expect, Line, Work, outcome::Outcome};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "sameness",
    source: "ARCHITECTURE.md: same spec, seed and image, same bytes",
    work: Work::Twice(include_str!("specs/same.toml"), judge),
}];

/// Each cell is in the list twice, followed by the same cell with another seed.
fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let digest = |s: &Outcome<'_>| s.result.digest.clone();
    let one = |[first, again, other, _]: &[Outcome<'_>; 4]| {
        let label = first.factor("case");
        let truth = |holds: bool| Some(f64::from(u8::from(holds)));
        let same = truth(digest(first) == digest(again));
        let differs = truth(digest(first) != digest(other));
        vec![
            Line::new(
                format!("{label}, same seed, same digest"),
                Expect::exactly(1.0),
                same,
                "",
            ),
            Line::new(
                format!("{label}, other seed, other"),
                Expect::exactly(1.0),
                differs,
                "",
            ),
        ]
    };
    outcomes.as_chunks().0.iter().flat_map(one).collect()
}
