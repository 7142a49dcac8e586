//! `pathtwin lab accuracy --pairs`: runs, kept and taken up again, and what became of their pairs.

use std::path::Path;

use anyhow::{Context, anyhow};
use lab::accuracy::{
    self,
    pairs::{self, Path as Kind, Pool},
};
use model::{run::Run, spec::Spec};

use super::measured;
use crate::{Failure, code, output};

/// How much of it.
pub(super) struct Size<'a> {
    /// Pairs of each kind.
    pub(super) pairs: usize,
    /// Runs without a change; half as many of each kind with one.
    pub(super) runs: usize,
    /// Where runs are kept, and those that are there taken from.
    pub(super) folder: Option<&'a Path>,
}

pub(super) fn pairs(lab: accuracy::Lab<'_>, size: &Size<'_>) -> Result<(), Failure> {
    if let Some(folder) = size.folder {
        let made = std::fs::create_dir_all(folder);
        made.with_context(|| format!("make {}", folder.display()))?;
    }
    let mut pools = Kind::ALL.map(|path| Pool {
        path,
        runs: Vec::new(),
    });
    // One of each after the other, so that a part of the work is one of all kinds.
    for seed in 1..=size.runs as u64 {
        for pool in &mut pools {
            let wanted = match pool.path {
                Kind::Unchanged => size.runs,
                Kind::Slower | Kind::Later => size.runs.div_ceil(2),
            };
            if seed <= wanted as u64 {
                pool.runs.push(run(lab, pool.path, seed, size.folder)?);
            }
        }
    }
    let rows = pairs::count(&pools, size.pairs, 1);
    output::print(pairs::markdown(&pools, &rows).as_bytes())
}

/// A run of the default plan, from the folder if it is there.
fn run(
    lab: accuracy::Lab<'_>,
    path: Kind,
    seed: u64,
    folder: Option<&Path>,
) -> Result<Run, Failure> {
    let file = folder.map(|folder| folder.join(format!("{}-{seed:03}.json", path.name())));
    if let Some(file) = file.as_ref().filter(|file| file.exists()) {
        let text = std::fs::read(file).with_context(|| format!("read {}", file.display()))?;
        let run = Run::parse(&text).with_context(|| file.display().to_string());
        return run.map_err(|e| Failure::new(code::USE, e));
    }
    let cells = Spec::parse(path.name(), &path.spec())
        .map(|spec| spec.with_seed(seed))
        .and_then(|spec| spec.cells())
        .map_err(|e| Failure::new(code::FAILED, e))?;
    let runs = measured(lab, &cells, &measure::plans::default())?;
    let mut run = runs
        .into_iter()
        .next()
        .ok_or_else(|| anyhow!("no cell in the spec"))?
        .run;
    pairs::without_courses(&mut run);
    if let Some(file) = &file {
        let text = serde_json::to_vec(&run).context("write a run as JSON")?;
        output::file(file, &text)?;
    }
    Ok(run)
}
