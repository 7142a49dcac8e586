//! Comparisons as JUnit XML for CI servers: one test case per figure.

use model::{
    comparison::{Compared, Comparison, Verdict},
    run::FigureKind,
};

use super::{chance, change, side, title};
use crate::junit::{Case, Outcome, Suite, document};

/// The document. Worse figures fail, and so does missing throughput; undecided ones are skipped.
pub fn junit(comparison: &Comparison) -> String {
    let missing = comparison.no_throughput.iter().map(|why| Case {
        class: "throughput".to_owned(),
        name: FigureKind::Goodput.to_string(),
        text: why.to_string(),
        outcome: Outcome::Failed("missing"),
    });
    let suite = Suite {
        name: title(comparison),
        cases: missing.chain(comparison.lines.iter().map(case)).collect(),
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
