//! Conversion of one combination of values into a cell.

use std::collections::BTreeMap;

use super::{
    keys::dotted,
    line, load,
    matrix::Factor,
    reason::Reason,
    value::{ShapeText, Switch},
    view::{Found, View},
};
use crate::{
    cell::{
        CELL_SCHEMA, Cell, End, Ends, Field, Impossible, KernelName, LabPath, Rule, Table, Tunnel,
    },
    net::{Direction, Side},
    units::{Rate, Seed},
};

/// Values shared by all cells of a spec.
pub(super) struct Frame<'a> {
    pub(super) name: &'a str,
    pub(super) factors: &'a [Factor],
    pub(super) crosses: usize,
}

/// Builds a cell without its seed, or reports invalid values.
pub(super) fn cell(view: &mut View<'_>, frame: &Frame<'_>) -> Option<Cell> {
    let path = line::path(view);
    let tunnel = match &path {
        Some(path) => tunnel(view, path),
        None => None,
    };
    let ends = path.as_ref().and_then(|path| ends(view, path));
    let traffic = load::measured(view);
    let (numbers, cross) = load::competing(view, frame.crosses);
    let cell = Cell {
        schema: CELL_SCHEMA,
        name: frame.name.to_owned(),
        factors: factors(view, frame.factors),
        seed: Seed(0),
        duration: view.plain("duration")?,
        warmup: view.plain("warmup")?,
        idle: view.plain("idle")?,
        sample: view.plain("sample")?,
        kernel: kernel(view)?,
        engine: view.plain("engine")?,
        path: path?,
        tunnel: tunnel?,
        ends: ends?,
        traffic: traffic?,
        cross,
    };
    for impossible in cell.impossible() {
        refuse(view, &impossible, &numbers);
    }
    Some(cell)
}

/// Reports an invalid value at the place where the spec sets it. `numbers` are those of the
/// `[[cross]]` tables in the order of the cell's competitors.
fn refuse(view: &mut View<'_>, impossible: &Impossible, numbers: &[usize]) {
    let Field { table, leaf } = impossible.field;
    let own = match table {
        Table::Top => leaf.to_owned(),
        Table::Path => dotted("path", leaf),
        Table::Line(direction) => format!("path.{}.{leaf}", line::name(direction)),
        Table::Tunnel => dotted("tunnel", leaf),
        Table::TunnelLine(direction) => format!("tunnel.{}.{leaf}", line::name(direction)),
        Table::LocalLine(direction) => format!("local.{}.{leaf}", line::name(direction)),
        Table::End(side) => format!("ends.{}.{leaf}", side.spec_name()),
        Table::Traffic => dotted("traffic", leaf),
        Table::Cross(index) => {
            let number = numbers.get(index).copied().unwrap_or(index);
            format!("cross.{number}.{leaf}")
        }
    };
    let shared = match (table, leaf) {
        (Table::Line(_), "delay") => Some("path.rtt".to_owned()),
        (Table::Line(_), _) => Some(dotted("path", leaf)),
        (Table::End(_), _) => Some(dotted("ends", leaf)),
        (Table::TunnelLine(_), _) => Some(dotted("tunnel", leaf)),
        (Table::LocalLine(_), _) => Some(dotted("local", leaf)),
        _ => None,
    };
    let keys: Vec<String> = std::iter::once(own).chain(shared).collect();
    view.refuse_first(&keys, |key| match (&impossible.rule, table) {
        (rule @ Rule::QueueWithoutRate(_), Table::Line(direction)) => Reason::Cell {
            rule: rule.clone(),
            remedy: Some(line::set_a_rate(key, direction)),
        },
        (rule @ Rule::ReorderWithoutDelay, _) => Reason::Cell {
            rule: rule.clone(),
            remedy: Some("set path.rtt".to_owned()),
        },
        (rule, _) => Reason::Cell {
            rule: rule.clone(),
            remedy: None,
        },
    });
}

/// The kernel; `Some(None)` if it is the default one.
fn kernel(view: &mut View<'_>) -> Option<Option<KernelName>> {
    let name: String = view.plain("kernel")?;
    Some(match name.as_str() {
        KernelName::CURRENT => None,
        name => KernelName::new(name),
    })
}

fn factors(view: &View<'_>, factors: &[Factor]) -> BTreeMap<String, serde_json::Value> {
    let pairs = factors.iter().zip(view.levels);
    pairs
        .map(|(factor, level)| (factor.name.clone(), level.shown.clone()))
        .collect()
}

/// The tunnel; `Some(None)` if there is none.
fn tunnel(view: &mut View<'_>, path: &LabPath) -> Option<Option<Tunnel>> {
    if view
        .plain("tunnel")
        .is_none_or(|switch: Switch| switch == Switch::Off)
    {
        return Some(None);
    }
    Some(Some(Tunnel {
        kind: view.plain("tunnel.kind")?,
        mtu: line::mtu(view, "tunnel.mtu")?,
        at: view.plain("tunnel.at")?,
        ip: view.plain("tunnel.ip")?,
        down: line::tunnel_stage(view, Direction::Down, path)?,
        up: line::tunnel_stage(view, Direction::Up, path)?,
    }))
}

fn ends(view: &mut View<'_>, path: &LabPath) -> Option<Ends> {
    let near = end(view, Side::Near, Direction::Up, path);
    let far = end(view, Side::Far, Direction::Down, path);
    Some(Ends {
        near: near?,
        far: far?,
    })
}

/// One end, which sends in `direction`.
fn end(view: &mut View<'_>, side: Side, direction: Direction, path: &LabPath) -> Option<End> {
    let own = dotted("ends", side.spec_name());
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
    path: &LabPath,
) -> Option<Option<Rate>> {
    let shape: Found<ShapeText> = view.first(keys)?;
    Some(
        shape
            .value
            .at(path.line(direction).rate)
            .unwrap_or_else(|| {
                view.refuse(&shape, Reason::ShareOfNoRate(line::name(direction)));
                None
            }),
    )
}
