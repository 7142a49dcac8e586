//! `pathtwin lab accuracy --twins`.

use std::time::Duration;

use anyhow::anyhow;
use lab::LabError;
use model::{
    advice::Outcome, cell::Cell, net::Direction, path::Path, plan::Plan, run::Run, twin::Twin,
    units::Rate,
};
use twin::{Budget, Fit};
use validation::{
    accuracy::{
        self,
        twins::{self, Answer, Drawn, Feature, Judged, Prediction, Question},
    },
    runs::without_series,
};

use super::{Bench, results::Results};
use pathtwin::{
    cli::{Format, TwinPaths},
    exit::{Failure, code},
    format, progress,
};

/// The profiles, from the root of the repository.
const PROFILES: &str = "cases/paths";
/// Budget of each search: some twenty short runs of paths like these.
const BUDGET: Budget = Budget::Of(Duration::from_secs(15));
/// The same with two congestion controls.
const LARGER_BUDGET: Budget = Budget::Of(Duration::from_secs(60));
/// Members beside the best one that are asked, too, for the interval of a prediction.
const OTHER_MEMBERS: usize = 2;

/// The paths, and the location of their results.
pub(super) struct Size<'a> {
    /// Number of paths.
    pub(super) paths: usize,
    /// Number of the draw.
    pub(super) draw: u64,
    /// Kind of the paths.
    pub(super) kind: TwinPaths,
    /// Folder of the results; existing ones are reused.
    pub(super) folder: Option<&'a std::path::Path>,
    /// Form of the result.
    pub(super) output: Format,
}

/// Draws paths, makes twins of them, and compares both. A path whose twin cannot be made is
/// reported, and not counted.
pub(super) fn twins(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    let drawn = drawn(size)?;
    let results = Results::open(size.folder)?;
    let mut all: Vec<Judged> = Vec::new();
    for drawn in &drawn {
        let name = &drawn.cell.name;
        if let Some(judged) = results.get(name)? {
            all.push(judged);
            continue;
        }
        match one(bench, drawn, results) {
            Ok(judged) => {
                results.put(name, &judged)?;
                all.push(judged);
            }
            Err(failure) if failure.code == code::INTERRUPTED => return Err(failure),
            Err(failure) => format::say(format_args!("{name}: {:#}", failure.error)),
        }
    }
    match size.output {
        Format::Text if size.kind == TwinPaths::Within => format::text(&twins::markdown(&all)),
        Format::Text => format::text(&twins::markdown_beyond(&all)),
        Format::Json => format::json(&all),
        Format::Jsonl => format::json_lines(&all),
    }
}

fn drawn(size: &Size<'_>) -> Result<Vec<Drawn>, Failure> {
    let failed = |e| Failure::new(code::FAILED, e);
    match size.kind {
        TwinPaths::Within => twins::draw(size.paths, size.draw).map_err(failed),
        TwinPaths::Beyond => twins::beyond(size.paths, size.draw).map_err(failed),
        TwinPaths::Profiles => {
            let all = twins::profiles(std::path::Path::new(PROFILES));
            let mut all = all.map_err(|e| Failure::new(code::USE, e))?;
            all.truncate(size.paths);
            Ok(all)
        }
    }
}

/// Measures a path and makes its twin, both of which are kept as documents, and asks it.
fn one(bench: Bench<'_>, drawn: &Drawn, results: Results<'_>) -> Result<Judged, Failure> {
    let plan = twins::plan(drawn);
    let run = runs(bench, std::slice::from_ref(&drawn.cell), &plan)?;
    let run = run.into_iter().next().ok_or_else(|| anyhow!("no run"))?;
    let mut kept = run.clone();
    without_series(&mut kept);
    results.put(&format!("{}.run", drawn.cell.name), &kept)?;
    let budget = match drawn.feature {
        None => BUDGET,
        Some(Feature::Profile) => Budget::default(),
        Some(_) => LARGER_BUDGET,
    };
    let fit = Fit::prepare(&run, budget, env!("CARGO_PKG_VERSION"))?;
    let twin = progress::search(bench.lab, fit.runs(), bench.stop, |bench| fit.search(bench))?;
    results.put(&format!("{}.twin", drawn.cell.name), &twin)?;
    // A user sets a shaper by the measured rate.
    let rate = twin.path.cell(&model::path::Trial::default());
    let rate = rate.ok().and_then(|cell| cell.path.down.rate);
    let asked = match rate {
        Some(rate) => asked(bench, drawn, &twin, rate)?,
        None => Vec::new(),
    };
    Ok(Judged {
        name: drawn.cell.name.clone(),
        feature: drawn.feature,
        verdict: twin.verdict,
        same_queue: twins::same_queue(&drawn.cell, &twin.path),
        fitted: twins::parameters(&drawn.cell, &twin.path),
        asked,
    })
}

/// All questions that make sense on the path, in order: the first is the load of the fit.
fn asked(
    bench: Bench<'_>,
    drawn: &Drawn,
    twin: &Twin,
    rate: Rate,
) -> Result<Vec<Prediction>, Failure> {
    let mut all = Vec::new();
    let mut before: Option<Replies> = None;
    for question in Question::ALL {
        let Some(replies) = Replies::to(bench, question, drawn, twin, rate)? else {
            continue;
        };
        let Some((truth, model)) = Answer::of(&replies.path).zip(Answer::of(&replies.twin)) else {
            continue;
        };
        let stated = before.as_ref().map_or_else(Vec::new, |before| {
            twins::stated(
                twin,
                &pairs(&before.path, &replies.path),
                &pairs(&before.on_members(), &replies.on_members()),
            )
        });
        all.push(Prediction {
            question,
            truth,
            twin: model,
            stated,
        });
        before.get_or_insert(replies);
    }
    Ok(all)
}

/// Runs of a question.
struct Replies {
    /// On the path, for each seed.
    path: Vec<Run>,
    /// On the best path of the twin, for each seed.
    twin: Vec<Run>,
    /// On each further member, for one seed.
    others: Vec<Run>,
}

impl Replies {
    /// `None` if the question makes no sense on the path or a member.
    fn to(
        bench: Bench<'_>,
        question: Question,
        drawn: &Drawn,
        twin: &Twin,
        rate: Rate,
    ) -> Result<Option<Self>, Failure> {
        let ask = |path: &Path, seeds| match question.apply(path, rate) {
            Some(path) => {
                let cells = twins::cells(&path, seeds);
                let cells = cells.map_err(|e| Failure::new(code::FAILED, e))?;
                runs(bench, &cells, &question.plan(&drawn.cell)).map(Some)
            }
            None => Ok::<_, Failure>(None),
        };
        let both = (
            ask(&drawn.path, twins::SEEDS)?,
            ask(&twin.path, twins::SEEDS)?,
        );
        let (Some(path), Some(best)) = both else {
            return Ok(None);
        };
        let mut others = Vec::new();
        let first = twins::SEEDS.start;
        for member in twin.members.iter().skip(1).take(OTHER_MEMBERS) {
            let Some(runs) = ask(&member.path, first..first + 1)? else {
                return Ok(None);
            };
            others.extend(runs);
        }
        Ok(Some(Self {
            path,
            twin: best,
            others,
        }))
    }

    fn on_members(&self) -> Vec<&Run> {
        self.twin.iter().chain(&self.others).collect()
    }
}

/// Outcomes down without and with a change, for each path and seed on which both are valid.
fn pairs<R: std::borrow::Borrow<Run>>(before: &[R], after: &[R]) -> Vec<[Outcome; 2]> {
    let outcome = |run: &R| twin::outcome(run.borrow(), Direction::Down);
    let both = before.iter().zip(after);
    both.filter_map(|(before, after)| Some([outcome(before)?, outcome(after)?]))
        .collect()
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
