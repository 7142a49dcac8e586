//! `pathtwin lab accuracy --watch`: the real daemon on drawn paths, for weeks of virtual time.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use lab::exec::{ExecResult, HostFiles, Programs};
use model::{job::Exec, units::Seed};
use pathtwin::{
    exit::{Failure, code},
    format, progress,
};
use validation::watching::{
    draw::{self, Drawn},
    job::{self, Binaries, Outputs},
    score::Outcome,
    table,
};

use super::Bench;

/// How much is watched.
pub(super) struct Size<'a> {
    /// Number of paths.
    pub(super) paths: usize,
    /// Length of each watch, days.
    pub(super) days: f64,
    /// Seed of the draw.
    pub(super) draw: Seed,
    /// Folder to write outcomes to, and to reuse those in it.
    pub(super) folder: Option<&'a Path>,
}

/// A path that is still to be watched.
struct Pending {
    drawn: Drawn,
    exec: Exec,
    outputs: Outputs,
}

pub(super) fn watch(bench: Bench<'_>, size: &Size<'_>) -> Result<(), Failure> {
    let drawn = draw::draw(size.paths, size.days, size.draw);
    let drawn = drawn.map_err(|e| Failure::new(code::FAILED, e))?;
    if let Some(folder) = size.folder {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    let own = std::env::current_exe().context("find this program")?;
    let pathtwin = own.with_file_name("pathtwin");
    let binaries = Binaries {
        pathtwin: &pathtwin,
        own: &own,
    };
    let mut outcomes = Vec::new();
    let mut pending = Vec::new();
    for drawn in drawn {
        match kept(size, &drawn)? {
            Some(outcome) => outcomes.push(outcome),
            None => {
                let (exec, outputs) =
                    job::job(&drawn, size.days, &binaries).context("write a script")?;
                pending.push(Pending {
                    drawn,
                    exec,
                    outputs,
                });
            }
        }
    }
    let programs = pending.iter().map(|one| Programs {
        exec: &one.exec,
        files: HostFiles::ReadOnly,
    });
    let programs: Vec<_> = programs.collect();
    let bar = progress::bar(programs.len());
    let mut failed = None;
    bench.lab.each(&programs, bench.stop, &mut |done| {
        progress::step(&bar, &done);
        let one = &pending[done.index];
        let outcome = done.result.map_err(|e| Failure::new(code::FAILED, e));
        let outcome = outcome.and_then(|result| outcome_of(size, one, &result));
        match outcome.and_then(|outcome| keep(size, &outcome).map(|()| outcome)) {
            Ok(outcome) => outcomes.push(outcome),
            Err(failure) => failed = Some(failure),
        }
    });
    bar.finish_and_clear();
    if let Some(failure) = failed {
        return Err(failure);
    }
    outcomes.sort_by_key(|outcome| outcome.drawn.cell.seed);
    format::text(&table::markdown(&outcomes))
}

fn outcome_of(size: &Size<'_>, one: &Pending, result: &ExecResult) -> Result<Outcome, Failure> {
    let fail = |what: String| Failure::new(code::FAILED, anyhow!("{}: {what}", one.drawn.name));
    let said = |program: usize| {
        let errors = |p: &lab::exec::Ended| String::from_utf8_lossy(&p.stderr).into_owned();
        result.programs.get(program).map(errors).unwrap_or_default()
    };
    if let Some(error) = &result.error {
        return Err(fail(error.to_string()));
    }
    // The routers and the server end with the watch, or before it if something failed.
    let wrong = result
        .programs
        .iter()
        .position(|p| p.status.is_some_and(|status| status != 0));
    if let Some(wrong) = wrong {
        return Err(fail(format!(
            "{}: {}",
            one.exec.commands[wrong].node,
            said(wrong)
        )));
    }
    let output = |program: usize| String::from_utf8_lossy(&result.programs[program].stdout);
    let watched = serde_json::from_str(&output(one.outputs.watch));
    let watched = watched.map_err(|e| fail(format!("{e}: {}", said(one.outputs.watch))))?;
    let near = output(one.outputs.near);
    let passed = near
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>();
    Ok(Outcome {
        draw: size.draw,
        days: size.days,
        drawn: one.drawn.clone(),
        watched,
        passed: passed.map_err(|e| fail(format!("near: {e}")))?,
        guest_cpu_s: result.cost.cpu_s,
    })
}

fn file(folder: &Path, drawn: &Drawn) -> PathBuf {
    folder.join(format!("{}.json", drawn.name))
}

fn keep(size: &Size<'_>, outcome: &Outcome) -> Result<(), Failure> {
    let Some(folder) = size.folder else {
        return Ok(());
    };
    let file = file(folder, &outcome.drawn);
    let bytes = serde_json::to_vec(outcome).context("write an outcome as JSON")?;
    fs::write(&file, bytes).with_context(|| format!("write {}", file.display()))?;
    Ok(())
}

/// The outcome that an earlier call wrote, if it is of the same path and as long.
fn kept(size: &Size<'_>, drawn: &Drawn) -> Result<Option<Outcome>, Failure> {
    let Some(folder) = size.folder else {
        return Ok(None);
    };
    let Ok(text) = fs::read(file(folder, drawn)) else {
        return Ok(None);
    };
    let outcome: Outcome = serde_json::from_slice(&text)
        .with_context(|| format!("read {}", file(folder, drawn).display()))?;
    let same = outcome.drawn == *drawn && outcome.days == size.days;
    Ok(same.then_some(outcome))
}
