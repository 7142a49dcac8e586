//! `pathtwin lab accuracy --causes`: scenarios drawn, measured, explained, and scored by their
//! derived truth.

mod kept;

use std::{num::NonZeroUsize, path::Path, time::Instant};

use anyhow::{Context, anyhow};
use lab::LabError;
use model::{cell::Cell, plan::Plan, run::Run};
use validation::{
    accuracy,
    drawn::{
        Drawn,
        outcome::Outcome,
        score, table,
        truth::{Figures, Probe, Trial, Truth},
    },
    runs::without_series,
};

use self::kept::Kept;
use super::Bench;
use pathtwin::{
    cli::{Format, Indices},
    exit::{Failure, code},
    format, progress,
};

/// Scope of a draw.
pub(super) struct Size<'a> {
    /// Scenarios.
    pub(super) scenarios: usize,
    /// Those to measure; all if empty.
    pub(super) only: &'a [Indices],
    /// Number of the draw.
    pub(super) draw: u32,
    /// True for the quick plan instead of the default plan.
    pub(super) quick: bool,
    /// Lines of scenarios whose truth is known.
    pub(super) truths: Option<&'a Path>,
    /// Folder of specs, truths and Runs; existing ones are reused.
    pub(super) folder: Option<&'a Path>,
    /// Form of the result.
    pub(super) output: Format,
}

/// Scenarios whose cells are run side by side, for each processor: few, so that a stopped run
/// loses little.
const AT_ONCE: usize = 4;

pub(super) fn drawn(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    let plan = match size.quick {
        true => measure::plans::quick(),
        false => measure::plans::default(),
    };
    let known = size.truths.map_or(Ok(Vec::new()), lines)?;
    let kept = Kept::open(size.folder, &plan.name, known)?;
    let scenarios = scenarios(size)?;
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (bar, started) = (progress::bar(scenarios.len()), Instant::now());
    let (mut outcomes, mut fresh) = (Vec::new(), 0);
    for part in scenarios.chunks(AT_ONCE * processors) {
        let known = kept.outcomes(part, &plan.name)?;
        if known.len() == part.len() {
            outcomes.extend(known);
        } else {
            outcomes.extend(measured(bench, part, &plan, &kept)?);
            fresh += part.len();
            kept.lines(&outcomes)?;
        }
        bar.inc(part.len() as u64);
        let each = started.elapsed().as_secs_f64() / fresh.max(1) as f64;
        let left = (each * (scenarios.len() as u64 - bar.position()) as f64).ceil() as u64;
        bar.set_message(format!(", about {}:{:02} min left", left / 60, left % 60));
    }
    bar.finish_and_clear();
    kept.lines(&outcomes)?;
    match size.output {
        Format::Text => format::text(&table::markdown(&score::score(&outcomes))),
        Format::Json => format::json(&outcomes),
        Format::Jsonl => format::json_lines(&outcomes),
    }
}

/// The scenarios to measure.
fn scenarios(size: &Size<'_>) -> Result<Vec<Drawn>, Failure> {
    let outside = size
        .only
        .iter()
        .find(|only| *only.0.end() >= size.scenarios);
    if let Some(Indices(range)) = outside {
        let error = anyhow!(
            "--only {}: the draw has {} scenarios, from 0 on",
            range.end(),
            size.scenarios
        );
        return Err(Failure::new(code::USE, error));
    }
    let wanted =
        |index: &usize| size.only.is_empty() || size.only.iter().any(|only| only.0.contains(index));
    let scenarios = (0..size.scenarios).filter(wanted).map(|index| {
        let index = u32::try_from(index).context("too many scenarios")?;
        Ok(Drawn::new(size.draw, index)?)
    });
    Ok(scenarios.collect::<anyhow::Result<Vec<_>>>()?)
}

/// The outcomes in a file of lines.
fn lines(file: &Path) -> Result<Vec<Outcome>, Failure> {
    let name = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(name)?;
    let lines: Result<Vec<Outcome>, _> = text.lines().map(serde_json::from_str).collect();
    Ok(lines.with_context(name)?)
}

/// Derives the truth of scenarios, measures and explains them. A scenario with a failed cell or
/// plan is reported, and not counted.
fn measured(
    bench: Bench<'_>,
    part: &[Drawn],
    plan: &Plan,
    kept: &Kept<'_>,
) -> Result<Vec<Outcome>, Failure> {
    let truths = truths(bench, part, kept)?;
    let runs = runs(bench, part, plan, kept)?;
    let all = part.iter().zip(truths).zip(runs);
    let of = |((drawn, truth), run): ((&Drawn, Option<Truth>), Option<Run>)| {
        Some(Outcome::of(drawn, &truth?, &plan.name, &run?))
    };
    Ok(all.filter_map(of).collect())
}

/// The truth of each, by rounds of cells.
fn truths(
    bench: Bench<'_>,
    part: &[Drawn],
    kept: &Kept<'_>,
) -> Result<Vec<Option<Truth>>, Failure> {
    let mut truths = Vec::new();
    for drawn in part {
        truths.push(kept.truth(drawn)?);
    }
    let mut trials: Vec<Option<Trial<'_>>> = part
        .iter()
        .zip(&truths)
        .map(|(drawn, truth)| truth.is_none().then(|| Trial::new(&drawn.cell)))
        .collect();
    loop {
        let mut wanted: Vec<(usize, Probe)> = Vec::new();
        let mut cells: Vec<Cell> = Vec::new();
        for (at, trial) in trials.iter().enumerate() {
            for (probe, cell) in trial.iter().flat_map(Trial::next) {
                wanted.push((at, probe));
                cells.push(cell);
            }
        }
        if cells.is_empty() {
            break;
        }
        let results = bench.lab.all(&cells, bench.stop, &mut |_| ());
        for (((at, probe), cell), result) in wanted.into_iter().zip(&cells).zip(results) {
            match (figures(cell, result)?, &mut trials[at]) {
                (Some(figures), Some(trial)) => trial.add(probe, figures),
                (None, trial) => *trial = None,
                _ => {}
            }
        }
    }
    for ((drawn, truth), trial) in part.iter().zip(&mut truths).zip(trials) {
        if let Some(trial) = trial {
            *truth = Some(kept.put_truth(drawn, trial.truth())?);
        }
    }
    Ok(truths)
}

/// The figures of a cell; `None` if it failed, which is reported.
fn figures(
    cell: &Cell,
    result: Option<Result<lab::cell::CellResult, LabError>>,
) -> Result<Option<Figures>, Failure> {
    let result = match result {
        Some(Err(LabError::Stopped)) | None => {
            return Err(Failure::new(code::INTERRUPTED, LabError::Stopped));
        }
        Some(Ok(result)) => result,
        Some(Err(error)) => {
            format::say(format_args!("{} (seed {}): {error}", cell.name, cell.seed));
            return Ok(None);
        }
    };
    let rows = lab::rows::rows(cell, &result)?;
    let figures = Figures::of(cell, &rows);
    if figures.is_none() {
        let why = rows.iter().flat_map(|r| &r.invalid_because);
        let why: Vec<String> = why.map(ToString::to_string).collect();
        let why = why.join("; ");
        format::say(format_args!(
            "{} (seed {}): invalid: {why}",
            cell.name, cell.seed
        ));
    }
    Ok(figures)
}

/// The Run of each.
fn runs(
    bench: Bench<'_>,
    part: &[Drawn],
    plan: &Plan,
    kept: &Kept<'_>,
) -> Result<Vec<Option<Run>>, Failure> {
    let mut runs = Vec::new();
    for drawn in part {
        runs.push(kept.run(drawn)?);
    }
    let missing: Vec<usize> = (0..part.len()).filter(|at| runs[*at].is_none()).collect();
    let cells: Vec<Cell> = missing.iter().map(|at| part[*at].cell.clone()).collect();
    let jobs = accuracy::jobs(&cells, plan);
    let results = bench.lab.all(&jobs, bench.stop, &mut |_| ());
    for (at, result) in missing.into_iter().zip(results) {
        match result {
            Some(Ok(measured)) => {
                let mut run = measured.run;
                without_series(&mut run);
                kept.put_run(&part[at], &run)?;
                runs[at] = Some(run);
            }
            Some(Err(LabError::Stopped)) | None => {
                return Err(Failure::new(code::INTERRUPTED, LabError::Stopped));
            }
            Some(Err(error)) => {
                let name = &part[at].cell.name;
                format::say(format_args!("{name}: {:#}", anyhow!(error)));
            }
        }
    }
    Ok(runs)
}
