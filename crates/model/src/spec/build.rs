//! One combination of values to one cell.

use std::{collections::BTreeMap, time::Duration};

use super::{
    keys::dotted,
    line, load,
    matrix::Factor,
    value::{ShapeText, Switch},
    view::{Found, View},
};
use crate::{
    cell::{CELL_SCHEMA, Cell, End, Ends, Path, Tunnel},
    net::Direction,
    units::{Rate, Seed},
};

/// What every cell of a spec shares.
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) factors: &'a [Factor],
    pub(super) crosses: usize,
}

/// Makes a cell, without its seed, or says what is impossible.
pub(super) fn cell(view: &mut View<'_>, frame: &Frame<'_>) -> Option<Cell> {
    let path = line::path(view);
    let tunnel = tunnel(view);
    let ends = path.as_ref().and_then(|path| ends(view, path));
    let traffic = load::measured(view);
    let (duration, warmup) = (view.plain("duration")?, view.plain("warmup")?);
    let cross = load::competing(view, frame.crosses, duration + warmup);
    let traffic = traffic?;
    load::refuse_crowds(view, &traffic, &cross);
    Some(Cell {
        schema: CELL_SCHEMA,
        name: frame.name.to_owned(),
        factors: factors(view, frame.factors),
        seed: Seed(0),
        duration,
        warmup,
        idle: view.plain("idle")?,
        sample: sample(view, duration)?,
        path: path?,
        tunnel: tunnel?,
        ends: ends?,
        traffic,
        cross,
    })
}

fn factors(view: &View<'_>, factors: &[Factor]) -> BTreeMap<String, serde_json::Value> {
    let pairs = factors.iter().zip(view.levels);
    pairs
        .map(|(factor, level)| (factor.name.clone(), level.shown.clone()))
        .collect()
}

fn sample(view: &mut View<'_>, duration: Duration) -> Option<Duration> {
    let sample: Found<Duration> = view.get("sample")?;
    if sample.value > duration {
        view.refuse(&sample, "is longer than the measured time");
    }
    Some(sample.value)
}

/// The tunnel, `Some(None)` if there is none.
fn tunnel(view: &mut View<'_>) -> Option<Option<Tunnel>> {
    if view
        .plain("tunnel")
        .is_none_or(|switch: Switch| switch == Switch::Off)
    {
        return Some(None);
    }
    let ip = view.plain("tunnel.ip")?;
    Some(Some(Tunnel {
        kind: view.plain("tunnel.kind")?,
        mtu: line::mtu(view, "tunnel.mtu", ip)?,
        at: view.plain("tunnel.at")?,
        ip,
    }))
}

fn ends(view: &mut View<'_>, path: &Path) -> Option<Ends> {
    let client = end(view, "client", Direction::Up, path);
    let server = end(view, "server", Direction::Down, path);
    Some(Ends {
        client: client?,
        server: server?,
    })
}

/// One end, which sends in `direction`.
fn end(view: &mut View<'_>, name: &str, direction: Direction, path: &Path) -> Option<End> {
    let own = format!("ends.{name}");
    let keys = |leaf: &str| [dotted(&own, leaf), dotted("ends", leaf)];
    Some(End {
        cc: view.first(keys("cc"))?.value,
        qdisc: view.first(keys("qdisc"))?.value,
        shape: shape(view, keys("shape"), direction, path)?,
        ecn: view.first(keys("ecn"))?.value,
        rmem: view.first(keys("rmem"))?.value,
        wmem: view.first(keys("wmem"))?.value,
        notsent_lowat: view.first(keys("notsent_lowat"))?.value,
    })
}

fn shape(
    view: &mut View<'_>,
    keys: [String; 2],
    direction: Direction,
    path: &Path,
) -> Option<Option<Rate>> {
    let shape: Found<ShapeText> = view.first(keys)?;
    match (shape.value, path.line(direction).rate) {
        (ShapeText::None, _) => Some(None),
        (ShapeText::Rate(rate), _) => Some(Some(rate)),
        (ShapeText::Share(share), Some(rate)) => Some(Some(scaled(rate, share.get()))),
        (ShapeText::Share(_), None) => {
            let way = line::name(direction);
            let reason = format!(
                "is a percentage of no rate: this end sends {way}; set path.rate or \
                 path.{way}.rate, or write a rate"
            );
            view.refuse(&shape, reason);
            None
        }
    }
}

/// A share of a rate, at least one bit per second.
fn scaled(rate: Rate, share: f64) -> Rate {
    rate.scaled(share).max(Rate::from_bps(1))
}
