//! `pathtwin lab accuracy --causes`: scenarios drawn, measured, explained, and scored by their
//! derived truth.

mod kept;

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path, time::Instant};

use anyhow::{Context, anyhow};
use lab::LabError;
use model::{cell::Cell, plan::Plan, run::Run};
use validation::{
    accuracy,
    drawn::{
        Drawn, advised,
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
        let mut judged = kept.outcomes(part, &plan.name)?;
        let is_fresh = judged.len() < part.len();
        if is_fresh {
            judged = measured(bench, part, &plan, &kept)?;
            fresh += part.len();
        }
        advise(bench, part, &kept, &mut judged)?;
        outcomes.append(&mut judged);
        if is_fresh {
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
    let read = || {
        let text = std::fs::read_to_string(file).with_context(name)?;
        let lines: Result<Vec<Outcome>, _> = text.lines().map(serde_json::from_str).collect();
        lines.with_context(name)
    };
    read().map_err(|e| Failure::new(code::USE, e))
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
        let next = |(at, trial): (usize, &Option<Trial<'_>>)| {
            let probes = trial.iter().flat_map(Trial::next);
            probes.map(move |probe| (at, probe)).collect::<Vec<_>>()
        };
        let wanted: Vec<_> = trials.iter().enumerate().flat_map(next).collect();
        if wanted.is_empty() {
            break;
        }
        for (at, probe, figures) in probed(bench, wanted)? {
            match (figures, &mut trials[at]) {
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

/// Compares with BBR the paths on which it is advised.
fn advise(
    bench: Bench<'_>,
    part: &[Drawn],
    kept: &Kept<'_>,
    outcomes: &mut [Outcome],
) -> Result<(), Failure> {
    let advised = outcomes
        .iter_mut()
        .filter(|o| o.advises_congestion_control().is_some());
    let mut open = Vec::new();
    for outcome in advised {
        let Some(drawn) = part.iter().find(|drawn| outcome.is_of(drawn)) else {
            continue;
        };
        outcome.bbr = kept.bbr(drawn)?;
        if outcome.bbr.is_empty() {
            open.push((outcome, drawn));
        }
    }
    let cells = |(at, (_, drawn)): (usize, &(_, &Drawn))| {
        let probes = advised::probes(&drawn.cell).into_iter();
        probes.map(move |probe| (at, probe)).collect::<Vec<_>>()
    };
    let wanted: Vec<_> = open.iter().enumerate().flat_map(cells).collect();
    let mut known: Vec<BTreeMap<Probe, Figures>> = vec![BTreeMap::new(); open.len()];
    for (at, probe, figures) in probed(bench, wanted)? {
        known[at].extend(figures.map(|figures| (probe, figures)));
    }
    for ((outcome, drawn), known) in open.into_iter().zip(&known) {
        outcome.bbr = kept.put_bbr(drawn, advised::compared(&drawn.cell, known))?;
    }
    Ok(())
}

/// Runs cells of scenarios, each with its position, and reads their figures; `None` of one that
/// failed.
fn probed(
    bench: Bench<'_>,
    wanted: Vec<(usize, (Probe, Cell))>,
) -> Result<Vec<(usize, Probe, Option<Figures>)>, Failure> {
    let (places, cells): (Vec<_>, Vec<Cell>) = wanted
        .into_iter()
        .map(|(at, (probe, cell))| ((at, probe), cell))
        .unzip();
    let results = bench.lab.all(&cells, bench.stop, &mut |_| ());
    let all = places.into_iter().zip(&cells).zip(results);
    all.map(|(((at, probe), cell), result)| Ok((at, probe, figures(cell, result)?)))
        .collect()
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
