//! JSON document of a flent data file.

use model::{
    net::{Direction, IpVersion},
    run::{Key, Run, StepKind},
};
use serde_json::{Map, Value, json};

use super::{
    series::{IDLE_STEP_US, STEP_US, SeriesKind, Slot},
    test::Test,
};
use crate::time;

/// Version of flent's format.
const VERSION: u32 = 4;

pub(super) fn document(run: &Run, test: &Test<'_>) -> Value {
    let zero_us = test.repeats.first().map_or(0, |r| r.zero_us);
    let mut axis: Vec<(f64, Option<Slot<'_>>)> = Vec::new();
    for repeat in &test.repeats {
        let slots = repeat.slots();
        let at = |us: i64| (repeat.zero_us - zero_us + us) as f64 / 1e6;
        if let Some(first) = slots.first().filter(|_| !axis.is_empty()) {
            // A point without values, so that plots have a gap between repeats.
            axis.push((at(first.window_us[0]), None));
        }
        axis.extend(slots.into_iter().map(|s| (at(s.window_us[1]), Some(s))));
    }
    let all_series = all_series(test);
    let results: Map<String, Value> = all_series
        .iter()
        .map(|(name, series)| {
            let points = axis
                .iter()
                .map(|(_, slot)| slot.and_then(|s| s.value(*series)));
            (name.clone(), points.collect())
        })
        .collect();
    let t0_us = run.started_us.saturating_add_signed(zero_us);
    let raw: Map<String, Value> = all_series
        .iter()
        .map(|(name, series)| (name.clone(), raw(test, *series, &axis, t0_us, zero_us)))
        .collect();
    json!({
        "version": VERSION,
        "metadata": metadata(run, test, t0_us, &axis, &all_series),
        "x_values": axis.iter().map(|(x, _)| *x).collect::<Vec<f64>>(),
        "results": results,
        "raw_values": raw,
    })
}

/// Each value with its time, s since 1970.
fn raw(
    test: &Test<'_>,
    series: SeriesKind,
    axis: &[(f64, Option<Slot<'_>>)],
    t0_us: u64,
    zero_us: i64,
) -> Value {
    let t0 = t0_us as f64 / 1e6;
    let point = |(x, value): (f64, f64)| json!({"t": t0 + x, "val": value});
    if series == SeriesKind::Ping {
        let pings = test.repeats.iter().flat_map(|repeat| {
            let x = move |at: i64| (repeat.zero_us - zero_us + at) as f64 / 1e6;
            let pings = repeat.pings().into_iter();
            pings.filter_map(move |(at, ms)| Some((x(at), ms?)))
        });
        pings.map(point).collect()
    } else {
        let values = axis
            .iter()
            .filter_map(|(x, s)| Some((*x, s.as_ref()?.value(series)?)));
        values.map(point).collect()
    }
}

/// Name of the corresponding test of flent.
fn test_name(key: &Key) -> &'static str {
    match (key.step, key.bidirectional, key.direction) {
        (StepKind::Idle, _, _) => "ping",
        (_, true, _) => "rrul_be_nflows",
        (_, false, Some(Direction::Up)) if key.flows == Some(1) => "tcp_upload",
        (_, false, Some(Direction::Up)) => "tcp_nup",
        (_, false, _) if key.flows == Some(1) => "tcp_download",
        (_, false, _) => "tcp_ndown",
    }
}

/// The series by their names in the test.
fn all_series(test: &Test<'_>) -> Vec<(String, SeriesKind)> {
    let key = test.key;
    let ping = match test_name(key) {
        "ping" => "Ping (ms) UDP",
        "rrul_be_nflows" => "Ping (ms) UDP BE",
        // The only ping series of these tests, although our probes are UDP.
        _ => "Ping (ms) ICMP",
    };
    let mut all_series = vec![(ping.to_owned(), SeriesKind::Ping)];
    for (direction, word) in [(Direction::Down, "download"), (Direction::Up, "upload")] {
        let flows = test
            .repeats
            .iter()
            .filter_map(|r| Some(r.sample(direction)?.tcp.as_ref()?.flows.len()))
            .max();
        let Some(flows) = flows else { continue };
        if !key.bidirectional && key.flows == Some(1) {
            all_series.push((format!("TCP {word}"), SeriesKind::Sum(direction)));
            continue;
        }
        let mark = if key.bidirectional { " BE" } else { "" };
        all_series.extend((0..flows).map(|place| {
            let name = format!("TCP {word}{mark}::{}", place + 1);
            (name, SeriesKind::Flow(direction, place))
        }));
        all_series.push((format!("TCP {word} sum"), SeriesKind::Sum(direction)));
        all_series.push((format!("TCP {word} avg"), SeriesKind::Mean(direction)));
    }
    all_series
}

fn metadata(
    run: &Run,
    test: &Test<'_>,
    t0_us: u64,
    axis: &[(f64, Option<Slot<'_>>)],
    all_series: &[(String, SeriesKind)],
) -> Value {
    let key = test.key;
    let address = run
        .layers
        .iter()
        .find(|l| l.layer == key.layer && l.family == key.family);
    let (near, far) = address.map_or_else(
        || (None, "unknown".to_owned()),
        |a| (Some(a.near.to_string()), a.far.to_string()),
    );
    let streams = key.flows.unwrap_or(1).to_string();
    let parameters = match test_name(key) {
        "rrul_be_nflows" => json!({"upload_streams": streams, "download_streams": streams}),
        "tcp_nup" => json!({"upload_streams": streams}),
        "tcp_ndown" => json!({"download_streams": streams}),
        _ => json!({}),
    };
    let series: Map<String, Value> = all_series
        .iter()
        .map(|(name, series)| {
            let units = if *series == SeriesKind::Ping {
                "ms"
            } else {
                "Mbits/s"
            };
            (name.clone(), json!({"UNITS": units}))
        })
        .collect();
    let long = axis.last().map_or(0.0, |(x, _)| *x);
    let step_us = if key.step == StepKind::Idle {
        IDLE_STEP_US
    } else {
        STEP_US
    };
    json!({
        "NAME": test_name(key),
        "TITLE": format!("{} of run {}", test.name, run.id),
        "NOTE": "Measured by pathtwin. All repeats, one after the other; of each the time that counts. \
                 The round trips are those of UDP probes.",
        "TIME": time::iso(t0_us),
        "T0": time::iso(t0_us),
        "HOST": far,
        "HOSTS": [far],
        "LOCAL_HOST": near,
        "LENGTH": long.ceil() as u64,
        "TOTAL_LENGTH": long.ceil() as u64,
        "STEP_SIZE": step_us / 1e6,
        "IP_VERSION": match key.family { IpVersion::V4 => 4, IpVersion::V6 => 6 },
        "TEST_PARAMETERS": parameters,
        "SERIES_META": series,
        "PATHTWIN_RUN": run.id,
        "PATHTWIN_STEP": test.name,
    })
}
