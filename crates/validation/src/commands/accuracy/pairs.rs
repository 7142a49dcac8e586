//! `pathtwin lab accuracy --pairs`: stored and reused runs, and the verdicts on their pairs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use model::{run::Run, units::Seed};
use validation::accuracy::{
    many,
    pairs::{self, Path as Kind, Pool},
    pairs_table,
};

use pathtwin::{
    exit::{Failure, code},
    format,
};

use super::Bench;

/// Number of pairs and runs.
pub(super) struct Size<'a> {
    /// Pairs of each kind.
    pub(super) pairs: usize,
    /// Runs without a change; half as many of each kind with one.
    pub(super) runs: usize,
    /// Folder of the runs; existing ones are reused.
    pub(super) folder: Option<&'a Path>,
}

/// A wanted run: its path and its seed.
type Wanted = (Kind, u64);

pub(super) fn pairs(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    if let Some(folder) = size.folder {
        let made = std::fs::create_dir_all(folder);
        made.with_context(|| format!("make {}", folder.display()))?;
    }
    let mut pools = Kind::ALL.map(|path| Pool {
        path,
        runs: Vec::new(),
    });
    for ((path, _), run) in runs(bench, wanted(size.runs), size.folder)? {
        if let Some(pool) = pools.iter_mut().find(|pool| pool.path == path) {
            pool.runs.push(run);
        }
    }
    let rows = pairs::count(&pools, size.pairs, 1);
    let many = many::count(&pools, size.pairs, 1);
    let text = pairs_table::markdown(&pools, &rows, &many);
    format::text(&text)
}

/// The paths in turn, so that a part of the work has runs of all.
fn wanted(runs: usize) -> Vec<Wanted> {
    let of = |path| match path {
        Kind::Unchanged => runs,
        Kind::Slower | Kind::Later => runs.div_ceil(2),
    };
    (1..=runs as u64)
        .flat_map(|seed| Kind::ALL.map(|path| (path, seed)))
        .filter(|(path, seed)| *seed <= of(*path) as u64)
        .collect()
}

/// The runs: existing ones from the folder, and the others measured and written to it one by one.
fn runs(
    bench: Bench<'_>,
    wanted: Vec<Wanted>,
    folder: Option<&Path>,
) -> Result<Vec<(Wanted, Run)>, Failure> {
    let mut all = Vec::new();
    let mut missing = Vec::new();
    for of in wanted {
        match folder.map(|folder| file(folder, of)).filter(|f| f.exists()) {
            Some(file) => all.push((of, read(&file)?)),
            None => missing.push(of),
        }
    }
    let cells = missing.iter().map(|(path, seed)| path.cell(Seed(*seed)));
    let cells = cells.collect::<Result<Vec<_>, _>>();
    let cells = cells.map_err(|e| Failure::new(code::FAILED, e))?;
    let plan = measure::plans::default();
    let made = bench.measure(&cells, &plan, |index, measured| {
        pairs::without_series(&mut measured.run);
        if let Some(folder) = folder {
            keep(&file(folder, missing[index]), &measured.run);
        }
    })?;
    let made = made.into_iter().map(|m| m.run);
    all.extend(missing.iter().copied().zip(made));
    all.sort_by_key(|((_, seed), _)| *seed);
    Ok(all)
}

fn file(folder: &Path, (path, seed): Wanted) -> PathBuf {
    folder.join(format!("{}-{seed:03}.json", path.name()))
}

fn read(file: &Path) -> Result<Run, Failure> {
    let text = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
    let run = Run::parse(&text).with_context(|| file.display().to_string());
    run.map_err(|e| Failure::new(code::USE, e))
}

/// A run that cannot be written is reported, and still used.
fn keep(file: &Path, run: &Run) {
    let text = serde_json::to_vec(run).context("write a run as JSON");
    if let Err(failure) = text
        .map_err(Failure::from)
        .and_then(|text| format::file(file, sys::files::Readers::ByUmask, &text))
    {
        eprintln!("pathtwin: {:#}", failure.error);
    }
}
