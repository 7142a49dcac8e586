//! The Findings in one sentence.

use analysis::view::View;
use model::{
    findings::{Finding, Place, Severity},
    net::{Direction, Layer},
};

use crate::{
    causes,
    says::{Says, end, say},
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
        (Some((first, others)), _) => found(first, others),
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
fn found(first: &Finding, others: &[&Finding]) -> Says {
    let mut titles: Vec<Says> = Vec::new();
    for other in others {
        let title = at(other.title.clone(), other.place);
        if other.code != first.code && !titles.contains(&title) {
            titles.push(title);
        }
    }
    let title = at(first.title.clone(), first.place);
    let says = first.says.clone();
    let list = |list, next| say!("{list}; {next}", list = list, next = next);
    match titles.into_iter().reduce(list) {
        None => say!("{Title}: {says}.", Title = title, says = says),
        Some(others) => say!(
            "{Title}: {says}; also: {others}.",
            Title = title,
            says = says,
            others = others
        ),
    }
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

/// The title of a finding, and where it is.
fn at(title: Says, place: Place) -> Says {
    let place = match (place.direction, place.end) {
        (Some(way), _) => along(way),
        (None, Some(side)) => end(side),
        (None, None) => return title,
    };
    say!("{title}, {place}", title = title, place = place)
}
