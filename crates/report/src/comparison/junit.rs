//! Comparisons as JUnit XML for CI servers: one test case per figure.

use model::comparison::{Compared, Comparison, Verdict};

use super::{chance, change, side, title};
use crate::junit::{Case, Outcome, Suite, document};

/// The document. Worse figures fail; undecided ones are skipped.
pub fn junit(comparison: &Comparison) -> String {
    let suite = Suite {
        name: title(comparison),
        cases: comparison.lines.iter().map(case).collect(),
    };
    document("pathtwin compare", &[suite])
}

fn case(line: &Compared) -> Case {
    let chance = match chance(line) {
        p if p.is_empty() => p,
        p => format!(", p {p}"),
    };
    Case {
        class: line.key.to_string(),
        name: line.kind.to_string(),
        text: format!(
            "{}: {} to {}, {}{chance}",
            line.verdict,
            side(line.kind, line.before),
            side(line.kind, line.after),
            change(line)
        ),
        outcome: match line.verdict {
            Verdict::Worse => Outcome::Failed("regression"),
            Verdict::CannotTell => Outcome::Skipped,
            Verdict::Better | Verdict::Same => Outcome::Passed,
        },
    }
}
