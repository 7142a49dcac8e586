//! The Findings in one sentence.

use analysis::view::View;
use model::{
    findings::{Finding, Place, Severity},
    net::{Direction, Layer},
    text,
    text::Text,
};

use crate::{causes, verdict::end};

/// The first sentence. `healthy`: what the cause of that name says, if it holds; `open`: what would
/// settle the first of the doubts.
pub(crate) fn of(
    findings: &[Finding],
    healthy: Option<Text>,
    open: Option<Text>,
    view: &View,
) -> Text {
    let layer = match view.layer {
        Layer::Tunnel => text!("tunnel"),
        Layer::Underlay => text!("path"),
    };
    let grave: Vec<&Finding> = findings
        .iter()
        .filter(|f| f.severity > Severity::Info)
        .collect();
    match (grave.split_first(), healthy) {
        (Some((first, others)), _) => found(first, others),
        (None, Some(text)) => {
            text!(
                "Nothing holds this {layer} back: {says}.",
                layer = layer,
                says = text
            )
        }
        (None, None) => undecided(open, view, layer),
    }
}

/// The first finding and its sentence, and what else was found.
fn found(first: &Finding, others: &[&Finding]) -> Text {
    let mut titles: Vec<Text> = Vec::new();
    for other in others {
        let title = at(other.title.clone(), other.place);
        if other.code != first.code && !titles.contains(&title) {
            titles.push(title);
        }
    }
    let title = at(first.title.clone(), first.place);
    let text = first.text.clone();
    let list = |list, next| text!("{list}; {next}", list = list, next = next);
    match titles.into_iter().reduce(list) {
        None => text!("{Title}: {says}.", Title = title, says = text),
        Some(others) => text!(
            "{Title}: {says}; also: {others}.",
            Title = title,
            says = text,
            others = others
        ),
    }
}

/// Nothing was found, and it is not healthy either.
fn undecided(open: Option<Text>, view: &View, layer: Text) -> Text {
    let slow = view.directions().into_iter().find_map(|way| {
        let load = way.default_load()?;
        let filled = way.utilization(&load)?;
        (filled < causes::FULL).then(|| {
            text!(
                "TCP {direction} takes {share} % of what this {layer} carries, and this run does not show why",
                direction = along(way.direction),
                share = format!("{:.0}", filled * 100.0),
                layer = layer.clone(),
            )
        })
    });
    let what = slow.unwrap_or_else(|| {
        text!(
            "This run does not show what limits this {layer}",
            layer = layer
        )
    });
    match open {
        Some(settle) => text!("{what}; next: {settle}.", what = what, settle = settle),
        None => text!("{what}.", what = what),
    }
}

fn along(direction: Direction) -> Text {
    match direction {
        Direction::Down => text!("down (far to near)"),
        Direction::Up => text!("up (near to far)"),
    }
}

/// The title of a finding, and where it is.
fn at(title: Text, place: Place) -> Text {
    let place = match (place.direction, place.end) {
        (Some(way), _) => along(way),
        (None, Some(side)) => end(side),
        (None, None) => return title,
    };
    text!("{title}, {place}", title = title, place = place)
}
