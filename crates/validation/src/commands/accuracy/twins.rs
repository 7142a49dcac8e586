//! `pathtwin lab accuracy --twins`.

use std::time::Duration;

use anyhow::anyhow;
use lab::LabError;
use model::{cell::Cell, path::Path, plan::Plan, run::Run};
use twin::{Budget, Fit};
use validation::accuracy::{
    self,
    twins::{self, Answer, Drawn, Fitted, Prediction, Question},
};

use super::Bench;
use pathtwin::{
    exit::{Failure, code},
    format, progress,
};

/// Budget of each search: some twenty short runs of paths like these.
const BUDGET: Budget = Budget(Duration::from_secs(20));

/// Draws paths, makes twins of them, and compares both. A path whose twin cannot be made is
/// reported, and not counted.
pub(super) fn twins(bench: Bench<'_>, count: usize, draw: u64) -> Result<(), Failure> {
    let drawn = twins::draw(count, draw).map_err(|e| Failure::new(code::FAILED, e))?;
    let plan = twins::plan();
    let (mut fitted, mut asked, mut queues, mut paths) = (Vec::new(), Vec::new(), 0, 0);
    for drawn in &drawn {
        let name = &drawn.cell.name;
        let one = match one(bench, drawn, &plan) {
            Ok(one) => one,
            Err(failure) if failure.code == code::INTERRUPTED => return Err(failure),
            Err(failure) => {
                format::say(format_args!("{name}: {:#}", failure.error));
                continue;
            }
        };
        paths += 1;
        queues += usize::from(one.same_queue);
        for asked in &one.asked {
            format::say(format_args!(
                "{name}: {}: {:.2} Mbit/s, twin {:.2}; {:.1} ms added, twin {:.1}",
                asked.question.name(),
                asked.truth.goodput_bps / 1e6,
                asked.twin.goodput_bps / 1e6,
                asked.truth.added_us / 1e3,
                asked.twin.added_us / 1e3
            ));
        }
        fitted.extend(one.fitted);
        asked.extend(one.asked);
    }
    format::text(&twins::markdown(paths, queues, &fitted, &asked))
}

struct One {
    fitted: Vec<Fitted>,
    asked: Vec<Prediction>,
    same_queue: bool,
}

fn one(bench: Bench<'_>, drawn: &Drawn, plan: &Plan) -> Result<One, Failure> {
    let run = runs(bench, std::slice::from_ref(&drawn.cell), plan)?;
    let run = run.into_iter().next().ok_or_else(|| anyhow!("no run"))?;
    let fit = Fit::prepare(&run, BUDGET, env!("CARGO_PKG_VERSION"))?;
    let twin = progress::search(bench.lab, fit.runs(), bench.stop, |bench| fit.search(bench))?;
    let mut asked = Vec::new();
    // A user sets a shaper by the measured rate.
    let rate = twin.path.cell(&model::path::Trial::default());
    let rate = rate.ok().and_then(|cell| cell.path.down.rate);
    for question in Question::ALL {
        let Some(rate) = rate else { continue };
        let paths = (
            question.apply(&drawn.path, rate),
            question.apply(&twin.path, rate),
        );
        let (Some(truth), Some(model)) = paths else {
            continue;
        };
        let plan = question.plan();
        if let (Some(truth), Some(model)) =
            (answer(bench, &truth, &plan)?, answer(bench, &model, &plan)?)
        {
            asked.push(Prediction {
                path: drawn.cell.name.clone(),
                question,
                truth,
                twin: model,
            });
        }
    }
    Ok(One {
        fitted: twins::parameters(&drawn.cell, &twin.path),
        asked,
        same_queue: twins::same_queue(&drawn.cell, &twin.path),
    })
}

fn answer(bench: Bench<'_>, path: &Path, plan: &Plan) -> Result<Option<Answer>, Failure> {
    let cells = twins::cells(path).map_err(|e| Failure::new(code::FAILED, e))?;
    Ok(Answer::of(&runs(bench, &cells, plan)?))
}

fn runs(bench: Bench<'_>, cells: &[Cell], plan: &Plan) -> Result<Vec<Run>, Failure> {
    let jobs = accuracy::jobs(cells, plan);
    let results = bench.lab.all(&jobs, bench.stop, &mut |_| ());
    let mut all = Vec::new();
    for result in results {
        match result {
            Some(Ok(measured)) => all.push(measured.run),
            Some(Err(LabError::Stopped)) | None => {
                return Err(Failure::new(code::INTERRUPTED, LabError::Stopped));
            }
            Some(Err(error)) => return Err(error.into()),
        }
    }
    Ok(all)
}
