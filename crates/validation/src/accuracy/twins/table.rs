//! Errors of the twins as tables.

use std::fmt::Write as _;

use model::{advice::AdviceFigure, twin::TwinVerdict};

use super::{Fitted, Judged, Parameter, Prediction, Question};

/// Errors of the parameters, then of the answers of all twins, and of those that fit.
pub fn markdown(all: &[Judged]) -> String {
    let mut out = verdicts(all);
    parameters(&mut out, all);
    out.push('\n');
    questions(
        &mut out,
        &all.iter().flat_map(|j| &j.asked).collect::<Vec<_>>(),
    );
    let fit = |judged: &&Judged| judged.verdict == TwinVerdict::FitForAdvising;
    let fit = all.iter().filter(fit).flat_map(|j| &j.asked);
    let held = held_out(&fit.collect::<Vec<_>>());
    answers(&mut out, "all but the first, twins fit for advising", &held);
    out.push('\n');
    out.push_str(&super::order::markdown(all));
    out
}

fn verdicts(all: &[Judged]) -> String {
    let of = |verdict| all.iter().filter(|j| j.verdict == verdict).count();
    format!(
        "| paths | fit for advising | order only | does not fit | untested |\n|---|---|---|---|---|\n\
         | {} | {} | {} | {} | {} |\n\n",
        all.len(),
        of(TwinVerdict::FitForAdvising),
        of(TwinVerdict::OrderOnly),
        of(TwinVerdict::DoesNotFit),
        of(TwinVerdict::Untested)
    )
}

fn parameters(out: &mut String, all: &[Judged]) {
    out.push_str(
        "| parameter | n | median error | P90 | 95 % interval holds |\n|---|---|---|---|---|\n",
    );
    let relative = |f: &Fitted| 100.0 * (f.value / f.truth - 1.0).abs();
    let points = |f: &Fitted| 100.0 * (f.value - f.truth).abs();
    row(out, "rate, %", all, Parameter::Rate, &relative);
    row(out, "buffer, %", all, Parameter::Buffer, &relative);
    row(
        out,
        "loss, percentage points",
        all,
        Parameter::Loss,
        &points,
    );
    let same = all.iter().filter(|j| j.same_queue).count();
    let _ = writeln!(
        out,
        "| kind of queue down | {} | | | {same} right |",
        all.len()
    );
}

fn questions(out: &mut String, predictions: &[&Prediction]) {
    out.push_str(
        "| asked of the twin | n | goodput: median error, % | P90, % | largest, % | added delay: median error, ms | \
         P90, ms | within 3 ms or 15 % | 90 % interval of the goodput's ratio holds | of the loaded RTT's |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for question in Question::ALL {
        let of = predictions.iter().filter(|p| p.question == question);
        answers(out, question.name(), &of.copied().collect::<Vec<_>>());
    }
    answers(out, "all but the first", &held_out(predictions));
}

/// All but the load of the fit.
fn held_out<'a>(predictions: &[&'a Prediction]) -> Vec<&'a Prediction> {
    let held = predictions.iter();
    held.filter(|p| p.question != Question::Unchanged)
        .copied()
        .collect()
}

fn row(
    out: &mut String,
    name: &str,
    all: &[Judged],
    parameter: Parameter,
    error: &dyn Fn(&Fitted) -> f64,
) {
    let fitted = all.iter().flat_map(|j| &j.fitted);
    let ours: Vec<&Fitted> = fitted.filter(|f| f.name == parameter).collect();
    let errors: Vec<f64> = ours.iter().map(|f| error(f)).collect();
    let with = ours.iter().filter_map(|f| Some((f.interval?, f.truth)));
    let held: Vec<bool> = with
        .map(|([low, high], truth)| low <= truth && truth <= high)
        .collect();
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} of {} |",
        ours.len(),
        shown(stats::median(&errors)),
        shown(stats::percentile(&errors, 90.0)),
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
        "| {name} | {} | {} | {} | {} | {} | {} | {} of {} | {} | {} |",
        ours.len(),
        shown(stats::median(&goodput)),
        shown(stats::percentile(&goodput, 90.0)),
        shown(goodput.iter().copied().reduce(f64::max)),
        shown(stats::median(&delay)),
        shown(stats::percentile(&delay, 90.0)),
        ours.iter().filter(|a| a.delay_holds()).count(),
        ours.len(),
        stated(ours, AdviceFigure::Goodput),
        stated(ours, AdviceFigure::LoadedP50)
    );
}

/// Stated intervals that hold, of all.
fn stated(ours: &[&Prediction], figure: AdviceFigure) -> String {
    let all = ours.iter().flat_map(|p| &p.stated);
    let own: Vec<bool> = all
        .filter(|s| s.change.figure == figure)
        .map(super::Stated::holds)
        .collect();
    if own.is_empty() {
        return String::new();
    }
    let held = own.iter().filter(|holds| **holds).count();
    format!("{held} of {}", own.len())
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| format!("{v:.2}"))
}
