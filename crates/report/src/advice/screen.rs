//! An Advice on one screen: the answer, the candidates that may help, and the outcome of
//! a remedy that the findings propose.

use model::{
    advice::{Advice, Effect, Origin, Tried},
    remedy::Remedy,
    safe,
};

use super::{answer, candidate, full_name, head, heading, row};
use crate::{
    answer::{RESERVED, Screen},
    wrap::wrap,
};

/// Lines of a table without its candidates: a gap, the two of its head, the path without any
/// change, and the number of those left out.
const TABLE: usize = 5;

/// Rows of the table that are shown even if the answer fills the screen.
const LEAST: usize = 2;

/// An Advice in the lines of a terminal, at most 80 columns wide. The rest is in
/// [`text`](super::text).
pub fn within(advice: &Advice, screen: Screen) -> String {
    let mut out = answer(advice);
    let mut end = proposed(advice);
    end.push_str("All candidates and reasons: the same command with --all (it is quick now).\n");
    let used = out.lines().count() + end.lines().count() + TABLE + RESERVED;
    table(
        &mut out,
        advice,
        screen.height.saturating_sub(used).max(LEAST),
    );
    out.push_str(&end);
    safe::lines(&out).into_owned()
}

/// The best `most` candidates that may help, and the number of the others.
fn table(out: &mut String, advice: &Advice, most: usize) {
    out.push('\n');
    head(out);
    row(out, "change nothing", "", &advice.unchanged.outcomes);
    let all = advice.tried.iter().enumerate();
    let (may_help, others): (Vec<_>, Vec<_>) = all.partition(|(_, tried)| may_help(tried.effect));
    for (place, tried) in may_help.iter().take(most) {
        candidate(out, advice, *place, tried);
    }
    let more = may_help.len().saturating_sub(most);
    let count = |effect| others.iter().filter(|(_, t)| t.effect == effect).count();
    let mut rest = vec![(more, "may help less")];
    rest.extend([Effect::Nothing, Effect::Harms].map(|e| (count(e), heading(e))));
    let rest: Vec<String> = rest
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {}", plural(n, what)))
        .collect();
    if !rest.is_empty() {
        out.push_str(&wrap(&format!("Of the others, {}.", rest.join(", ")), ""));
    }
}

fn may_help(effect: Effect) -> bool {
    matches!(
        effect,
        Effect::Helps | Effect::HelpsAtACost | Effect::Unsure
    )
}

/// A heading of the table, said of `n` candidates.
fn plural(n: usize, what: &str) -> String {
    match n {
        1 => what.to_owned(),
        _ => what.replacen("does", "do", 1).replacen("makes", "make", 1),
    }
}

/// The outcome of the best remedy of another kind that the findings propose: the answer of
/// `measure` has just named it.
fn proposed(advice: &Advice) -> String {
    let class = |tried: &Tried| tried.remedies.first().map(Remedy::class);
    let is_like_advised = |tried: &Tried| {
        let best = advice.advised();
        best.is_some_and(|best| class(best) == class(tried))
    };
    let mut of_findings = advice.tried.iter().filter(|t| t.origin == Origin::Finding);
    let Some(tried) = of_findings.find(|tried| !is_like_advised(tried)) else {
        return String::new();
    };
    let why: String = tried.texts.iter().map(|text| format!("; {text}")).collect();
    let name = full_name(tried);
    let effect = heading(tried.effect);
    wrap(
        &format!("Proposed by `explain`, too: {name}: {effect}{why}."),
        "",
    )
}
