//! Summary of the Findings in one sentence.

use analysis::view::View;
use model::{
    findings::{Finding, Place},
    net::{Direction, Layer, Side},
    text,
    text::{Text, Value},
};

use crate::{cause, verdict::end};

/// The summary. `healthy`: the text of that cause, if confirmed; `open`: the measurement that would
/// decide most undecided causes.
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
    let grave: Vec<&Finding> = findings.iter().filter(|f| f.is_problem()).collect();
    match (grave.split_first(), healthy) {
        (Some((first, others)), _) => found(first, others),
        (None, Some(text)) => {
            text!(
                "Nothing limits this {layer}: {reason}.",
                layer = layer,
                reason = text
            )
        }
        (None, None) => undecided(open, view, layer),
    }
}

/// The first finding with its text, and the titles of the others.
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
        None => text!("{Title}: {description}.", Title = title, description = text),
        Some(others) => text!(
            "{Title}: {description}; also: {others}.",
            Title = title,
            description = text,
            others = others
        ),
    }
}

/// Neither a finding nor a healthy path.
fn undecided(open: Option<Text>, view: &View, layer: Text) -> Text {
    let slow = view.directions().into_iter().find_map(|dir| {
        let load = dir.default_load()?;
        let filled = dir.utilization(&load)?;
        (filled < cause::FULL).then(|| {
            text!(
                "TCP {direction} reaches {share} of the capacity of this {layer}, and this run does not show why",
                direction = along(dir.direction),
                share = Value::Share((filled * 100.0).round() / 100.0),
                layer = layer.clone(),
            )
        })
    });
    let one_host = || {
        let limited = view
            .directions()
            .iter()
            .any(|dir| dir.is_limited_by_processors());
        (limited && view.host(Side::Near).is_both_ends()).then(|| {
            text!("Both ends are one host, whose processors limit TCP: this run shows nothing of a path")
        })
    };
    let what = slow.or_else(one_host).unwrap_or_else(|| {
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

/// The title of a finding with its place.
fn at(title: Text, place: Place) -> Text {
    let place = match (place.direction, place.end) {
        (Some(dir), _) => along(dir),
        (None, Some(side)) => end(side),
        (None, None) => return title,
    };
    text!("{title}, {place}", title = title, place = place)
}
