//! `pathtwin explain --corpus`: the rules on scenarios with known causes.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::atomic::Ordering,
    time::Duration,
};

use anyhow::{Context, anyhow};
use corpus::{File, Outcome, Part, Scenario, Source, compose};
use lab::{Config, Lab, LabError};
use model::{cell::Cell, job, plan::Plan, run::Run, spec::Spec};

use validation::runs::without_series;

use pathtwin::{
    cli::{Corpus, Form, Which},
    exit::{Failure, code},
    format, progress,
};

/// Virtual time after which a scenario counts as hung.
const LIMIT: Duration = Duration::from_secs(1800);
/// Real time after which it does: guests have the lowest priority on the host.
const WALL_LIMIT: Duration = Duration::from_secs(3600);

/// Judges the scenarios of a folder, and prints how often the verdicts are right.
pub(crate) fn corpus(arguments: &Corpus, form: Form) -> Result<ExitCode, Failure> {
    let dir = arguments.corpus.as_deref().unwrap_or(Path::new("corpus"));
    let judged = judged(dir, arguments)?;
    let score = corpus::score(&judged);
    match form {
        Form::Text => format::text(&corpus::markdown(&score))?,
        Form::Json => format::json(&score)?,
        Form::Jsonl => format::json_lines(&judged)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the scenarios and judges them.
fn judged(dir: &Path, arguments: &Corpus) -> Result<Vec<Outcome>, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let part = match arguments.part {
        Which::Training => Part::Training,
        Which::Evaluation => Part::Evaluation,
    };
    let mut scenarios = read(dir).map_err(wrong)?;
    scenarios.retain(|s| {
        let named = arguments.only.iter().any(|o| s.name.contains(o));
        s.is_in(part) && (named || arguments.only.is_empty())
    });
    let mut outcomes: Vec<Option<Outcome>> = scenarios.iter().map(|_| None).collect();
    let mut in_lab = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let known = match &scenario.source {
            Source::Composed(scene) => Some(compose::run(scene, scenario.seed(part).0)),
            Source::Lab { .. } => kept(arguments, scenario, part)?,
        };
        match known {
            Some(run) => outcomes[index] = Some(Outcome::of(scenario, part, &run)),
            None => in_lab.push(index),
        }
    }
    if !in_lab.is_empty() {
        let open: Vec<&Scenario> = in_lab.iter().map(|index| &scenarios[*index]).collect();
        let judged = measured(dir, arguments, part, &open)?;
        for (index, outcome) in in_lab.into_iter().zip(judged) {
            outcomes[index] = Some(outcome);
        }
    }
    Ok(outcomes.into_iter().flatten().collect())
}

/// Measures scenarios in the lab and judges each as it ends. The first failure stops all.
fn measured(
    dir: &Path,
    arguments: &Corpus,
    part: Part,
    scenarios: &[&Scenario],
) -> Result<Vec<Outcome>, Failure> {
    let plan = plan(dir)?;
    let jobs = scenarios.iter().map(|s| {
        let job = job(s, part, &plan);
        job.with_context(|| s.name.clone())
    });
    let jobs = jobs.collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(runs) = &arguments.runs {
        std::fs::create_dir_all(runs).with_context(|| format!("make {}", runs.display()))?;
    }
    let lab = Lab::open(&Config {
        cache: !arguments.no_cache,
        jobs: arguments.jobs,
        wall_limit: WALL_LIMIT,
        ..Config::default()
    })?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let mut outcomes: Vec<Option<Outcome>> = scenarios.iter().map(|_| None).collect();
    let mut failed: Option<Failure> = None;
    let bar = progress::bar(scenarios.len());
    lab.each(&jobs, stop, &mut |done| {
        progress::step(&bar, &done);
        let scenario = scenarios[done.index];
        let judged = done.result.map_err(Failure::from).and_then(|measured| {
            let outcome = Outcome::of(scenario, part, &measured.run);
            keep(arguments, scenario, part, measured.run).map(|()| outcome)
        });
        match judged {
            Ok(outcome) => outcomes[done.index] = Some(outcome),
            // The user stopped.
            Err(_) if stop.load(Ordering::Relaxed) => {}
            Err(failure) => {
                stop.store(true, Ordering::Relaxed);
                let error = failure.error.context(scenario.name.clone());
                failed = Some(Failure::new(failure.code, error));
            }
        }
    });
    bar.finish_and_clear();
    match failed {
        Some(failure) => Err(failure),
        None if outcomes.iter().any(Option::is_none) => {
            Err(Failure::new(code::INTERRUPTED, LabError::Stopped))
        }
        None => Ok(outcomes.into_iter().flatten().collect()),
    }
}

/// Name of the plan in a corpus.
const PLAN: &str = "plan.toml";

/// All scenarios of a folder, by file name.
pub(super) fn read(dir: &Path) -> anyhow::Result<Vec<Scenario>> {
    let list = std::fs::read_dir(dir).with_context(|| format!("read {}", dir.display()))?;
    let mut files = Vec::new();
    for entry in list {
        let path = entry
            .with_context(|| format!("read {}", dir.display()))?
            .path();
        let toml = path.extension().is_some_and(|e| e == "toml");
        if toml && path.file_name().is_some_and(|n| n != PLAN) {
            files.push(path);
        }
    }
    files.sort();
    let mut all: Vec<Scenario> = Vec::new();
    for path in files {
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let file = File::parse(&text).map_err(|e| anyhow!("{}: {e}", path.display()))?;
        let scenarios = file
            .scenarios()
            .map_err(|e| anyhow!("{}: {e}", path.display()))?;
        all.extend(scenarios);
    }
    Ok(all)
}

/// The plan of a corpus.
fn plan(dir: &Path) -> Result<Plan, Failure> {
    measure::plans::read(&dir.join(PLAN)).map_err(|e| Failure::new(code::USE, e))
}

/// A scenario of the lab with its plan.
fn job(scenario: &Scenario, part: Part, plan: &Plan) -> anyhow::Result<job::Measure> {
    let cell = cell(scenario, part)?;
    let program = env!("CARGO_PKG_VERSION");
    Ok(job::Measure::new(cell, plan.clone(), program, LIMIT))
}

/// The path of a scenario of the lab.
pub(super) fn cell(scenario: &Scenario, part: Part) -> anyhow::Result<Cell> {
    let Source::Lab { spec, set } = &scenario.source else {
        return Err(anyhow!("this is not a scenario of the lab"));
    };
    let mut spec = Spec::parse(&scenario.name, spec)?.with_seed(scenario.seed(part).0);
    for (key, value) in set {
        spec.set(key, value)?;
    }
    Ok(spec.first_cell()?.0)
}

/// Returns the file of the stored Run of a scenario, if Runs are stored.
fn file(arguments: &Corpus, scenario: &Scenario, part: Part) -> Option<PathBuf> {
    let name = format!("{}-{}.json", scenario.name, scenario.seed(part).0);
    arguments.runs.as_ref().map(|dir| dir.join(name))
}

/// The stored Run of a scenario.
fn kept(arguments: &Corpus, scenario: &Scenario, part: Part) -> Result<Option<Run>, Failure> {
    let Some(file) = file(arguments, scenario, part).filter(|f| f.exists()) else {
        return Ok(None);
    };
    let text = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
    let run = Run::parse(&text).with_context(|| file.display().to_string())?;
    Ok(Some(run))
}

/// Stores the Run of a scenario, if requested.
fn keep(arguments: &Corpus, scenario: &Scenario, part: Part, mut run: Run) -> Result<(), Failure> {
    let Some(file) = file(arguments, scenario, part) else {
        return Ok(());
    };
    without_series(&mut run);
    let text = serde_json::to_vec(&run).context("write the Run as JSON")?;
    std::fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
    Ok(())
}
