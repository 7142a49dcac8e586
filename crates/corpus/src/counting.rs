//! Counts of findings: the table behind [`explain::calibration`].

use std::{collections::BTreeMap, fmt::Write};

use explain::calibration::Counts;
use model::cause::CauseCode;

use crate::outcome::Outcome;

/// Counts findings by cause and strength.
pub fn count(outcomes: &[Outcome]) -> BTreeMap<CauseCode, [[u32; 2]; 3]> {
    let mut table: BTreeMap<CauseCode, Counts> = BTreeMap::new();
    for outcome in outcomes {
        for (found, right) in outcome.judged() {
            let counts = table.entry(found.code.clone()).or_default();
            let cell = &mut counts[found.strength as usize];
            cell[0] += u32::from(right);
            cell[1] += 1;
        }
    }
    table
}

/// The text of `counts.rs`.
pub fn source(outcomes: &[Outcome]) -> String {
    let heading = "//! Counts of the corpus, made from corpus/judged/training.jsonl by `UPDATE_DOCS=1 \
                   cargo test -p\n//! pathtwin-corpus`.";
    table(heading, "COUNTS", &count(outcomes))
}

/// The text of a module with a table of counts.
pub fn table(heading: &str, name: &str, counts: &BTreeMap<CauseCode, [[u32; 2]; 3]>) -> String {
    let mut out = format!(
        "{heading}\n\nuse model::cause::CauseCode;\n\nuse super::table::Counts;\n\n\
         /// Correct findings and all findings of each cause, by strength from weak to strong.\n\
         #[rustfmt::skip]\n\
         pub(super) const {name}: &[(CauseCode, Counts)] = &[\n"
    );
    for (code, counts) in counts {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    (CauseCode::{}, {counts:?}),", constant(code));
    }
    out.push_str("];\n");
    out
}

/// Name of a code's constant.
fn constant(code: &CauseCode) -> String {
    code.as_str().replace('-', "_").to_uppercase()
}
