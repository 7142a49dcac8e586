//! `pathtwin measure --lab`: the same plan between the two ends of a lab path.

use std::{path, sync::atomic::AtomicBool, time::Duration};

use indicatif::ProgressBar;
use lab::{Config, Lab};
use measure::run::{Estimate, minutes, range, usual_estimate};
use model::{cell::Cell, job, plan::Plan, run::Run, spec::Spec};

use super::live;
use crate::cli::measure::Path;
use crate::{
    exit::{Failure, code},
    format, progress,
};

impl Path {
    /// Its spec, if it is one of the lab.
    pub(super) fn spec(&self) -> Option<&path::Path> {
        self.lab.as_deref()
    }

    pub(super) fn seed(&self) -> Option<u64> {
        self.cells.seed
    }

    /// Number of layers of the path, if it is one of the lab.
    pub(super) fn layers(&self) -> Result<Option<usize>, Failure> {
        let Some(spec) = self.spec() else {
            return Ok(None);
        };
        let spec = crate::commands::lab::run::read_spec(spec, &self.cells)?;
        Ok(Some(first_cell(&spec)?.layers()))
    }

    pub(super) fn measure(
        &self,
        spec: &path::Path,
        plan: Plan,
        stop: &'static AtomicBool,
    ) -> Result<Run, Failure> {
        let mut written = std::fs::read_to_string(spec).unwrap_or_default();
        for setting in &self.cells.set {
            written.push_str(&format!("# --set {setting}\n"));
        }
        let spec = crate::commands::lab::run::read_spec(spec, &self.cells)?;
        let cell = first_cell(&spec)?;
        let lab = Lab::open(&Config {
            cache: !self.no_cache,
            wall_limit: Duration::from_secs(self.cells.wall_limit),
            ..Config::default()
        })?;
        lab.check(std::slice::from_ref(&cell))?;
        lab.check_plan(&plan)?;
        let estimate = usual_estimate(&plan, cell.layers());
        let job = job::Measure::new(cell, plan, env!("CARGO_PKG_VERSION"), estimate.limit());
        let waiting = waiting(&estimate);
        let mut measured = lab.run(&job, stop, &mut |done| {
            progress::report_notes(&waiting, &done.notes);
        })?;
        waiting.finish_and_clear();
        measured.run.spec = Some(written).filter(|text| !text.is_empty());
        Ok(measured.run)
    }
}

/// The first cell of a spec, with a note if there are others.
///
/// # Errors
/// The spec has no possible cell.
pub(crate) fn first_cell(spec: &Spec) -> Result<Cell, Failure> {
    let (cell, number) = spec.first_cell().map_err(|e| Failure::new(code::USE, e))?;
    if number > 1 {
        format::say(format_args!(
            "the spec has {number} cells; the first is measured"
        ));
    }
    Ok(cell)
}

/// A spinner for measurements in the lab, which report no progress.
fn waiting(estimate: &Estimate) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    live::style(&bar);
    let time = range(estimate.time_s.map(minutes));
    bar.set_message(format!("measuring in the lab: {time} of virtual time"));
    bar
}
