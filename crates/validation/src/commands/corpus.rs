//! `pathtwin explain --corpus`: how the rules fare on scenarios whose causes are known.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, anyhow};
use explain::{
    compose,
    corpus::{File, Outcome, Part, Scenario, What},
};
use lab::{guest::Boot, sandbox::Sandbox};
use model::{job, plan::Plan, run::Run, spec::Spec};

use pathtwin::{
    cli::{Corpus, Form, Which},
    exit::{Failure, code},
    format, progress,
};

/// Virtual time after which a scenario counts as hung.
const LIMIT: Duration = Duration::from_secs(1800);
/// Real time after which it does: guests stand back for all other work of the host.
const WALL_LIMIT: Duration = Duration::from_secs(3600);

/// Judges the scenarios of a folder, and prints how often that is right.
pub(crate) fn corpus(arguments: &Corpus, form: Form) -> Result<ExitCode, Failure> {
    let dir = arguments.corpus.as_deref().unwrap_or(Path::new("corpus"));
    let judged = judged(dir, arguments)?;
    let score = explain::corpus::score(&judged);
    match form {
        Form::Text => format::print(explain::corpus::markdown(&score).as_bytes())?,
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
    let lab = if scenarios.iter().any(|s| matches!(s.what, What::Lab { .. })) {
        Some(Bench::open(dir, arguments.runs.as_deref())?)
    } else {
        None
    };
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let cpus = sys::sched::allowed_cpus().unwrap_or_default();
    let jobs = arguments.jobs.map_or(cpus.len().max(1), NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let failed = Mutex::new(None);
    let bar = progress::bar(scenarios.len());
    std::thread::scope(|scope| {
        for worker in 0..jobs {
            let cpu = (jobs <= cpus.len()).then(|| cpus[worker]);
            let (next, done, failed, bar) = (&next, &done, &failed, &bar);
            let (scenarios, lab) = (&scenarios, &lab);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scenario) = scenarios.get(index) else {
                        return;
                    };
                    let run = match (&scenario.what, lab) {
                        (What::Composed(scene), _) => {
                            Ok(compose::run(scene, scenario.seed(part).0))
                        }
                        (_, Some(bench)) => bench.run(scenario, part, cpu, stop),
                        (_, None) => return,
                    };
                    match run {
                        Ok(run) => {
                            let outcome = Outcome::of(scenario, part, &run);
                            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                            done.push((index, outcome));
                        }
                        Err(error) => {
                            next.store(scenarios.len(), Ordering::Relaxed);
                            let error = error.context(scenario.name.clone());
                            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                        }
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Failure::new(code::FAILED, error));
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Name of the plan in a corpus.
const PLAN: &str = "plan.toml";

/// All scenarios of a folder, by file name.
fn read(dir: &Path) -> anyhow::Result<Vec<Scenario>> {
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

/// What the scenarios of the lab are run with.
struct Bench {
    kernel: PathBuf,
    sandbox: Sandbox,
    plan: Plan,
    runs: Option<PathBuf>,
}

impl Bench {
    fn open(dir: &Path, runs: Option<&Path>) -> Result<Self, Failure> {
        let path = dir.join(PLAN);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("read {}", path.display()))
            .map_err(|e| Failure::new(code::USE, e))?;
        let plan = measure::plans::parse(&text)
            .map_err(|e| Failure::new(code::USE, anyhow!("{}: {e}", path.display())))?;
        if let Some(runs) = runs {
            std::fs::create_dir_all(runs).with_context(|| format!("make {}", runs.display()))?;
        }
        Ok(Self {
            kernel: kernel::locate().map_err(lab::LabError::from)?.path,
            sandbox: Sandbox::new(&lab::guest::program()?)?,
            plan,
            runs: runs.map(Path::to_owned),
        })
    }

    /// The Run of a scenario: the kept one if there is one.
    fn run(
        &self,
        scenario: &Scenario,
        part: Part,
        cpu: Option<usize>,
        stop: &AtomicBool,
    ) -> anyhow::Result<Run> {
        let seed = scenario.seed(part);
        let kept = self
            .runs
            .as_ref()
            .map(|dir| dir.join(format!("{}-{}.json", scenario.name, seed.0)));
        if let Some(file) = kept.as_ref().filter(|f| f.exists()) {
            let text = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
            return Run::parse(&text).with_context(|| file.display().to_string());
        }
        let What::Lab { spec, set } = &scenario.what else {
            return Err(anyhow!("it is no scenario of the lab"));
        };
        let mut spec = Spec::parse(&scenario.name, spec)?.with_seed(seed.0);
        for (key, value) in set {
            spec.set(key, value)?;
        }
        let cell = spec.cells()?.into_iter().next().context("no cell")?;
        let job = job::Measure {
            cell,
            plan: self.plan.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            limit_ns: LIMIT.as_nanos() as u64,
        };
        let boot = Boot {
            kernel: &self.kernel,
            sandbox: &self.sandbox,
            cpu,
            wall_limit: WALL_LIMIT,
            stop,
        };
        let mut run = lab::measure::run(boot, &job)?.run;
        if let Some(file) = kept {
            strip(&mut run);
            let text = serde_json::to_vec(&run).context("write the Run as JSON")?;
            std::fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
        }
        Ok(run)
    }
}

/// Takes the series out, which no rule reads and which are nearly all of a Run.
fn strip(run: &mut Run) {
    for sample in &mut run.samples {
        if let Some(probes) = &mut sample.probes {
            probes.series = None;
        }
        for flow in sample.tcp.iter_mut().flat_map(|t| &mut t.flows) {
            flow.series = None;
            flow.received = None;
        }
    }
}
