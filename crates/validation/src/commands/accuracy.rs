//! `pathtwin lab accuracy`.

mod bench;
mod captures;
mod coverage;
mod drawn;
mod fixes;
mod pairs;
mod results;
mod segments;
mod twins;
mod watch;

use std::{fmt::Write as _, process::ExitCode, time::Duration};

use anyhow::{Context, anyhow};
use bench::Bench;
use lab::{Config, Lab, LabError, measure::Measured};
use model::{cell::Cell, plan::Plan, spec, units::Seed};
use validation::accuracy::{self, paths, table, truth::Compared};

use pathtwin::{
    cli::Accuracy,
    exit::{Failure, code},
    format, progress,
};

/// Real time after which a run is stopped: long, because the machine may have other work.
const WALL_LIMIT: Duration = Duration::from_secs(4 * 3600);

pub(crate) fn accuracy(arguments: &Accuracy) -> Result<ExitCode, Failure> {
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    if let Some(file) = &arguments.captures {
        return captures::captures(file, arguments.output).map(|()| ExitCode::SUCCESS);
    }
    // The runs of long plans exceed the cache; --out stores them. The runs of twins are short and
    // many.
    let lab = Lab::open(&Config {
        cache: arguments
            .twins
            .or(arguments.causes)
            .or(arguments.fixes)
            .or(arguments.segments)
            .is_some(),
        jobs: arguments.jobs,
        wall_limit: WALL_LIMIT,
        ..Config::default()
    })?;
    let bench = Bench { lab: &lab, stop };
    if let Some(paths) = arguments.twins {
        let size = twins::Size {
            paths,
            draw: arguments.draw,
            kind: arguments.twin_paths,
            folder: arguments.out.as_deref(),
            output: arguments.output,
        };
        return twins::twins(bench, &size).map(|()| ExitCode::SUCCESS);
    }
    if let Some(paths) = arguments.segments {
        return segments::segments(bench, paths, arguments.draw).map(|()| ExitCode::SUCCESS);
    }
    if let Some(paths) = arguments.watch {
        let size = watch::Size {
            paths,
            days: arguments.days,
            draw: Seed(arguments.draw),
            folder: arguments.out.as_deref(),
        };
        return watch::watch(bench, &size).map(|()| ExitCode::SUCCESS);
    }
    if let Some(scenarios) = arguments.causes {
        let draw = u32::try_from(arguments.draw);
        let size = drawn::Size {
            scenarios,
            only: &arguments.only,
            draw: draw.map_err(|_| Failure::new(code::USE, anyhow!("--draw is below 2^32")))?,
            quick: arguments.quick,
            truths: arguments.truths.as_deref(),
            folder: arguments.out.as_deref(),
            output: arguments.output,
        };
        return drawn::drawn(bench, &size).map(|()| ExitCode::SUCCESS);
    }
    if let Some(scenarios) = arguments.fixes {
        let size = fixes::Size {
            scenarios,
            corpus: &arguments.corpus,
            folder: arguments.out.as_deref(),
            output: arguments.output,
        };
        return fixes::fixes(bench, &size).map(|()| ExitCode::SUCCESS);
    }
    match (arguments.coverage, arguments.pairs) {
        (Some(seeds), _) => {
            let size = coverage::Size {
                seeds,
                draw: arguments.draw,
                only: &arguments.only,
                quick: arguments.quick,
                folder: arguments.out.as_deref(),
            };
            coverage::coverage(bench, &size).map(|()| ExitCode::SUCCESS)
        }
        (None, Some(wanted)) => {
            let size = pairs::Size {
                pairs: wanted,
                runs: arguments.runs,
                folder: arguments.out.as_deref(),
            };
            pairs::pairs(bench, &size).map(|()| ExitCode::SUCCESS)
        }
        (None, None) => errors(bench, arguments),
    }
}

impl Bench<'_> {
    /// Measures a plan on every path; results in the order of the paths. Each is passed to `on_run`
    /// as it ends, with its index, which may make it smaller: the hundreds of megabytes of time
    /// series of a long plan add up.
    fn measure(
        self,
        cells: &[Cell],
        plan: &Plan,
        mut on_run: impl FnMut(usize, &mut Measured),
    ) -> Result<Vec<Measured>, Failure> {
        let bar = progress::bar(cells.len());
        let mut results: Vec<_> = cells.iter().map(|_| None).collect();
        let jobs = accuracy::jobs(cells, plan);
        self.lab.each(&jobs, self.stop, &mut |mut done| {
            progress::step(&bar, &done);
            if let Ok(measured) = &mut done.result {
                on_run(done.index, measured);
            }
            results[done.index] = Some(done.result);
        });
        bar.finish_and_clear();
        all_of(cells, results)
    }
}

/// The results, unless one is missing.
fn all_of(
    cells: &[Cell],
    results: Vec<Option<Result<Measured, LabError>>>,
) -> Result<Vec<Measured>, Failure> {
    let mut all = Vec::new();
    for (cell, result) in cells.iter().zip(results) {
        match result {
            Some(Ok(measured)) => all.push(measured),
            Some(Err(LabError::Stopped)) | None => {
                return Err(Failure::new(code::INTERRUPTED, LabError::Stopped));
            }
            Some(Err(error)) => {
                let name = format!("{} (seed {})", cell.name, cell.seed);
                return Err(Failure::new(code::FAILED, anyhow!("{name}: {error}")));
            }
        }
    }
    Ok(all)
}

fn errors(bench: Bench<'_>, arguments: &Accuracy) -> Result<ExitCode, Failure> {
    let cells = paths::cells(arguments.paths, Seed(arguments.draw))
        .map_err(|e| Failure::new(code::FAILED, e))?;
    let plan = paths::plan().context("read the plan")?;
    let runs = bench.measure(&cells, &plan, |_, _| ())?;
    let compared: Vec<Compared> = cells
        .iter()
        .zip(&runs)
        .flat_map(|(cell, run)| accuracy::truth::compare(cell, run))
        .collect();
    if let Some(folder) = &arguments.out {
        keep(folder, &cells, &runs, &compared)?;
    }
    for (cell, run) in cells.iter().zip(&runs) {
        for sample in run.run.samples.iter().filter(|s| !s.valid) {
            eprintln!(
                "pathtwin: {}: {}: {:?}",
                cell.name, sample.key, sample.invalid
            );
        }
    }
    format::text(&table::markdown(&compared, cells.len()))?;
    Ok(ExitCode::SUCCESS)
}

fn keep(
    folder: &std::path::Path,
    cells: &[Cell],
    runs: &[Measured],
    compared: &[Compared],
) -> Result<(), Failure> {
    let write = |name: String, bytes: Vec<u8>| {
        let file = folder.join(name);
        std::fs::write(&file, bytes).with_context(|| format!("write {}", file.display()))
    };
    std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    for (cell, run) in cells.iter().zip(runs) {
        write(
            format!("{}.toml", cell.name),
            spec::write(cell).into_bytes(),
        )?;
        let text = serde_json::to_vec(&run.run).context("write a run as JSON")?;
        write(format!("{}.json", cell.name), text)?;
    }
    let mut lines = String::from("path,layer,direction,quantity,truth,measured,low,high\n");
    for c in compared {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let _ = writeln!(
            lines,
            "{},{:?},{:?},{:?},{},{},{},{}",
            c.path,
            c.layer,
            c.direction,
            c.quantity,
            c.truth,
            number(c.measured),
            number(c.interval.map(|i| i[0])),
            number(c.interval.map(|i| i[1]))
        );
    }
    write("compared.csv".to_owned(), lines.into_bytes())?;
    Ok(())
}
