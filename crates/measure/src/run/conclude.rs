//! The end of a run.

use model::run::Run;
use model::text;
use sys::clock::Instant;

/// Ends a run that began at `zero`: its figures, and whether its user `stopped`
/// it.
pub(super) fn conclude(run: &mut Run, zero: Instant, stopped: bool) {
    if stopped {
        run.cut_short = Some(text!("stopped by the user"));
    }
    run.took_s = Instant::now().since(zero) as f64 / 1e9;
    run.figures = analysis::summary::figures(&run.samples);
    run.ratios = analysis::summary::ratios(&run.samples);
}
