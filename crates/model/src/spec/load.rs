//! Measured and competing traffic of a cell.

use std::time::Duration;

use super::{
    profile::{self, Profile},
    reason::Reason,
    value::{Load, Value},
    view::{Found, View},
};
use crate::{
    cell::{Batch, Traffic, TrafficKind},
    net::LoadDirection,
    units::{Bytes, Rate},
};

/// Reads `[traffic]`.
pub(super) fn measured(view: &mut View<'_>) -> Option<Traffic> {
    let kind = view.get("traffic.kind")?;
    let mut traffic = group(view, "traffic", &kind)?;
    traffic.probe = view.plain("traffic.probe")?;
    Some(traffic)
}

/// Reads all `[[cross]]` tables, each with its number; those of kind `idle` are skipped.
pub(super) fn competing(view: &mut View<'_>, crosses: usize) -> (Vec<usize>, Vec<Traffic>) {
    (0..crosses)
        .filter_map(|number| Some((number, competitor(view, &format!("cross.{number}"))?)))
        .unzip()
}

fn competitor(view: &mut View<'_>, table: &str) -> Option<Traffic> {
    if let Some(profile) = view.plain::<Option<Profile>>(&format!("{table}.profile"))? {
        return profiled(view, table, profile);
    }
    let kind = view.get(&format!("{table}.kind"))?;
    let mut traffic = group(view, table, &kind)?;
    traffic.start = view.plain(&format!("{table}.start"))?;
    traffic.stop = view.plain(&format!("{table}.stop"))?;
    (kind.value != Load::Idle).then_some(traffic)
}

/// A competitor by its profile, which sets all but its times and its congestion control.
fn profiled(view: &mut View<'_>, table: &str, profile: Profile) -> Option<Traffic> {
    let key = |leaf: &str| format!("{table}.{leaf}");
    let keys = profile::KEYS.iter().map(|leaf| key(leaf));
    for key in keys.collect::<Vec<_>>() {
        view.refuse_set(&key, Reason::SetByProfile);
    }
    let mut traffic = profile.traffic();
    if profile.is_tcp() {
        traffic.cc = view.plain(&key("cc"));
    }
    traffic.start = view.plain(&key("start"))?;
    traffic.stop = view.plain(&key("stop"))?;
    Some(traffic)
}

/// Common part of measured and competing traffic.
fn group(view: &mut View<'_>, table: &str, load: &Found<Load>) -> Option<Traffic> {
    let key = |leaf: &str| format!("{table}.{leaf}");
    let kind = kind(view, table, load)?;
    let directions: LoadDirection = view.plain(&key("direction"))?;
    let flows: u64 = view.plain(&key("flows"))?;
    let has_cc = matches!(load.value, Load::Tcp | Load::Short);
    Some(Traffic {
        kind,
        directions: directions.directions().to_vec(),
        flows: if kind == TrafficKind::Idle {
            0
        } else {
            u32::try_from(flows).ok()?
        },
        cc: if has_cc { view.plain(&key("cc")) } else { None },
        probe: None,
        start: Duration::ZERO,
        stop: None,
    })
}

fn kind(view: &mut View<'_>, table: &str, load: &Found<Load>) -> Option<TrafficKind> {
    Some(match load.value {
        Load::Tcp => TrafficKind::Tcp,
        Load::Idle => TrafficKind::Idle,
        Load::Udp => {
            let rate: Option<Rate> = needed(view, table, "rate", load);
            let payload: u64 = view.plain(&format!("{table}.payload"))?;
            TrafficKind::Udp {
                rate: rate.unwrap_or(Rate::from_bps(1)),
                payload: u32::try_from(payload).ok()?,
            }
        }
        Load::Short => TrafficKind::Short {
            size: needed(view, table, "size", load).unwrap_or(Bytes(1)),
            batch: batch(view, table)?,
        },
    })
}

/// The limit of the requests; `Some(None)` if there is none.
fn batch(view: &mut View<'_>, table: &str) -> Option<Option<Batch>> {
    let Some(requests) = view.plain::<Option<u64>>(&format!("{table}.requests"))? else {
        return Some(None);
    };
    Some(Some(Batch {
        requests: u32::try_from(requests).ok()?,
        every: view.plain(&format!("{table}.every"))?,
    }))
}

/// A key required by this kind of traffic.
fn needed<T>(view: &mut View<'_>, table: &str, leaf: &str, load: &Found<Load>) -> Option<T>
where
    Option<T>: for<'v> TryFrom<&'v Value>,
{
    let value = view
        .plain::<Option<T>>(&format!("{table}.{leaf}"))
        .flatten();
    if value.is_none() {
        view.refuse(load, Reason::Needs(format!("{table}.{leaf}")));
    }
    value
}
