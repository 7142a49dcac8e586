//! The Findings in one sentence.

use analysis::view::View;
use model::{
    findings::{Finding, Severity},
    net::{Direction, Layer, Side},
};

use crate::{
    causes,
    says::{Says, say},
};

/// The first sentence. `healthy`: what the cause of that name says, if it holds; `open`: what would settle
/// the first of the doubts.
pub(crate) fn of(
    findings: &[Finding],
    healthy: Option<Says>,
    open: Option<Says>,
    view: &View,
) -> Says {
    let layer = match view.layer {
        Layer::Tunnel => say!("tunnel"),
        Layer::Underlay => say!("path"),
    };
    let grave: Vec<&Finding> = findings
        .iter()
        .filter(|f| f.severity > Severity::Info)
        .collect();
    match (grave.split_first(), healthy) {
        (Some((first, others)), _) => Says::repeated(found(first, others)),
        (None, Some(says)) => {
            say!(
                "Nothing holds this {layer} back: {says}.",
                layer = layer,
                says = says
            )
        }
        (None, None) => undecided(open, view, layer),
    }
}

/// The first finding and its sentence, and what else was found.
fn found(first: &Finding, others: &[&Finding]) -> String {
    let mut text = format!("{}{}: {}", capital(&first.title), place(first), first.says);
    let mut titles: Vec<String> = Vec::new();
    for other in others {
        let title = format!("{}{}", other.title, place(other));
        if other.code != first.code && !titles.contains(&title) {
            titles.push(title);
        }
    }
    if !titles.is_empty() {
        text.push_str(&format!("; also: {}", titles.join("; ")));
    }
    text.push('.');
    text
}

/// Nothing was found, and it is not healthy either.
fn undecided(open: Option<Says>, view: &View, layer: Says) -> Says {
    let slow = view.directions().into_iter().find_map(|way| {
        let load = way.default_load()?;
        let filled = way.utilization(&load)?;
        (filled < causes::FULL).then(|| {
            say!(
                "TCP {direction} takes {share} % of what this {layer} carries, and this run does not show why",
                direction = along(way.direction),
                share = format!("{:.0}", filled * 100.0),
                layer = layer.clone(),
            )
        })
    });
    let what = slow.unwrap_or_else(|| {
        say!(
            "This run does not show what limits this {layer}",
            layer = layer
        )
    });
    match open {
        Some(settle) => say!("{what}; next: {settle}.", what = what, settle = settle),
        None => say!("{what}.", what = what),
    }
}

fn along(direction: Direction) -> Says {
    match direction {
        Direction::Down => say!("down (far to near)"),
        Direction::Up => say!("up (near to far)"),
    }
}

fn place(finding: &Finding) -> String {
    match (finding.place.direction, finding.place.end) {
        (Some(way), _) => format!(", {}", along(way)),
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
