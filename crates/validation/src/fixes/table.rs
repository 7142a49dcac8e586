//! Tables of a score, in Markdown.

use std::fmt::Write as _;

use model::{proof::Role, run::Better};

use super::{Fixed, Score, Try};
use crate::accuracy::count::Count;

/// The totals, then a line for each scenario with a cause.
pub fn markdown(all: &[Fixed], score: &Score) -> String {
    let mut out = String::new();
    totals(&mut out, score);
    lines(&mut out, all);
    out
}

// Writing to a String cannot fail.
fn totals(out: &mut String, score: &Score) {
    let rows: [(&str, &Count); 10] = [
        ("healthy paths on which nothing was kept", &score.left_alone),
        (
            "of these, on which nothing was even tried",
            &score.untouched,
        ),
        ("paths with a cause on which a change was kept", &score.kept),
        (
            "kept changes with a remedy of a true cause",
            &score.of_cause,
        ),
        (
            "kept changes, every setting of which is on a host where it acts on what improved",
            &score.right_host,
        ),
        (
            "kept changes that are kept once more with another seed",
            &score.again,
        ),
        (
            "kept changes whose improved figures all lie in their predicted intervals",
            &score.as_predicted,
        ),
        (
            "predicted figures of kept changes that do so, guards included",
            &score.figures_as_predicted,
        ),
        (
            "paths without a figure that is worse beyond its bound afterwards",
            &score.not_worse,
        ),
        (
            "paths where nothing was kept, and the hosts are as before",
            &score.undone,
        ),
    ];
    out.push_str("| | |\n|---|---|\n");
    for (what, count) in rows {
        let _ = writeln!(out, "| {what} | {count} |");
    }
}

fn lines(out: &mut String, all: &[Fixed]) {
    out.push_str("\n| path | cause | found | change | result |\n|---|---|---|---|---|\n");
    for fixed in all.iter().filter(|f| !f.is_healthy()) {
        let codes = |codes: &[model::cause::CauseCode]| {
            let names: Vec<String> = codes.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        let (change, result) = fixed.tries.last().map_or_else(
            || (String::new(), untried(fixed).to_owned()),
            |last| {
                (
                    last.name.clone(),
                    result(fixed.again.as_ref().unwrap_or(last)),
                )
            },
        );
        let _ = writeln!(
            out,
            "| {} | {} | {} | {change} | {result} |",
            fixed.name,
            codes(&fixed.cause),
            codes(&fixed.found),
        );
    }
}

fn untried(fixed: &Fixed) -> &'static str {
    match fixed.twin {
        Some(model::twin::TwinVerdict::DoesNotFit) => "no twin fits, and no finding has a setting",
        Some(_) => "nothing is advised",
        None => "found healthy",
    }
}

/// Returns the outcome of a change: the largest change among the figures that improved or should
/// have.
fn result(last: &Try) -> String {
    let Some(decision) = last.decision else {
        return format!("not tried: {}", last.why.join("; "));
    };
    let targets = last.figures.iter().filter(|f| f.role == Role::Target);
    let change = |f: &&model::proof::Proved| {
        let ratio = f.ratio.map_or(1.0, |r| r.value).max(f64::MIN_POSITIVE);
        (ratio.ln().abs() * 1e6) as i64
    };
    let Some(most) = targets.max_by_key(change) else {
        return decision.to_string();
    };
    let (name, scale) = match most.figure.better() {
        Better::Higher => ("Mbit/s", 1e6),
        _ => ("ms", 1e3),
    };
    let predicted = most.predicted.map_or_else(String::new, |p| {
        format!(" (predicted {})", Short(p.value * most.without / scale))
    });
    format!(
        "{decision}: {} to {} {name} {}{predicted}",
        Short(most.without / scale),
        Short(most.with / scale),
        most.direction
    )
}

/// A number with three significant digits.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = 2 - self.0.abs().max(1e-3).log10().floor() as i32;
        write!(f, "{:.*}", digits.clamp(0, 4) as usize, self.0)
    }
}
