//! What the rules of a queue that grows too long have in common, wherever the queue is.

use super::time;
use crate::{
    cause::Need,
    verdict::{Verdict, not, unknown},
};
use analysis::view::{DirectionView, Idle, Load};
use model::{findings::Severity, text};

/// Added delay under load that is worth a word, µs: the border between A and B of the usual grades.
pub(super) const WARN_US: f64 = 30_000.0;
/// Added delay under load to act on, µs.
pub(super) const ACT_US: f64 = 60_000.0;

/// A load that adds delay.
pub(super) struct Bloat {
    /// The load.
    pub load: Load,
    /// Latency without it.
    pub idle: Idle,
    /// What it adds to the median round trip, µs.
    pub added_us: f64,
}

/// The delay that TCP adds in a direction; the verdict if that is unknown or little.
pub(super) fn of(way: &DirectionView) -> Result<Bloat, Verdict> {
    let (Some(load), Some(idle)) = (way.default_load(), way.view.idle()) else {
        return Err(unknown(Need::Tcp.missing(), Need::Tcp.settle()));
    };
    let Some(added_us) = way.added_delay_us(&load) else {
        return Err(unknown(
            Need::LoadedProbes.missing(),
            Need::LoadedProbes.settle(),
        ));
    };
    if added_us <= WARN_US {
        return Err(not(text!(
            "the round trip rises by {added} under TCP, at most {most} is fine",
            added = time(added_us.max(0.0)),
            most = time(WARN_US)
        )));
    }
    Ok(Bloat {
        load,
        idle,
        added_us,
    })
}

impl Bloat {
    /// Whether it is enough to act on.
    pub(super) fn acts(&self) -> bool {
        self.added_us > ACT_US
    }

    /// The verdict with the severity that the delay has.
    pub(super) fn graded(&self, verdict: Verdict) -> Verdict {
        match self.acts() {
            true => verdict,
            false => verdict.at(Severity::Low),
        }
    }
}
