//! Checks of the cases: every spec expands to cells, every published figure matches one of them,
//! and the demo produces the figures of its report.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Duration,
};

use lab::{Config, Lab, rows::rows};
use model::{
    cell::Cell,
    figures::{Figure, Figures},
    row::{Row, RowFigure},
    spec::Spec,
};

const FIGURES: &str = "figures.toml";

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

/// Names in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("read a folder of cases");
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Profiles of lines, without published figures.
const PROFILES: &str = "paths";

/// The folders of the cases.
fn folders() -> Vec<PathBuf> {
    let folders: Vec<_> = entries(&cases())
        .into_iter()
        .filter(|p| p.is_dir() && !p.ends_with(PROFILES))
        .collect();
    assert_eq!(folders.len(), 4, "{folders:?}");
    folders
}

fn cells(file: &Path) -> Vec<Cell> {
    let text = fs::read_to_string(file).unwrap();
    let folder = file.parent().unwrap();
    Spec::parse(&file.display().to_string(), &text)
        .and_then(|spec| spec.with_files(|name| fs::read_to_string(folder.join(name))))
        .and_then(|spec| spec.cells())
        .unwrap_or_else(|e| panic!("{e}"))
}

fn figures(folder: &Path) -> Figures {
    let file = folder.join(FIGURES);
    let text = fs::read_to_string(&file).unwrap();
    Figures::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// The cells of all specs of a case.
fn all_cells(folder: &Path) -> Vec<Cell> {
    let specs: Vec<_> = entries(folder)
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .filter(|p| p.file_name().is_some_and(|n| n != FIGURES))
        .collect();
    assert!(!specs.is_empty(), "{}: no specs", folder.display());
    specs.iter().flat_map(|spec| cells(spec)).collect()
}

fn belongs(figure: &Figure, cell: &Cell) -> bool {
    figure
        .direction
        .is_none_or(|d| cell.traffic.directions.contains(&d))
        && figure
            .factors
            .iter()
            .all(|(key, value)| cell.factors.get(key) == Some(value))
}

#[test]
fn every_spec_expands_to_cells() {
    for folder in folders() {
        assert!(!all_cells(&folder).is_empty());
    }
}

#[test]
fn every_profile_expands_to_a_cell() {
    let is_spec = |file: &PathBuf| file.extension().is_some_and(|e| e == "toml");
    // Others are traces that specs name.
    let files = entries(&cases().join(PROFILES)).into_iter().filter(is_spec);
    for file in files {
        assert_eq!(cells(&file).len(), 1, "{}", file.display());
    }
}

#[test]
fn every_figure_belongs_to_a_cell() {
    for folder in folders() {
        let (figures, cells) = (figures(&folder), all_cells(&folder));
        let place = folder.display();
        assert!(!figures.figures.is_empty(), "{place}");
        for figure in &figures.figures {
            assert!(
                cells.iter().any(|cell| belongs(figure, cell)),
                "{place}: no cell has {:?}",
                figure.factors
            );
            assert!(!figure.values.is_empty(), "{place}: {:?}", figure.factors);
        }
    }
}

/// The guest program as `make build` leaves it, unless another is named.
fn guest() -> PathBuf {
    std::env::var_os("PATHTWIN_GUEST").map_or_else(
        || cases().join("../target/x86_64-unknown-linux-musl/release/pathtwin-guest"),
        PathBuf::from,
    )
}

/// Runs cells; needs the kernel image and the guest program.
fn run(cells: &[Cell]) -> Vec<Row> {
    let lab = Lab::open(&Config {
        cache: false,
        guest: Some(guest()),
        wall_limit: Duration::from_secs(300),
        ..Config::default()
    });
    let lab = lab.expect("a kernel image and a guest program");
    let results = lab.all(cells, &AtomicBool::new(false), &mut |_| ());
    let each = cells.iter().zip(results);
    each.flat_map(|(cell, result)| {
        let result = result.expect("a result").expect("a cell that ran");
        rows(cell, &result).expect("read its records")
    })
    .collect()
}

/// LAB: boots the demo's eight cells, one seed each; about 25 s of processor time.
#[test]
fn lab_demo_gives_the_published_downloads_within_their_tolerance() {
    let folder = cases().join("4-speedtest");
    let mut cells = cells(&folder.join("demo.toml"));
    let seed = cells[0].seed;
    cells.retain(|cell| cell.seed == seed);
    assert_eq!(cells.len(), 8);
    let figures = figures(&folder);
    let rows = run(&cells);
    assert_eq!(rows.len(), 8);
    let mut misses = Vec::new();
    for row in &rows {
        assert!(row.valid, "{:?}", row.invalid_because);
        let published = figures.value(row, RowFigure::Goodput).expect("a figure");
        let got = row.goodput_mbps.expect("a goodput");
        if (got / published - 1.0).abs() > figures.tolerance {
            misses.push(format!(
                "{:?}: {published} published, {got} here",
                row.factors
            ));
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}
