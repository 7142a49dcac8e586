//! Comparisons of two sets of runs, for terminals, pull requests and CI servers.

mod junit;
mod markdown;
mod text;

use model::{
    comparison::{Compared, Comparison, Estimate, Unit, Verdict},
    run::{self, FigureKind},
};

pub use junit::junit;
pub use markdown::markdown;
pub use text::text;

use crate::{number::short, plain::figure};

/// Verdicts in order of importance.
const ORDER: [Verdict; 4] = [
    Verdict::Worse,
    Verdict::Better,
    Verdict::CannotTell,
    Verdict::Same,
];

/// Number of figures by verdict, such as `1 worse, 2 better, 9 the same, 3 cannot tell`.
fn count(comparison: &Comparison) -> String {
    let words = |verdict| match verdict {
        Verdict::Same => "the same".to_owned(),
        other => other.to_string(),
    };
    let parts: Vec<String> = ORDER
        .iter()
        .map(|verdict| (comparison.with(*verdict).count(), words(*verdict)))
        .filter(|(n, _)| *n > 0)
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
    if parts.is_empty() {
        "no figure in both sets".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Names of both sets.
fn title(comparison: &Comparison) -> String {
    let side = |side: &model::comparison::RunSet| match side.runs.len() {
        1 => format!("{} (1 run)", side.name),
        n => format!("{} ({n} runs)", side.name),
    };
    format!(
        "{} against {}",
        side(&comparison.after),
        side(&comparison.before)
    )
}

/// Median and number of one side.
fn side(kind: FigureKind, values: model::comparison::Values) -> String {
    format!("{} n={}", figure(kind, values.median), values.n)
}

/// The change with its interval.
fn change(line: &Compared) -> String {
    let signed = |value: f64| {
        let sign = if value < 0.0 { "-" } else { "+" };
        format!("{sign}{}", short(100.0 * value.abs()))
    };
    let with = |e: Estimate, unit: &str, scale: &dyn Fn(f64) -> f64| {
        let [value, low, high] = [e.value, e.low, e.high].map(|v| signed(scale(v)));
        format!("{value} {unit} [{low}, {high}]")
    };
    match (line.ratio, line.difference) {
        (Some(ratio), _) => with(ratio, "%", &|v| v - 1.0),
        (None, Some(difference)) if line.kind.unit() == run::Unit::Share => {
            with(difference, "points", &|v| v)
        }
        (None, Some(difference)) => {
            let [value, low, high] =
                [difference.value, difference.low, difference.high].map(|v| figure(line.kind, v));
            format!("{value} [{low}, {high}]")
        }
        (None, None) => "too few values".to_owned(),
    }
}

fn chance(line: &Compared) -> String {
    line.p_corrected.map_or_else(String::new, |p| {
        if p < 0.001 {
            "<0.001".to_owned()
        } else {
            format!("{p:.3}")
        }
    })
}

/// Legend of the numbers.
fn reading(comparison: &Comparison) -> String {
    let unit = comparison.lines.first().map(|line| line.unit);
    let of = match unit {
        Some(Unit::Runs) => "medians of runs",
        _ => "samples",
    };
    format!(
        "Medians of n {of}; change with its 95 % interval; p corrected for {} comparisons; changes \
         below {} % ({} points of a share) do not count.",
        comparison.lines.iter().filter(|l| l.p.is_some()).count(),
        short(100.0 * comparison.threshold),
        short(100.0 * comparison.share_threshold),
    )
}
