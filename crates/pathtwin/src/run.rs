//! `pathtwin lab run`.

use std::{path::Path, process::ExitCode, sync::atomic::Ordering, time::Duration};

use anyhow::{Context, anyhow};
use lab::{cache::Cache, pool::Pool, sandbox::Sandbox};
use model::{row::Row, spec::Spec};

use crate::{
    Failure,
    arguments::{Cells, Format, Run},
    code, output, progress,
};

/// Reads a spec and applies what the command line sets.
pub(crate) fn read_spec(path: &Path, cells: &Cells) -> Result<Spec, Failure> {
    let wrong = |e: anyhow::Error| Failure::new(code::USE, e);
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read {}", path.display()))
        .map_err(wrong)?;
    let mut spec = Spec::parse(&path.display().to_string(), &text).map_err(|e| wrong(e.into()))?;
    for setting in &cells.set {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| wrong(anyhow!("--set {setting}: there is no = in it")))?;
        spec.set(key, value).map_err(|e| wrong(e.into()))?;
    }
    Ok(match cells.seed {
        Some(seed) => spec.with_seed(seed),
        None => spec,
    })
}

pub(crate) fn run(arguments: &Run) -> Result<ExitCode, Failure> {
    let spec = read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    let kernel = lab::kernel::locate().map_err(lab::LabError::from)?;
    let guest = lab::guest::program()?;
    let sandbox = Sandbox::new(&guest)?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let cache = match arguments.no_cache {
        true => None,
        false => Some(Cache::new(lab::cache::folder()?, &kernel.sha256, &guest)?),
    };
    let processors = sys::sched::allowed_cpus().map_or(1, |cpus| cpus.len());
    let pool = Pool {
        kernel: &kernel.path,
        sandbox: &sandbox,
        cache: cache.as_ref(),
        jobs: arguments.jobs.map_or(processors, |n| n.get()),
        wall_limit: Duration::from_secs(arguments.cells.wall_limit),
        stop,
    };
    let bar = progress::bar(cells.len());
    let mut failed = 0;
    let results = pool.run(&cells, |ended| {
        bar.inc(1);
        if let Err(error) = &ended.result {
            if !matches!(error, lab::LabError::Stopped) {
                failed += 1;
                let cell = &cells[ended.index];
                bar.suspend(|| {
                    eprintln!("pathtwin: cell {} seed {}: {error}", ended.index, cell.seed)
                });
            }
        }
    });
    bar.finish_and_clear();
    let mut rows: Vec<Row> = Vec::new();
    for (cell, result) in cells.iter().zip(&results) {
        if let Some(Ok(result)) = result {
            rows.extend(lab::rows::rows(cell, result)?);
        }
    }
    match arguments.output {
        Format::Json => output::json(&rows)?,
        Format::Jsonl | Format::Text => output::json_lines(&rows)?,
    }
    if stop.load(Ordering::Relaxed) {
        eprintln!("pathtwin: stopped; what was done is above");
        return Ok(ExitCode::from(130));
    }
    Ok(if failed > 0 {
        ExitCode::from(code::FAILED)
    } else {
        ExitCode::SUCCESS
    })
}
