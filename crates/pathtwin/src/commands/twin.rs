//! `pathtwin twin`.

use std::{
    num::NonZeroUsize, path::Path, process::ExitCode, sync::atomic::AtomicBool, time::Duration,
};

use anyhow::{Context, anyhow};
use lab::{Config, Lab};
use model::{job, path::Trial, run::Run, twin::TwinVerdict};
use twin::{Bench, Budget, Fit, Outcome, Stopped, TwinError};

use crate::{
    cli::twin::{Twin, TwinForm},
    exit::{Failure, code},
    format, progress,
};

/// Real time after which a run in the lab is ended.
const WALL_LIMIT: Duration = Duration::from_secs(1800);

pub(crate) fn twin(arguments: &Twin) -> Result<ExitCode, Failure> {
    format::check(arguments.out.as_deref())?;
    let text = arguments.place.named(&arguments.run)?;
    let run = Run::parse(&text)
        .with_context(|| arguments.run.clone())
        .map_err(|e| Failure::new(code::USE, e))?;
    let budget = arguments.budget_time.map_or(Budget::Usual, Budget::Of);
    let fit = Fit::prepare(&run, budget, env!("CARGO_PKG_VERSION"))?;
    let twin = match fit.runs() {
        0 => {
            announce(&fit);
            fit.search(&mut Nothing)?
        }
        _ => {
            let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
            search(&fit, &open_lab(!arguments.no_cache, arguments.jobs)?, stop)?
        }
    };
    let file = arguments.out.as_deref();
    let written = file.map_or(Ok(()), |file| write_spec(file, &twin));
    match arguments.output {
        TwinForm::Text => format::text(&report::twin::text(&twin))?,
        TwinForm::Json => format::json(&twin)?,
    }
    // Its error comes after the answer, which it must not take away.
    written?;
    Ok(match twin.verdict {
        TwinVerdict::DoesNotFit => ExitCode::from(code::VERDICT),
        _ => ExitCode::SUCCESS,
    })
}

/// The lab for searches and trials.
pub(super) fn open_lab(cache: bool, jobs: Option<NonZeroUsize>) -> Result<Lab, Failure> {
    Ok(Lab::open(&Config {
        cache,
        jobs,
        wall_limit: WALL_LIMIT,
        ..Config::default()
    })?)
}

fn announce(fit: &Fit<'_>) {
    if let Some(forecast) = fit.forecast() {
        format::say(format_args!("{forecast}"));
    }
}

/// Announces a search and carries it out, with a bar, until it is stopped.
pub(crate) fn search(
    fit: &Fit<'_>,
    lab: &Lab,
    stop: &AtomicBool,
) -> Result<model::twin::Twin, Failure> {
    announce(fit);
    let found = progress::search(lab, fit.runs(), stop, |bench| fit.search(bench));
    Ok(found?)
}

/// Writes the best path as a spec that `lab run` and `measure --lab` take.
fn write_spec(file: &Path, twin: &model::twin::Twin) -> Result<(), Failure> {
    let cell = twin.path.cell(&Trial::default());
    let cell = cell.map_err(|e| Failure::new(code::FAILED, e))?;
    let text = report::twin::spec(twin, &cell);
    format::file(file, sys::files::Readers::ByUmask, text.as_bytes())
}

/// No lab: a fit without a search needs none.
struct Nothing;

impl Bench for Nothing {
    fn measure(
        &mut self,
        _: &[job::Measure],
        _: &mut dyn FnMut(usize, Outcome),
    ) -> Result<(), Stopped> {
        Ok(())
    }
}

impl From<TwinError> for Failure {
    fn from(error: TwinError) -> Self {
        let code = match &error {
            TwinError::Missing { .. }
            | TwinError::Impossible { .. }
            | TwinError::NoPath(_)
            | TwinError::NoBudget { .. } => code::USE,
            TwinError::AllFailed(_) => code::FAILED,
            TwinError::Stopped => code::INTERRUPTED,
        };
        Self::new(code, anyhow!(error))
    }
}
