//! Jobs in the kernel of this host, in real time, as root, by the same guest program.
//!
//! Everything it creates belongs to network namespaces that exist only as long as the guest program
//! holds their descriptors. However that program ends, the kernel removes them: no cleanup is
//! needed, and the host's own settings are not changed. Only its folder in memory can remain, and
//! the next start removes it.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use model::{
    cell::Cell,
    job::{JOB_FILE, OUTPUT_FILE},
};

use crate::{
    LabError, Lacking,
    guest::{self, Cost},
    job::{Artifacts, Job},
    sandbox::Sandbox,
};

/// Parameters for running a job on the host's kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host<'a> {
    /// The guest program.
    pub(crate) program: &'a Path,
    /// Its folders.
    pub(crate) sandbox: &'a Sandbox,
    /// Real time after which a job is ended, if it is longer than the job itself takes.
    pub(crate) wall_limit: Duration,
    /// Set when the user stops the program.
    pub(crate) stop: &'a AtomicBool,
}

/// Checks that this process has the privileges that the engine needs.
///
/// # Errors
/// This is not root.
pub(crate) fn check_rights() -> Result<(), LabError> {
    match sys::sched::is_root() {
        true => Ok(()),
        false => Err(LabError::NotRoot),
    }
}

/// Checks, before anything is changed, that the host has all that the cells need.
///
/// # Errors
/// The kernel lacks something.
pub(crate) fn check_needs(cells: &[Cell]) -> Result<(), LabError> {
    if let Some(name) = cells.iter().find_map(|cell| cell.kernel.clone()) {
        return Err(LabError::OtherKernel(name));
    }
    let mut lacking: Vec<Lacking> = Vec::new();
    for cell in cells {
        let missing = testbed::needs::missing(cell).map_err(LabError::Probe)?;
        lacking.extend(missing.into_iter().map(|tried| Lacking {
            name: tried.name,
            refusal: tried.refusal,
        }));
    }
    lacking.sort();
    lacking.dedup();
    match lacking.is_empty() {
        true => Ok(()),
        false => Err(LabError::Lacks(lacking)),
    }
}

/// Runs a job.
///
/// # Errors
/// It failed, took too long, or was stopped.
pub(crate) fn run<J: Job>(host: Host<'_>, job: &J) -> Result<Artifacts, LabError> {
    let folder = host.sandbox.cell_folder()?;
    let artifacts = in_folder(host, job, &folder);
    host.sandbox.remove(&folder);
    artifacts
}

fn in_folder<J: Job>(host: Host<'_>, job: &J, folder: &Path) -> Result<Artifacts, LabError> {
    job.prepare(folder)?;
    let file = folder.join(JOB_FILE);
    let text = serde_json::to_vec(&job.guest_job()).map_err(LabError::GuestJob)?;
    std::fs::write(&file, text).map_err(LabError::file("write", &file))?;
    let console = folder.join("console.txt");
    let errors = std::fs::File::create(&console).map_err(LabError::file("create", &console))?;
    let mut command = Command::new(host.program);
    command
        .arg("native")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors);
    sys::sched::confine(&mut command, None);
    let started = Instant::now();
    let child = command
        .spawn()
        .map_err(|e| LabError::Start(host.program.to_owned(), e))?;
    let limit = host.wall_limit.max(2 * job.length());
    let end = guest::wait(child.id(), limit, host.stop, host.program, &console, || {
        Ok(())
    })?;
    let cost = Cost {
        wall_s: started.elapsed().as_secs_f64(),
        cpu_s: end.cpu_s,
    };
    if !folder.join(OUTPUT_FILE).exists() {
        return Err(LabError::NoResult {
            how: end.code.into(),
            console: guest::tail(&console),
        });
    }
    Artifacts::read(folder, job.files(), cost)
}
