//! Init of the lab guest, and the child of the native engine.
//!
//! As the first process of a guest it mounts the file systems it needs, runs the job in the cell's
//! folder, writes the results and stops the machine. Called as `pathtwin-guest native FOLDER` it
//! runs the job in the host's kernel, and then exits.

mod engine;
mod exec;
mod facts;
mod flows;
mod init;
mod measure;
mod prove;
mod run;
mod sampling;
mod times;

use std::{path::Path, process::ExitCode};

use anyhow::{Context, bail};
use model::job::{JOB_FILE, Job, OUTPUT_FILE};
use sys::files::{Existing, Readers, write_by};

use engine::Engine;

fn main() -> ExitCode {
    if sys::boot::is_init() {
        // This must not return: the kernel panics when its first process ends.
        if let Err(error) = init::run() {
            eprintln!("pathtwin-guest: {error:#}");
        }
        sys::boot::power_off();
    }
    let mut arguments = std::env::args_os().skip(1);
    let (mode, folder) = (arguments.next(), arguments.next());
    if mode.as_deref() == Some(std::ffi::OsStr::new(prove::KEEPER)) {
        return prove::keeper(folder, arguments.next());
    }
    let result = match (mode, folder) {
        (Some(mode), Some(folder)) if mode == "native" => native(Path::new(&folder)),
        _ => Err(anyhow::anyhow!(
            "usage: pathtwin-guest native FOLDER; or as the init of a guest"
        )),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pathtwin-guest: {error:#}");
            ExitCode::from(4)
        }
    }
}

fn native(folder: &Path) -> anyhow::Result<()> {
    work(Engine {
        folder,
        guest: false,
    })
}

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
