//! The native engine: the same guest program in the kernel of this host, in real time, as root.
//!
//! All that it creates belongs to network namespaces that only descriptors of the guest program
//! keep alive. However that program ends, the kernel removes them: there is nothing to clean up,
//! and nothing of the host's own is changed. Only its folder in memory can be left, and the next
//! start removes that.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use model::{
    cell::Cell,
    job::{JOB_FILE, OUTPUT_FILE},
};

use crate::{
    LabError, Lacking,
    cell::{self, CellResult},
    guest::{self, Cost},
    job::{Artifacts, Job},
    pool::Done,
    progress::Pace,
    sandbox::Sandbox,
};

/// The engine, after a check that the host has what the cells need.
#[derive(Debug)]
pub struct Native {
    guest: PathBuf,
    sandbox: Sandbox,
}

impl Native {
    /// Checks, before anything is changed, that the host has all that the cells need.
    ///
    /// # Errors
    /// This is not root, the kernel lacks something, or the guest program is missing.
    pub fn open(cells: &[Cell]) -> Result<Self, LabError> {
        if !sys::sched::is_root() {
            return Err(LabError::NotRoot);
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
        if !lacking.is_empty() {
            return Err(LabError::Lacks(lacking));
        }
        let guest = guest::program()?;
        Ok(Self {
            sandbox: Sandbox::new(&guest)?,
            guest,
        })
    }

    /// Runs the cells one after the other, and reports each as it ends; absent = not begun.
    pub fn all(
        &self,
        cells: &[Cell],
        limit: Duration,
        stop: &AtomicBool,
        on_done: &mut dyn FnMut(&Done<CellResult>),
    ) -> Vec<Option<Result<CellResult, LabError>>> {
        let mut results: Vec<_> = cells.iter().map(|_| None).collect();
        let mut pace = Pace::new(cells.len());
        for (index, cell) in cells.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let done = Done {
                index,
                result: self.one(cell, limit, stop),
                cached: false,
                notes: Vec::new(),
                progress: pace.ended(false),
            };
            on_done(&done);
            results[index] = Some(done.result);
        }
        results
    }

    fn one(&self, cell: &Cell, limit: Duration, stop: &AtomicBool) -> Result<CellResult, LabError> {
        let folder = self.sandbox.cell_folder()?;
        let file = folder.join(JOB_FILE);
        let text = serde_json::to_vec(&cell.guest_job()).map_err(LabError::GuestJob)?;
        std::fs::write(&file, text).map_err(LabError::file("write", &file))?;
        let console = folder.join("console.txt");
        let errors = std::fs::File::create(&console).map_err(LabError::file("create", &console))?;
        let mut command = Command::new(&self.guest);
        command
            .arg("native")
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors);
        sys::sched::confine(&mut command, None);
        let started = Instant::now();
        let child = command
            .spawn()
            .map_err(|e| LabError::Start(self.guest.clone(), e))?;
        let limit = limit.max(2 * cell.length());
        let end = guest::wait(child.id(), limit, stop, &self.guest, &console, || Ok(()))?;
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
        let artifacts = Artifacts::read(&folder, cell.files(), cost);
        let _ = std::fs::remove_dir_all(&folder);
        artifacts.and_then(cell::read)
    }
}
