//! The job of a folder.

use anyhow::{Context, bail};
use model::job::{JOB_FILE, Job, OUTPUT_FILE};
use sys::files::{Existing, Readers, write_by};

use crate::{engine::Engine, exec, facts, measure, prove, run};

/// Runs the job of a folder and writes the results.
pub(crate) fn work(engine: Engine<'_>) -> anyhow::Result<()> {
    let _ = sys::sched::set_timer_slack(1);
    // A flow has up to five, and init starts with the usual 1024.
    let _ = sys::descriptors::allow(u64::MAX);
    let file = engine.folder.join(JOB_FILE);
    let text = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
    let job = serde_json::from_slice(&text).with_context(|| format!("parse {}", file.display()))?;
    match job {
        Job::Cell(cell) => write(engine, &run::measure(engine, &cell)?),
        Job::Exec(exec) if engine.guest => write(engine, &exec::run(engine, &exec)?),
        Job::Exec(_) => bail!("programs are only run in a guest"),
        Job::Measure(job) => write(engine, &measure::run(engine, &job)?),
        Job::Prove(job) if engine.guest => write(engine, &prove::run(engine, &job)?),
        Job::Prove(_) => bail!("hosts of a lab path are only changed in a guest"),
        Job::Facts => write(engine, &facts::collect()?),
    }
}

/// Written in pieces: a long run is large, and a guest has little memory.
fn write(engine: Engine<'_>, output: &impl serde::Serialize) -> anyhow::Result<()> {
    let file = engine.folder.join(OUTPUT_FILE);
    let written = write_by(&file, Readers::Owner, Existing::Replace, |file| {
        Ok(serde_json::to_writer(file, output)?)
    });
    written.with_context(|| format!("write {}", file.display()))
}
