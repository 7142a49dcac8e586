//! Errors of the twins as tables.

use std::fmt::Write as _;

use super::{Fitted, Prediction, Question};

/// Errors of the parameters, then of the answers.
pub fn markdown(
    paths: usize,
    queues: usize,
    fitted: &[Fitted],
    predictions: &[Prediction],
) -> String {
    let mut out = String::from(
        "| parameter | n | median error, % | P90, % | interval holds |\n|---|---|---|---|---|\n",
    );
    for name in ["rate", "buffer"] {
        let ours: Vec<&Fitted> = fitted.iter().filter(|f| f.name == name).collect();
        let errors = ours.iter().map(|f| 100.0 * (f.value / f.truth - 1.0).abs());
        row(&mut out, name, &ours, &errors.collect::<Vec<_>>());
    }
    let loss: Vec<&Fitted> = fitted.iter().filter(|f| f.name == "loss").collect();
    let points = loss.iter().map(|f| 100.0 * (f.value - f.truth).abs());
    row(
        &mut out,
        "loss (percentage points)",
        &loss,
        &points.collect::<Vec<_>>(),
    );
    let _ = writeln!(
        out,
        "| kind of queue down | {paths} | | | {queues} of {paths} right |\n"
    );
    out.push_str(
        "| asked of the twin | n | goodput: median error, % | P90, % | largest, % | added delay: median error, ms | \
         P90, ms | within 3 ms or 15 % |\n|---|---|---|---|---|---|---|---|\n",
    );
    for question in Question::ALL {
        let ours: Vec<&Prediction> = predictions
            .iter()
            .filter(|a| a.question == question)
            .collect();
        answers(&mut out, question.name(), &ours);
    }
    let held: Vec<&Prediction> = predictions
        .iter()
        .filter(|a| a.question != Question::Unchanged)
        .collect();
    answers(&mut out, "all but the first", &held);
    out
}

fn row(out: &mut String, name: &str, ours: &[&Fitted], errors: &[f64]) {
    let with = ours.iter().filter_map(|f| Some((f.interval?, f.truth)));
    let held: Vec<bool> = with
        .map(|([low, high], truth)| low <= truth && truth <= high)
        .collect();
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} of {} |",
        ours.len(),
        shown(stats::median(errors)),
        shown(stats::percentile(errors, 90.0)),
        held.iter().filter(|h| **h).count(),
        held.len()
    );
}

fn answers(out: &mut String, name: &str, ours: &[&Prediction]) {
    let percent = |a: &&Prediction| 100.0 * (a.goodput_error().abs().exp() - 1.0);
    let goodput: Vec<f64> = ours.iter().map(percent).collect();
    let delay: Vec<f64> = ours
        .iter()
        .map(|a| a.delay_error_us().abs() / 1e3)
        .collect();
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} of {} |",
        ours.len(),
        shown(stats::median(&goodput)),
        shown(stats::percentile(&goodput, 90.0)),
        shown(goodput.iter().copied().reduce(f64::max)),
        shown(stats::median(&delay)),
        shown(stats::percentile(&delay, 90.0)),
        ours.iter().filter(|a| a.delay_holds()).count(),
        ours.len()
    );
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| format!("{v:.2}"))
}
