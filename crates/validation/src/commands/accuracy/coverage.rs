//! `pathtwin lab accuracy --coverage`: how often stated intervals contain the truth, on one path or
//! on drawn ones.

use anyhow::{Context, anyhow};
use lab::LabError;
use model::{cell::Cell, plan::Plan, run::Run, spec::Spec, units::Seed};
use validation::{
    accuracy::{
        self,
        coverage::{self, drawn},
    },
    drawn::Drawn,
    runs::without_series,
};

use super::{Bench, results::Results};
use pathtwin::{
    cli::Indices,
    exit::{Failure, code},
    format, progress,
};

/// Scope of the check.
pub(super) struct Size<'a> {
    /// Runs of each path.
    pub(super) seeds: usize,
    /// Number of the draw.
    pub(super) draw: u64,
    /// Paths of the draw; without any, the one path of [`coverage::SPEC`].
    pub(super) only: &'a [Indices],
    /// True for the quick plan instead of the default plan.
    pub(super) quick: bool,
    /// Folder of Runs; existing ones are reused.
    pub(super) folder: Option<&'a std::path::Path>,
}

pub(super) fn coverage(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    if size.only.is_empty() {
        return one_path(bench, size.seeds);
    }
    let draw = u32::try_from(size.draw)
        .map_err(|_| Failure::new(code::USE, anyhow!("--draw is below 2^32")))?;
    let plan = match size.quick {
        true => measure::plans::quick(),
        false => measure::plans::default(),
    };
    let results = Results::open(size.folder)?;
    let indices = size.only.iter().flat_map(|only| only.0.clone());
    let mut paths = Vec::new();
    for index in indices {
        let index = u32::try_from(index).context("too many scenarios")?;
        let drawn = Drawn::new(draw, index).context("draw a path")?;
        paths.push(runs(bench, &drawn.cell, &plan, size.seeds, results)?);
    }
    let text = drawn::markdown(&drawn::count(&paths));
    format::text(&text)
}

/// Runs of one path with different seeds: the stored ones, and the others measured.
fn runs(
    bench: Bench<'_>,
    path: &Cell,
    plan: &Plan,
    seeds: usize,
    results: Results<'_>,
) -> Result<Vec<Run>, Failure> {
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for seed in 0..seeds as u64 {
        let mut cell = path.clone();
        cell.seed = Seed(path.seed.0 + seed);
        let name = format!("{}-{}-{seed}", path.name, plan.name);
        match results.get(&name)? {
            Some(run) => runs.push(run),
            None => missing.push((name, cell)),
        }
    }
    let cells: Vec<Cell> = missing.iter().map(|(_, cell)| cell.clone()).collect();
    let bar = progress::bar(cells.len());
    let jobs = accuracy::jobs(&cells, plan);
    let done = bench.lab.all(&jobs, bench.stop, &mut |done| {
        progress::step(&bar, done);
    });
    bar.finish_and_clear();
    for ((name, _), result) in missing.iter().zip(done) {
        match result {
            Some(Ok(mut measured)) => {
                without_series(&mut measured.run);
                results.put(name, &measured.run)?;
                runs.push(measured.run);
            }
            Some(Err(LabError::Stopped)) | None => {
                return Err(Failure::new(code::INTERRUPTED, LabError::Stopped));
            }
            Some(Err(error)) => format::say(format_args!("{name}: {:#}", anyhow!(error))),
        }
    }
    Ok(runs)
}

fn one_path(bench: Bench<'_>, seeds: usize) -> Result<(), Failure> {
    let plan = measure::plans::parse(coverage::PLAN).context("read the plan")?;
    let cells = (0..seeds as u64)
        .map(|seed| {
            let spec = Spec::parse("coverage", coverage::SPEC).map(|s| s.with_seed(seed + 1))?;
            spec.cells()
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| Failure::new(code::FAILED, e))?;
    let cells: Vec<Cell> = cells.into_iter().flatten().collect();
    let runs: Vec<Run> = bench
        .measure(&cells, &plan, |_, _| ())?
        .into_iter()
        .map(|m| m.run)
        .collect();
    let found = coverage::count(&runs).ok_or_else(|| anyhow!("no goodput in any run"))?;
    let share = |n: usize, of: usize| 100.0 * n as f64 / of.max(1) as f64;
    format::print(
        format!(
            "| what | count | of | share |\n|---|---|---|---|\n\
             | the stated 95 % interval of the goodput contains the median of all samples | {} | {} | {:.1} % |\n\
             | two runs with different seeds only are judged different | {} | {} | {:.1} % |\n",
            found.held,
            found.runs,
            share(found.held, found.runs),
            found.different,
            found.pairs,
            share(found.different, found.pairs),
        )
        .as_bytes(),
    )
}
