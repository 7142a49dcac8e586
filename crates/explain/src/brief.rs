//! Loads that were too short to rule anything out.

use analysis::view::{DirectionView, Load};
use model::{text, text::Value};

use crate::{
    cause::{Cause, FULL, Need},
    verdict::{Verdict, undecided},
};

/// Round trips after slow start that a congestion control needs to show its limit: CUBIC and Reno
/// react at most once per round trip.
const ROUND_TRIPS: f64 = 20.0;

/// Returns true if a load was too short.
pub(crate) fn is(dir: &DirectionView, load: &Load) -> bool {
    dir.round_trips(load).is_some_and(|n| n < ROUND_TRIPS)
}

/// The verdict on a measurement that was too short.
pub(crate) fn verdict(dir: &DirectionView, load: &Load) -> Verdict {
    let trips = dir.round_trips(load).unwrap_or(0.0);
    undecided(
        text!(
            "too short to tell: TCP ran for {trips} round trips after slow start",
            trips = Value::Count(trips.round())
        ),
        text!(
            "a plan whose loads last at least {trips} round trips",
            trips = Value::Count(2.0 * ROUND_TRIPS)
        ),
    )
}

/// Verdict of a rule about a direction whose load was too short: it cannot rule out causes that
/// appear in TCP over time, unless TCP already fills the path.
pub(crate) fn corrected(cause: &Cause, dir: &DirectionView, verdict: Verdict) -> Verdict {
    let over_time = [Need::TcpInfo, Need::LoadedProbes, Need::Tcp];
    let judges_tcp = cause.needs.iter().any(|need| over_time.contains(need));
    if !judges_tcp || !matches!(verdict, Verdict::RuledOut { .. }) {
        return verdict;
    }
    match dir.default_load() {
        Some(load)
            if is(dir, &load) && dir.utilization(&load).is_none_or(|filled| filled < FULL) =>
        {
            self::verdict(dir, &load)
        }
        _ => verdict,
    }
}
