//! Hosts against hosts: the newest run of each path by the host that measured it.

use model::{
    history::{FigureName, StepName},
    run::{FigureKind, Key, StepKind},
};
use report::page::dashboard::{Cell, Mesh};
use store::Latest;

use super::collect::connection;

/// Separators between the names of two hosts in the name of a path.
const BETWEEN: [&str; 4] = ["->", "→", "/", "-"];

/// Counts the hosts that have measured.
pub(super) fn hosts(latest: &[Latest]) -> usize {
    nears(latest).len()
}

fn nears(latest: &[Latest]) -> Vec<String> {
    let mut near: Vec<String> = latest.iter().filter_map(|l| l.host.clone()).collect();
    near.sort();
    near.dedup();
    near
}

/// The far end of a path: its name without the measuring host as a prefix, such as `b` for `a-b`.
fn far(latest: &Latest) -> String {
    let host = latest.host.as_deref().unwrap_or_default();
    let rest = latest.path.strip_prefix(host).filter(|_| !host.is_empty());
    let rest = rest.and_then(|rest| BETWEEN.iter().find_map(|b| rest.strip_prefix(b)));
    let rest = rest.filter(|rest| !rest.is_empty());
    rest.unwrap_or(&latest.path).to_owned()
}

/// The matrix of a step and figure, or of the first existing one; `None` if there is none.
pub(super) fn of(latest: &[Latest], wanted: Option<&(StepName, FigureName)>) -> Option<Mesh> {
    let choices = choices(latest);
    let is_wanted = |(key, kind): &&(Key, FigureKind)| {
        wanted
            .is_none_or(|(step, figure)| step.known() == Some(key) && figure.known() == Some(kind))
    };
    let shown = choices.iter().find(is_wanted)?.clone();
    let near = nears(latest);
    let of_hosts = latest.iter().filter(|l| l.host.is_some());
    let mut columns: Vec<String> = of_hosts.map(far).collect();
    columns.sort();
    columns.dedup();
    let cell = |near: &String, column: &String| {
        let is_here = |l: &&Latest| l.host.as_ref() == Some(near) && far(l) == *column;
        let all = latest.iter().filter(is_here);
        let newest = all.max_by_key(|l| l.created_us)?;
        let mut figures = known(newest);
        let (_, _, value) = figures.find(|(key, kind, _)| (*key, *kind) == (&shown.0, shown.1))?;
        Some(Cell {
            path: newest.path.clone(),
            value,
            connection: connection(newest),
        })
    };
    let row = |near: &String| columns.iter().map(|column| cell(near, column)).collect();
    Some(Mesh {
        cells: near.iter().map(row).collect(),
        near,
        far: columns,
        shown,
        choices,
    })
}

/// The steps and figures of a matrix: goodput of one flow, and RTT and loss without load.
fn choices(latest: &[Latest]) -> Vec<(Key, FigureKind)> {
    let fits = |key: &Key, kind: FigureKind| match kind {
        FigureKind::RttP50 | FigureKind::ProbeLost => key.step == StepKind::Idle,
        FigureKind::Goodput => key.flows == Some(1) && !key.bidirectional,
        _ => false,
    };
    let of_hosts = latest.iter().filter(|l| l.host.is_some());
    let figures = of_hosts.flat_map(known);
    let mut all: Vec<(Key, FigureKind)> = figures
        .filter(|(key, kind, _)| fits(key, *kind))
        .map(|(key, kind, _)| (key.clone(), kind))
        .collect();
    // Delay first: every mesh has it.
    all.sort_by_cached_key(|(key, kind)| {
        let name = (kind.name(), key.to_string());
        (*kind != FigureKind::RttP50, name)
    });
    all.dedup();
    all
}

/// The figures of a run that this version knows.
fn known(latest: &Latest) -> impl Iterator<Item = (&Key, FigureKind, f64)> {
    let figures = latest.figures.iter();
    figures.filter_map(|(step, figure, value)| Some((step.known()?, *figure.known()?, *value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(host: &str, path: &str, rtt_us: f64) -> Latest {
        Latest {
            path: path.to_owned(),
            host: Some(host.to_owned()),
            run: "r".to_owned(),
            created_us: 1,
            facts: Default::default(),
            figures: vec![
                ("tunnel/v4 idle".into(), "rtt_p50_us".into(), rtt_us),
                ("tunnel/v4 teleport".into(), "rtt_p50_us".into(), 1.0),
            ],
        }
    }

    #[test]
    fn each_two_hosts_have_one_cell() {
        let all = [
            latest("a", "a-b", 10.0),
            latest("a", "a->c", 20.0),
            latest("b", "b-a", 11.0),
            latest("b", "c", 30.0),
        ];
        let mesh = of(&all, None).unwrap_or_else(|| panic!("no matrix"));
        assert_eq!(mesh.near, ["a", "b"]);
        assert_eq!(mesh.far, ["a", "b", "c"]);
        let values = |row: &Vec<Option<Cell>>| -> Vec<Option<f64>> {
            row.iter().map(|c| c.as_ref().map(|c| c.value)).collect()
        };
        let rows: Vec<_> = mesh.cells.iter().map(values).collect();
        assert_eq!(rows[0], [None, Some(10.0), Some(20.0)]);
        assert_eq!(rows[1], [Some(11.0), None, Some(30.0)]);
        assert_eq!(mesh.choices, [mesh.shown]);
        let newer = ("tunnel/v4 idle".into(), "luck".into());
        assert!(of(&all, Some(&newer)).is_none());
    }
}
