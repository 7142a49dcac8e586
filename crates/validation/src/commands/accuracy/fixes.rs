//! `pathtwin lab accuracy --fixes`.

use std::path::Path;

use ::corpus::{Part, Scenario, Source};
use model::{
    advice::{Goal, Tried},
    cause::CauseCode,
    cell::{Buffer, Cell, Local, Loss, TunnelStage},
    units::{Rate, Seed},
};
use pathtwin::{
    cli::Format,
    exit::{Failure, code},
    format,
    in_lab::{self, InLab},
};
use tune::Allowed;
use twin::turns;
use validation::fixes::{self, Fixed, Try};

use super::{Bench, results::Results};
use crate::commands::corpus;

/// A router at home, which can be changed, at the end of a wire that is faster than every line of
/// the corpus: what neighbours share is fair to all only where all of it passes.
const AT_HOME: Local = Local {
    down: WIRE,
    up: WIRE,
    shape_down: None,
    shape_up: None,
};
const WIRE: TunnelStage = TunnelStage {
    rate: Some(Rate::from_bps(1_000_000_000)),
    buffer: Buffer::Kernel,
    loss: Loss::None,
};
/// Offset of the seed for the repetition of a kept change.
const AGAIN: u64 = 10_000;

/// The scenarios, and the location of their results.
pub(super) struct Size<'a> {
    /// Number of scenarios.
    pub(super) scenarios: usize,
    /// Folder of the corpus.
    pub(super) corpus: &'a Path,
    /// Folder of the results; existing ones are reused.
    pub(super) folder: Option<&'a Path>,
    /// Form of the result.
    pub(super) output: Format,
}

/// Runs `fix` on scenarios, in an order that depends on their names only. A failed one is reported,
/// and not counted.
pub(super) fn fixes(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let mut scenarios = corpus::read(size.corpus).map_err(wrong)?;
    scenarios.retain(|s| matches!(s.source, Source::Lab { .. }));
    scenarios.sort_by_key(|s| (s.seed(Part::Evaluation).0, s.name.clone()));
    scenarios.truncate(size.scenarios);
    let results = Results::open(size.folder)?;
    let mut all = Vec::new();
    for scenario in &scenarios {
        match results.get(&scenario.name)? {
            Some(fixed) => all.push(fixed),
            None => match one(bench, scenario) {
                Ok(fixed) => {
                    results.put(&fixed.name, &fixed)?;
                    all.push(fixed);
                }
                Err(failure) if failure.code == code::INTERRUPTED => return Err(failure),
                Err(failure) => {
                    format::say(format_args!("{}: {:#}", scenario.name, failure.error));
                }
            },
        }
    }
    match size.output {
        Format::Text => format::text(&fixes::markdown(&all, &fixes::score(&all))),
        Format::Json => format::json(&all),
        Format::Jsonl => format::json_lines(&all),
    }
}

/// `fix --yes --at-a-cost` on one path, with the quick plan.
fn one(bench: Bench<'_>, scenario: &Scenario) -> Result<Fixed, Failure> {
    let mut cell = corpus::cell(scenario, Part::Evaluation)?;
    if scenario.cause.contains(&CauseCode::SHARED_LINE) {
        cell.path.local = Some(AT_HOME);
    }
    let lab = InLab {
        lab: bench.lab,
        goal: Goal::Balanced,
        keep: &[],
        at_a_cost: true,
        budget: in_lab::USUAL,
        pairs: tune::PAIRS,
        stop: bench.stop,
    };
    let run = lab.measure(&cell, &measure::plans::quick())?;
    let findings = explain::judge(&run);
    let mut fixed = Fixed {
        name: scenario.name.clone(),
        seed: cell.seed.0,
        cause: match scenario.is_healthy() {
            true => vec![CauseCode::HEALTHY],
            false => scenario.cause.clone(),
        },
        found: findings.problems().map(|f| f.code.clone()).collect(),
        twin: None,
        tries: Vec::new(),
        again: None,
    };
    if findings.names_no_cause() {
        return Ok(fixed);
    }
    let twin = lab.twin(&run)?;
    fixed.twin = Some(twin.verdict);
    let advice = lab.advice(&twin)?;
    let plan = turns(&twin);
    let attempt = |cell: &Cell, best: &Tried| {
        let done = lab.prove(cell, &plan, best)?;
        let tried = Try::of(best.name.to_string(), &best.remedies, &done);
        Ok::<_, Failure>((done, tried))
    };
    let allowed = Allowed {
        at_a_cost: lab.at_a_cost,
        router: cell.path.local.is_some(),
    };
    let offers = tune::offers(&advice, &findings, allowed);
    let tries = tune::until_kept(&offers, |_, best| -> Result<_, Failure> {
        let (done, tried) = attempt(&cell, best)?;
        fixed.tries.push(tried);
        if done.is_kept() {
            let other = Cell {
                seed: Seed(cell.seed.0 + AGAIN),
                ..cell.clone()
            };
            fixed.again = Some(attempt(&other, best)?.1);
        }
        Ok(Some(done))
    });
    tries.map(|_| fixed)
}
