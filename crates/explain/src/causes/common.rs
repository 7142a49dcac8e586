//! Conditions and values that several causes share.

use analysis::view::{DirectionView, Load, View};
use model::{findings::Value, net::Layer, text, text::Text};

use crate::{
    cause::{FULL, Need},
    scope::Scope,
    verdict::{Verdict, ruled_out, undecided},
};

/// Share of the underlay's capacity below which a tunnel itself limits.
const TUNNEL_SHARE: f64 = 0.7;
/// Minimum gain of bbr where TCP is far from filling the path.
const GAIN: f64 = 1.2;

/// Returns true if TCP uses the full capacity of the path, wherever that is known.
pub(super) fn filled(view: &View) -> bool {
    let share = |dir: &DirectionView| dir.utilization(&dir.default_load()?);
    let shares: Vec<f64> = view.directions().iter().filter_map(share).collect();
    !shares.is_empty() && shares.iter().all(|share| *share >= FULL)
}

/// The verdict where the capacity of a direction is unknown.
pub(super) fn no_capacity(dir: &DirectionView) -> Verdict {
    if dir.sweep().is_none() {
        undecided(Need::Sweep.missing(), Need::Sweep.settle())
    } else if dir.sender().is_both_ends() {
        undecided(
            text!("both ends are one host: its processors are the path"),
            text!("the same plan between two hosts"),
        )
    } else {
        undecided(
            text!("processors limited TCP, and UDP was not sent faster than the path carries"),
            text!(
                "the same plan while both hosts have nothing else to do, or between faster hosts"
            ),
        )
    }
}

/// The share of the capacity that a load uses, and the capacity as payload, bit/s; the verdict
/// where the load fills the path, or where the capacity is unknown.
pub(super) fn below_capacity(dir: &DirectionView, load: &Load) -> Result<(f64, f64), Verdict> {
    let (Some(filled), Some(carries)) = (dir.utilization(load), dir.payload_capacity_bps(load))
    else {
        return Err(no_capacity(dir));
    };
    if filled >= FULL {
        return Err(ruled_out(text!(
            "TCP reaches {filled} of the path's capacity",
            filled = percent(filled)
        )));
    }
    Ok((filled, carries))
}

/// Gain of bbr below which the losses that it does not interpret are not the reason, of a load that
/// fills this share of the capacity: half of what is missing, at most [`GAIN`].
pub(super) fn least_gain(filled: f64) -> f64 {
    GAIN.min(1.0 + 0.5 * (1.0 / filled - 1.0))
}

/// Returns false if bbr cannot help the sender of a place: it uses it already, or gained too little
/// where both were measured.
pub(super) fn bbr_may_help(scope: &Scope) -> bool {
    let Some(dir) = scope.direction_view() else {
        return true;
    };
    let Some(load) = dir.default_load() else {
        return true;
    };
    let gain = dir.load_with("bbr").and_then(|bbr| dir.gain(&bbr, &load));
    let little = gain.zip(dir.utilization(&load));
    load.cc != "bbr" && !little.is_some_and(|(gain, filled)| gain < least_gain(filled))
}

/// Returns true if a tunnel carries about as much as the underlay: then nothing on the hosts limits
/// it. Always true for the underlay.
pub(super) fn carries_the_underlay(view: &View) -> bool {
    view.layer == Layer::Underlay
        || view.directions().iter().all(|dir| {
            let outside = dir.underlay().and_then(|b| b.sweep());
            let (inside, outside) = (dir.sweep(), outside);
            inside.zip(outside).is_some_and(|(inside, outside)| {
                inside.capacity_bps >= TUNNEL_SHARE * outside.capacity_bps
            })
        })
}

/// A share in percent, for sentences.
pub(super) fn percent(share: f64) -> Value {
    Value::Share(share)
}

/// A rate in Mbit/s, for sentences.
pub(super) fn rate(bps: f64) -> Value {
    Value::Bps(bps)
}

/// A time in ms, for sentences.
pub(super) fn time(us: f64) -> Value {
    Value::Us(us)
}

/// A number of bytes, for sentences.
pub(super) fn bytes(bytes: f64) -> Value {
    Value::Bytes(bytes)
}

/// A number without a fraction, for sentences.
pub(super) fn whole(number: f64) -> Value {
    Value::Count(number.round())
}

/// A value formatted by `text`, or a placeholder if it is unknown.
pub(super) fn known_or(value: Option<f64>, text: fn(f64) -> Value, unknown: Text) -> Value {
    value.map_or(Value::Text(unknown), text)
}
