//! Common parts of the bufferbloat rules.

use super::time;
use crate::{
    cause::Need,
    verdict::{Verdict, ruled_out, undecided},
};
use analysis::view::{DirectionView, Idle, Load};
use model::{findings::Severity, text};

/// Added delay under load that is reported, µs: the boundary between grades A and B of common
/// tests.
pub(super) const WARN_US: f64 = 30_000.0;
/// Added delay under load that requires action, µs.
pub(super) const ACT_US: f64 = 60_000.0;

/// A load that adds delay.
pub(super) struct Bloat {
    /// The load.
    pub load: Load,
    /// Idle latency.
    pub idle: Idle,
    /// Increase of the median RTT, µs.
    pub added_us: f64,
}

/// The delay that TCP adds in a direction; a verdict if that is unknown or small.
pub(super) fn of(dir: &DirectionView) -> Result<Bloat, Verdict> {
    let (Some(load), Some(idle)) = (dir.default_load(), dir.view.idle()) else {
        return Err(undecided(Need::Tcp.missing(), Need::Tcp.settle()));
    };
    let Some(added_us) = dir.added_delay_us(&load) else {
        return Err(undecided(
            Need::LoadedProbes.missing(),
            Need::LoadedProbes.settle(),
        ));
    };
    if added_us <= WARN_US {
        return Err(ruled_out(text!(
            "the RTT rises by {added} under TCP load; up to {most} is fine",
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
    /// Whether it requires action.
    pub(super) fn acts(&self) -> bool {
        self.added_us > ACT_US
    }

    /// The verdict with the severity of this delay.
    pub(super) fn graded(&self, verdict: Verdict) -> Verdict {
        match self.acts() {
            true => verdict,
            false => verdict.at(Severity::Low),
        }
    }
}
