//! The native engine: the same guest program in the kernel of this host, in real time, as root.
//!
//! All that it makes hangs on network namespaces that only descriptors of the guest program hold.
//! However that program ends, the kernel takes them away: there is nothing to clean up, and nothing
//! of the host's own is changed. Only its folder in memory can be left, and the next start removes
//! that.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use model::{
    cell::Cell,
    job::{JOB_FILE, Job, OUTPUT_FILE},
};

use crate::{
    LabError,
    cell::{self, CellResult},
    guest::Cost,
    pool::Ended,
    sandbox::Sandbox,
};

/// The engine, after it has found that the host can carry the cells.
#[derive(Debug)]
pub struct Native {
    guest: PathBuf,
    sandbox: Sandbox,
}

impl Native {
    /// Checks, before anything is changed, that the host has all that the cells need.
    pub fn new(guest: &Path, cells: &[Cell]) -> Result<Self, LabError> {
        if !sys::sched::is_root() {
            let text = "the native engine makes network namespaces and queues, and needs root: \
                        run it with sudo, or use the lab's own kernel (--engine uml)";
            return Err(LabError::Lacks(text.to_owned()));
        }
        let mut missing: Vec<String> = Vec::new();
        for cell in cells {
            let lacks =
                testbed::needs::missing(cell).map_err(|e| LabError::Guest(e.to_string()))?;
            missing.extend(lacks.into_iter().map(|t| {
                format!(
                    "  {} ({})",
                    t.name,
                    t.refusal.unwrap_or_else(|| "not there".to_owned())
                )
            }));
        }
        missing.sort();
        missing.dedup();
        if !missing.is_empty() {
            return Err(LabError::Lacks(format!(
                "this host's kernel lacks what the spec needs; nothing was changed:\n{}\n\
                 load the modules, or use the lab's own kernel (--engine uml)",
                missing.join("\n")
            )));
        }
        Ok(Self {
            guest: guest.to_owned(),
            sandbox: Sandbox::new(guest)?,
        })
    }

    /// Runs the cells one after the other, and tells of each as it ends.
    pub fn run(
        &self,
        cells: &[Cell],
        limit: Duration,
        stop: &AtomicBool,
        told: &mut dyn FnMut(&Ended),
    ) -> Vec<Option<Result<CellResult, LabError>>> {
        let mut results: Vec<_> = cells.iter().map(|_| None).collect();
        for (index, cell) in cells.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let ended = Ended {
                index,
                result: self.one(cell, limit, stop),
            };
            told(&ended);
            results[index] = Some(ended.result);
        }
        results
    }

    fn one(&self, cell: &Cell, limit: Duration, stop: &AtomicBool) -> Result<CellResult, LabError> {
        let folder = self.sandbox.cell_folder()?;
        let job = Job::Cell(Box::new(cell.clone()));
        let file = folder.join(JOB_FILE);
        let text =
            serde_json::to_vec(&job).map_err(|e| LabError::Result(file.clone(), e.to_string()))?;
        std::fs::write(&file, text).map_err(LabError::file("write", &file))?;
        let console = folder.join("console.txt");
        let said = std::fs::File::create(&console).map_err(LabError::file("make", &console))?;
        let mut command = Command::new(&self.guest);
        command
            .arg("native")
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said);
        sys::sched::confine(&mut command, None);
        let started = Instant::now();
        let child = command
            .spawn()
            .map_err(|e| LabError::Start(self.guest.clone(), e))?;
        let limit = limit.max(2 * cell.length());
        let end = crate::guest::wait(child.id(), limit, stop, &self.guest, &console)?;
        let cost = Cost {
            wall_s: started.elapsed().as_secs_f64(),
            cpu_s: end.cpu_s,
        };
        if !folder.join(OUTPUT_FILE).exists() {
            let how = end
                .code
                .map_or("a signal".to_owned(), |code| format!("exit code {code}"));
            return Err(LabError::NoResult {
                how,
                console: crate::guest::tail(&console),
            });
        }
        let result = cell::read(&folder, cost, false);
        let _ = std::fs::remove_dir_all(&folder);
        result
    }
}
