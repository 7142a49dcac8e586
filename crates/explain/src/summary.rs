//! The Findings in one sentence.

use model::{
    cell::Direction,
    findings::{Finding, Findings, Severity, Side},
    row::Layer,
};

use crate::{causes, view::View};

/// The first sentence.
pub(crate) fn of(findings: &Findings, view: &View) -> String {
    let layer = match view.layer {
        Layer::Tunnel => "tunnel",
        Layer::Underlay => "path",
    };
    let grave: Vec<&Finding> = findings
        .findings
        .iter()
        .filter(|f| f.severity > Severity::Info)
        .collect();
    let Some(first) = grave.first() else {
        let healthy = findings.findings.iter().find(|f| f.code == causes::HEALTHY);
        return healthy.map_or_else(
            || undecided(findings, view, layer),
            |f| format!("Nothing holds this {layer} back: {}.", f.says),
        );
    };
    let mut text = format!("{}{}: {}", capital(&first.title), place(first), first.says);
    let mut others: Vec<String> = Vec::new();
    for other in &grave[1..] {
        let title = format!("{}{}", other.title, place(other));
        if other.code != first.code && !others.contains(&title) {
            others.push(title);
        }
    }
    if !others.is_empty() {
        text.push_str(&format!("; also: {}", others.join("; ")));
    }
    text.push('.');
    text
}

/// Nothing was found, and it is not healthy either.
fn undecided(findings: &Findings, view: &View, layer: &str) -> String {
    let slow = view.ways().into_iter().find_map(|way| {
        let load = way.plain()?;
        let filled = way.filled(&load)?;
        (filled < causes::FULL).then(|| {
            format!(
                "TCP {} takes {:.0} % of what this {layer} carries, and this run does not show why",
                direction(way.direction),
                filled * 100.0
            )
        })
    });
    let what = slow.unwrap_or_else(|| format!("This run does not show what limits this {layer}"));
    match findings.cannot_tell.first() {
        Some(open) => format!("{what}; next: {}.", open.settle),
        None => format!("{what}."),
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down (far to near)",
        Direction::Up => "up (near to far)",
    }
}

fn place(finding: &Finding) -> String {
    match (finding.place.direction, finding.place.end) {
        (Some(way), _) => format!(", {}", direction(way)),
        (None, Some(Side::Near)) => ", near host".to_owned(),
        (None, Some(Side::Far)) => ", far host".to_owned(),
        (None, None) => String::new(),
    }
}

/// With a capital letter in front.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
