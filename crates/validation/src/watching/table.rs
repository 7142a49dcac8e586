//! Tables of watched paths.

use std::fmt::Write as _;

use watch::message::{FactChange, FigureChange, Message};

use super::score::{Outcome, poisson};

/// The table, the counts, and the text of each false alarm.
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut out = String::from(
        "| path | down / up Mbit/s | round trip ms | change | day | found after h | reports | \
         the first says |\n|---|---|--:|---|--:|--:|--:|---|\n",
    );
    for outcome in outcomes {
        row(&mut out, outcome);
    }
    out.push('\n');
    changes(&mut out, outcomes);
    alarms(&mut out, outcomes);
    budgets(&mut out, outcomes);
    memory(&mut out, outcomes);
    for outcome in outcomes {
        for message in outcome.false_alarms() {
            let days = (message.found_us as f64 / 1e6 - super::weather::BOOT_S as f64) / 86_400.0;
            let _ = writeln!(out, "\nfalse, day {days:.1}: {}", message.words());
        }
    }
    out
}

fn row(out: &mut String, outcome: &Outcome) {
    let path = &outcome.drawn.cell.path;
    let mbps = |rate: Option<model::units::Rate>| rate.map_or(0.0, model::units::Rate::mbps);
    let planted = outcome.drawn.planted.as_ref();
    let found = outcome.found();
    let figures = found.first().map(|message| what(message));
    let hours = outcome.hours().map(|hours| format!("{hours:.1}"));
    let none = || "-".to_owned();
    let _ = writeln!(
        out,
        "| {} | {:.1} / {:.1} | {:.0} | {} | {} | {} | {} | {} |",
        outcome.drawn.name,
        mbps(path.down.rate),
        mbps(path.up.rate),
        1e3 * path.rtt().as_secs_f64(),
        planted.map_or_else(none, |p| p.change.to_string()),
        planted.map_or_else(none, |p| format!("{:.1}", p.at_s / 86_400.0)),
        hours.unwrap_or_else(|| if planted.is_some() {
            "not found".to_owned()
        } else {
            none()
        }),
        found.len(),
        figures.unwrap_or_else(none),
    );
}

/// The changed figures of a report, or, if none changed, the changed facts.
fn what(message: &Message) -> String {
    let figure = |change: &FigureChange| {
        let share = change.change.map_or_else(String::new, |c| match c {
            1.0.. => format!(" {:.0} times as high", 1.0 + c),
            _ => format!(" {:+.0} %", 100.0 * c),
        });
        format!("{}{share}", change.name())
    };
    let fact = |change: &FactChange| {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let (before, after) = (known(&change.before), known(&change.after));
        format!("{} from {before} to {after}", change.fact)
    };
    let parts: Vec<String> = match message.figures.is_empty() {
        false => message.figures.iter().map(figure).collect(),
        true => message.facts.iter().map(fact).collect(),
    };
    parts.join(", ")
}

fn changes(out: &mut String, outcomes: &[Outcome]) {
    let changed = outcomes.iter().filter(|o| o.drawn.planted.is_some());
    let hours: Vec<Option<f64>> = changed.map(Outcome::hours).collect();
    let soon = hours
        .iter()
        .flatten()
        .filter(|hours| **hours <= 24.0)
        .count();
    let _ = writeln!(
        out,
        "{soon} of {} changes found within a day, {} at all.",
        hours.len(),
        hours.iter().flatten().count()
    );
}

fn alarms(out: &mut String, outcomes: &[Outcome]) {
    let count: usize = outcomes.iter().map(|o| o.false_alarms().len()).sum();
    let years: f64 = outcomes.iter().map(Outcome::years).sum();
    let [low, high] = poisson(count as u64).map(|mean| mean / years.max(1e-9));
    let _ = writeln!(
        out,
        "{count} false alarms in {years:.2} years of a path: {:.2} a year (95 %: {low:.2} to {high:.2}).",
        count as f64 / years.max(1e-9)
    );
}

fn budgets(out: &mut String, outcomes: &[Outcome]) {
    let months = || {
        let all = outcomes.iter();
        all.flat_map(|o| {
            o.months()
                .into_values()
                .map(move |month| (o.drawn.month_bytes, month))
        })
    };
    let over = months()
        .filter(|(limit, month)| month.charged.max(month.passed) > *limit)
        .count();
    let uncharged = months()
        .filter(|(_, month)| month.passed > month.charged)
        .count();
    let fullest = months().map(|(limit, month)| month.charged as f64 / limit as f64);
    let passed: u64 = months().map(|(_, month)| month.passed).sum();
    let charged: u64 = months().map(|(_, month)| month.charged).sum();
    let _ = writeln!(
        out,
        "Budgets: {over} of {} months exceeded; the fullest one {:.1} %. {:.2} GB charged, {:.2} GB \
         on the line; {uncharged} months with more on the line than charged.",
        months().count(),
        100.0 * fullest.fold(0.0, f64::max),
        charged as f64 / 1e9,
        passed as f64 / 1e9,
    );
}

fn memory(out: &mut String, outcomes: &[Outcome]) {
    let all: Vec<[u64; 3]> = outcomes.iter().filter_map(Outcome::memory_kb).collect();
    let median = |index: usize| {
        let values: Vec<f64> = all.iter().map(|kb| kb[index] as f64 / 1e3).collect();
        stats::median(&values).unwrap_or(0.0)
    };
    let samples = outcomes.iter().flat_map(|o| &o.watched.memory);
    let most = samples.map(|memory| memory.rss_kb).max().unwrap_or(0);
    let watched: f64 = outcomes.iter().map(|o| 86_400.0 * o.days).sum();
    let guests: f64 = outcomes.iter().map(|o| o.guest_cpu_s).sum();
    let _ = writeln!(
        out,
        "Memory of the watch (median over the paths): {:.1} MB after ten minutes, {:.1} MB at half of \
         the time, {:.1} MB at the end; at most {:.1} MB. The lab took \
         {:.1} s of a processor for a day of a path.",
        median(0),
        median(1),
        median(2),
        most as f64 / 1e3,
        86_400.0 * guests / watched.max(1.0),
    );
}
