//! The traffic of a cell, measured and competing.

use std::time::Duration;

use super::{
    keys::MAX_FLOWS,
    quantity::show_duration,
    value::{Load, Ways},
    view::{Found, View},
};
use crate::{
    cell::{Traffic, TrafficKind},
    units::{Bytes, Rate},
};

/// Reads `[traffic]`.
pub(super) fn measured(view: &mut View<'_>) -> Option<Traffic> {
    let kind = view.get("traffic.kind")?;
    let mut traffic = group(view, "traffic", &kind)?;
    let probe: Found<Option<Duration>> = view.get("traffic.probe")?;
    if probe.value.is_none() && kind.value == Load::Idle {
        view.refuse(
            &probe,
            "without load and without probes there is nothing to measure",
        );
    }
    traffic.probe = probe.value;
    Some(traffic)
}

/// Reads all `[[cross]]` tables; those of kind `idle` are none.
pub(super) fn competing(view: &mut View<'_>, crosses: usize, length: Duration) -> Vec<Traffic> {
    (0..crosses)
        .filter_map(|i| competitor(view, &format!("cross.{i}"), length))
        .collect()
}

fn competitor(view: &mut View<'_>, table: &str, length: Duration) -> Option<Traffic> {
    let kind = view.get(&format!("{table}.kind"))?;
    let mut traffic = group(view, table, &kind)?;
    let start: Found<Duration> = view.get(&format!("{table}.start"))?;
    let stop: Found<Option<Duration>> = view.get(&format!("{table}.stop"))?;
    if stop.value.is_some_and(|stop| stop <= start.value) {
        let start = show_duration(start.value);
        view.refuse(&stop, format!("is not after the start at {start}"));
    }
    if start.value >= length {
        let length = show_duration(length);
        view.refuse(
            &start,
            format!("is not before the end of the load at {length}"),
        );
    }
    (traffic.start, traffic.stop) = (start.value, stop.value);
    (kind.value != Load::Idle).then_some(traffic)
}

/// What measured and competing traffic have in common.
fn group(view: &mut View<'_>, table: &str, load: &Found<Load>) -> Option<Traffic> {
    let key = |leaf: &str| format!("{table}.{leaf}");
    let kind = kind(view, table, load)?;
    let ways: Ways = view.plain(&key("direction"))?;
    let flows: u64 = view.plain(&key("flows"))?;
    let has_cc = matches!(load.value, Load::Tcp | Load::Short);
    Some(Traffic {
        kind,
        directions: ways.directions(),
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
            let rate: Option<Option<Rate>> = needed(view, table, "rate", load);
            let payload: u64 = view.plain(&format!("{table}.payload"))?;
            TrafficKind::Udp {
                rate: rate??,
                payload: u32::try_from(payload).ok()?,
            }
        }
        Load::Short => {
            let size: Option<Option<Bytes>> = needed(view, table, "size", load);
            TrafficKind::Short { size: size?? }
        }
    })
}

fn needed<T: for<'v> TryFrom<&'v super::value::Value>>(
    view: &mut View<'_>,
    table: &str,
    leaf: &str,
    load: &Found<Load>,
) -> Option<T> {
    let value = view.plain(&format!("{table}.{leaf}"));
    if value.is_none() {
        view.refuse(load, format!("this kind needs {table}.{leaf}"));
    }
    value
}

/// Refuses more flows than a cell can run.
pub(super) fn refuse_crowds(view: &mut View<'_>, traffic: &Traffic, cross: &[Traffic]) {
    let flows = |t: &Traffic| u64::from(t.flows) * t.directions.len() as u64;
    let total: u64 = std::iter::once(traffic).chain(cross).map(flows).sum();
    if total > MAX_FLOWS
        && let Some(found) = view.get::<u64>("traffic.flows")
    {
        let reason = format!("{total} flows in one cell, competitors included; the most is 4096");
        view.refuse(&found, reason);
    }
}
