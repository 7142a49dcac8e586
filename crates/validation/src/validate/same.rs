//! The same cell gives the same bytes, another seed others.

use super::{Check, Expect, Line, Work, seen::Seen};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "sameness",
    source: "ARCHITECTURE.md: same spec, seed and image, same bytes",
    work: Work::Twice(include_str!("specs/same.toml"), judge),
}];

/// Each cell comes twice, one after the other; then its sibling with another seed.
fn judge(seen: &[Seen<'_>]) -> Vec<Line> {
    let digest = |s: &Seen<'_>| s.result.digest.clone();
    let one = |[first, again, other, _]: &[Seen<'_>; 4]| {
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
    seen.as_chunks().0.iter().flat_map(one).collect()
}
