//! Checks of the lab against arithmetic, standards and published measurements: `pathtwin lab
//! validate`.
//!
//! A [`Check`] is a spec in the user's format, and a judge of the results of its cells. An
//! expectation never comes from the lab itself: each names its source. The families and the reasons
//! for their tolerances are described in `docs/validation.md`.

mod acks;
mod aqm;
mod arrived;
mod bbr;
mod check;
mod clean;
mod competitor;
mod cubic;
mod fifo;
mod goodput;
mod lacking;
mod line;
mod loss;
mod outcome;
mod program;
mod router;
mod rtt;
mod same;
mod share;
mod stages;
mod table;
#[cfg(test)]
mod tests;
mod theory;
mod timing;
mod trace;
mod window;

use std::sync::atomic::Ordering;

use model::{cell::Cell, spec::Spec};

pub use check::{Bench, Check, ValidateError};
pub use line::{Expect, Line, Verdict};
pub use table::{REPORT_SCHEMA, Report, table};

use check::{Judge, Work};
use lab::{
    CacheNote, Done, LabError,
    cell::CellResult,
    job::{Fresh, Job},
};
use outcome::Outcome;

/// All checks, in the order of the table.
pub fn checks() -> Vec<Check> {
    [
        rtt::CHECKS,
        goodput::CHECKS,
        fifo::CHECKS,
        loss::CHECKS,
        timing::CHECKS,
        stages::CHECKS,
        trace::CHECKS,
        router::CHECKS,
        window::CHECKS,
        cubic::CHECKS,
        bbr::CHECKS,
        share::CHECKS,
        acks::CHECKS,
        competitor::CHECKS,
        aqm::CHECKS,
        program::CHECKS,
        clean::CHECKS,
        same::CHECKS,
    ]
    .concat()
}

/// The cells of a check, in the order in which its judge gets them.
fn cells(check: &Check) -> Result<Vec<Cell>, ValidateError> {
    let (text, copies) = match check.work {
        Work::Cells(text, _) => (text, 1),
        Work::Twice(text, _) => (text, 2),
        Work::Program(_) | Work::All(_) => return Ok(Vec::new()),
    };
    let cells = Spec::parse(check.name, text)
        .and_then(|spec| spec.with_files(trace::file)?.cells())
        .map_err(|source| ValidateError::spec(check.name, source))?;
    Ok(cells
        .into_iter()
        .flat_map(|cell| vec![cell; copies])
        .collect())
}

/// Steps of some checks, for progress: cells and programs.
///
/// # Errors
/// A check has an invalid spec.
pub fn steps(checks: &[Check]) -> Result<usize, ValidateError> {
    checks.iter().try_fold(0, |sum, check| {
        let own = match check.work {
            Work::Program(_) => 1,
            _ => cells(check)?.len(),
        };
        Ok(sum + own)
    })
}

/// Runs checks, and calls `on_step` after each step, with notes for the user about the cache.
///
/// # Errors
/// A check has an invalid spec, or the user stopped.
pub fn run(
    bench: Bench<'_>,
    checks: &[Check],
    on_step: &mut dyn FnMut(&[CacheNote]),
) -> Result<Report, ValidateError> {
    let (known, fresh): (Vec<&Check>, Vec<&Check>) = checks
        .iter()
        .partition(|c| !matches!(c.work, Work::Twice(..)));
    let mut ran = all_cells(bench, &known, Cell::clone, on_step)?;
    ran.extend(all_cells(
        bench,
        &fresh,
        |cell| Fresh(cell.clone()),
        on_step,
    )?);
    let mut lines = Vec::new();
    let lacking = lacking::of(bench.lab);
    let everything: Vec<Outcome<'_>> = ran.iter().flat_map(|r| r.outcomes()).collect();
    for check in checks {
        let own = ran.iter().find(|r| r.check.name == check.name);
        lines.extend(match check.work {
            Work::Cells(_, judge) | Work::Twice(_, judge) => {
                let mut lines = own.map(|r| r.judged(judge)).unwrap_or_default();
                lines.extend(from(check, lacking.lines(&cells(check)?)));
                lines
            }
            Work::Program(judge) => {
                let lines = judge(bench).unwrap_or_else(|e| vec![Line::failed(String::new(), &e)]);
                on_step(&[]);
                from(check, lines)
            }
            Work::All(judge) => from(check, judge(&everything)),
        });
        if bench.stop.load(Ordering::Relaxed) {
            return Err(LabError::Stopped.into());
        }
    }
    Ok(Report {
        schema: REPORT_SCHEMA,
        kernel: everything.first().map(|s| s.result.output.kernel.clone()),
        lines,
    })
}

/// The cells of one check and their results.
struct Ran<'a> {
    check: &'a Check,
    cells: Vec<Cell>,
    results: Vec<Result<CellResult, LabError>>,
}

impl Ran<'_> {
    /// The cells that ended well.
    fn outcomes(&self) -> Vec<Outcome<'_>> {
        let both = self.cells.iter().zip(&self.results);
        both.filter_map(|(cell, result)| Outcome::new(cell, result.as_ref().ok()?).ok())
            .collect()
    }

    fn judged(&self, judge: Judge) -> Vec<Line> {
        let outcomes = self.outcomes();
        let failed = self.results.iter().filter_map(|r| r.as_ref().err());
        let mut lines: Vec<Line> = failed.map(|e| Line::failed(String::new(), e)).collect();
        if outcomes.len() == self.cells.len() {
            lines.extend(judge(&outcomes));
        } else if lines.is_empty() {
            let error = "cannot read the records of a cell";
            lines.push(Line::failed(String::new(), error));
        }
        from(self.check, lines)
    }
}

/// Writes the check's name and source into its lines.
fn from(check: &Check, lines: Vec<Line>) -> Vec<Line> {
    let named = |line: Line| Line {
        check: match line.check.as_str() {
            "" => check.name.to_owned(),
            what => format!("{}: {what}", check.name),
        },
        source: match line.source.as_str() {
            "" => check.source.to_owned(),
            _ => line.source,
        },
        ..line
    };
    lines.into_iter().map(named).collect()
}

/// Runs the cells of several checks in one pool, the long ones first so that no processor waits
/// for another at the end. `job` makes the job of a cell.
fn all_cells<'a, J: Job<Output = CellResult>>(
    bench: Bench<'_>,
    checks: &[&'a Check],
    job: impl Fn(&Cell) -> J,
    on_step: &mut dyn FnMut(&[CacheNote]),
) -> Result<Vec<Ran<'a>>, ValidateError> {
    let mut queue: Vec<(usize, usize, Cell)> = Vec::new();
    let mut all = Vec::new();
    let lacking = lacking::of(bench.lab);
    for (number, &check) in checks.iter().enumerate() {
        let mut cells = bench.made(cells(check)?);
        cells.retain(|cell| !lacking.has(cell));
        let numbered = cells.iter().cloned().enumerate();
        queue.extend(numbered.map(|(place, cell)| (number, place, cell)));
        all.push((check, cells));
    }
    queue.sort_by_key(|(.., cell)| std::cmp::Reverse(cell.length()));
    let jobs: Vec<J> = queue.iter().map(|(.., cell)| job(cell)).collect();
    let on_done = &mut |done: &Done<CellResult>| on_step(&done.notes);
    let mut results = bench.lab.all(&jobs, bench.stop, on_done);
    let mut ran: Vec<Ran<'_>> = Vec::new();
    for (number, (check, cells)) in all.into_iter().enumerate() {
        let mut own: Vec<(usize, Result<CellResult, LabError>)> = Vec::new();
        for ((of, place, _), result) in queue.iter().zip(&mut results) {
            if *of == number {
                own.push((*place, result.take().unwrap_or(Err(LabError::Stopped))));
            }
        }
        own.sort_by_key(|(place, _)| *place);
        let results = own.into_iter().map(|(_, result)| result).collect();
        ran.push(Ran {
            check,
            cells,
            results,
        });
    }
    Ok(ran)
}
