//! One load of a run as flent's data file (`.flent.gz`, version 4 of its format), so that flent's
//! plots and tables can be had of it.
//!
//! A file of flent is one test, so it holds one thing that was run: all its repeats, one after the other
//! on one time axis, and of each only the time that counts. The means that flent then states are
//! those of the run.

use std::{collections::BTreeMap, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use model::{
    cell::{Direction, IpVersion},
    row::Layer,
    run::{Key, Probes, Run, Sample, StepKind, Tcp},
};
use serde_json::{Map, Value, json};

use crate::time;

/// Version of flent's format.
const VERSION: u32 = 4;
/// flent's own interval of points, µs.
const STEP_US: f64 = 200_000.0;
/// Interval of points where the probes are all there is, µs.
const IDLE_STEP_US: f64 = 100_000.0;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum FlentError {
    /// No TCP load and no probes with their times.
    #[error(
        "the run has no TCP load and no idle latency with its course over time, and flent shows nothing else"
    )]
    Nothing,
    /// Nothing of that name.
    #[error("the run has no step {name:?}; it has: {}", steps.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        steps: Vec<String>,
    },
}

/// The file, compressed: of the step with this name (see [`steps`]), or of the first one.
///
/// # Errors
/// There is nothing of that name, or nothing that flent could show.
pub fn flent(run: &Run, step: Option<&str>) -> Result<Vec<u8>, FlentError> {
    let tests = tests(run);
    let test = match step {
        None => tests.first().ok_or(FlentError::Nothing)?,
        Some(name) => {
            tests
                .iter()
                .find(|test| test.name == name)
                .ok_or_else(|| FlentError::Unknown {
                    name: name.to_owned(),
                    steps: steps(run),
                })?
        }
    };
    Ok(gzip(&document(run, test).to_string()))
}

/// What of a run can be a file, each by its name in the run's tables. Loads in both directions at once
/// are one. What is judged first is first: the tunnel, few flows, down.
pub fn steps(run: &Run) -> Vec<String> {
    tests(run).into_iter().map(|test| test.name).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    // Writing to memory cannot fail; the frame's time stamp is left 0, so that the same run gives the
    // same file.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

/// Something that was run, as a test of flent.
struct Test<'a> {
    name: String,
    key: &'a Key,
    repeats: Vec<Repeat<'a>>,
}

/// One repeat: the samples of one time, one for each direction.
struct Repeat<'a> {
    /// Zero of the series, µs after the run's start.
    zero_us: i64,
    samples: Vec<&'a Sample>,
}

fn tests(run: &Run) -> Vec<Test<'_>> {
    let mut by_name: BTreeMap<(Order, String), Test<'_>> = BTreeMap::new();
    for sample in run.samples.iter().filter(|s| s.valid && shown(s)) {
        let key = &sample.key;
        let name = name(key);
        let test = by_name
            .entry((order(key), name.clone()))
            .or_insert_with(|| Test {
                name,
                key,
                repeats: Vec::new(),
            });
        let zero_us = sample.load_at_us.unwrap_or(sample.at_us) as i64;
        match test.repeats.iter_mut().find(|r| r.zero_us == zero_us) {
            Some(repeat) => repeat.samples.push(sample),
            None => test.repeats.push(Repeat {
                zero_us,
                samples: vec![sample],
            }),
        }
    }
    let mut tests: Vec<Test<'_>> = by_name.into_values().collect();
    for test in &mut tests {
        test.repeats.sort_by_key(|r| r.zero_us);
    }
    tests
}

/// Whether flent has a test for it, and its course over time was kept.
fn shown(sample: &Sample) -> bool {
    let received = |tcp: &Tcp| tcp.flows.iter().any(|f| f.received.is_some());
    match sample.key.step {
        StepKind::Tcp => sample.tcp.as_ref().is_some_and(received),
        StepKind::Idle => sample.probes.as_ref().is_some_and(|p| p.series.is_some()),
        _ => false,
    }
}

/// The key's name; of a load in both directions at once without one of them.
fn name(key: &Key) -> String {
    if !key.opposed {
        return key.to_string();
    }
    let mut both = key.clone();
    both.direction = None;
    both.to_string()
}

type Order = (bool, bool, bool, Option<u32>, bool, Option<String>);

fn order(key: &Key) -> Order {
    (
        key.step != StepKind::Tcp,
        key.layer != Layer::Tunnel,
        key.opposed,
        key.flows,
        !key.opposed && key.direction == Some(Direction::Up),
        key.cc.clone(),
    )
}

/// A series of flent's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Goodput of one flow, by its place.
    Flow(Direction, usize),
    /// Goodput of all flows.
    Sum(Direction),
    /// Goodput of a flow in the mean.
    Mean(Direction),
    /// Round trips of the probes.
    Ping,
}

/// A piece of the time axis: of a repeat, from and to in µs after its zero.
#[derive(Clone, Copy)]
struct Slot<'a> {
    repeat: &'a Repeat<'a>,
    window_us: [i64; 2],
}

impl Repeat<'_> {
    fn sample(&self, direction: Direction) -> Option<&Sample> {
        let is = |s: &&&Sample| s.key.direction == Some(direction);
        self.samples.iter().find(is).copied()
    }

    /// The probes beside the load; both directions had the same.
    fn probes(&self) -> Option<&Probes> {
        self.samples.iter().find_map(|s| s.probes.as_ref())
    }

    /// The probes that count: sending times in µs after the repeat's zero, and round trips in ms.
    fn pings(&self) -> Vec<(i64, Option<f64>)> {
        let Some((probes, series)) = self.probes().and_then(|p| Some((p, p.series.as_ref()?)))
        else {
            return Vec::new();
        };
        let tcp = self.samples.iter().find_map(|s| s.tcp.as_ref());
        let from = tcp.map_or(0, |tcp| tcp.window_us[0]);
        let rtts = series.column("rtt_ns").unwrap_or_default();
        series
            .at_us
            .iter()
            .zip(rtts)
            .filter(|(at, _)| **at >= from)
            .take(probes.sent as usize)
            .map(|(at, rtt)| (*at, rtt.map(|ns| ns as f64 / 1e6)))
            .collect()
    }

    /// The time that counts, in pieces as long as flent's, or nearly.
    fn slots(&self) -> Vec<Slot<'_>> {
        let tcp = self.samples.iter().find_map(|s| s.tcp.as_ref());
        let (window, step_us) = match tcp {
            Some(tcp) => (tcp.window_us, STEP_US),
            None => {
                let last = self.pings().last().map_or(0, |(at, _)| at + 1);
                ([0, last], IDLE_STEP_US)
            }
        };
        let span = (window[1] - window[0]) as f64;
        let n = (span / step_us).round().max(1.0);
        let at = |k: f64| window[0] + (span * k / n).round() as i64;
        let ends = (1..=n as u32).map(f64::from);
        ends.map(|k| Slot {
            repeat: self,
            window_us: [at(k - 1.0), at(k)],
        })
        .collect()
    }
}

impl Slot<'_> {
    fn value(&self, course: Course) -> Option<f64> {
        let span_us = (self.window_us[1] - self.window_us[0]) as f64;
        let flows = |direction| -> Option<Vec<f64>> {
            let tcp = self.repeat.sample(direction)?.tcp.as_ref()?;
            let bytes = tcp.flows.iter().map(|flow| {
                let received = flow.received.as_ref()?;
                // Without the kernel's word: what the program had read.
                let names = ["bytes_received", "bytes_read"];
                let mut grown = names.iter().map(|n| received.increase(n, self.window_us));
                grown.find_map(|bytes| bytes)
            });
            bytes.map(|b| Some(b? * 8.0 / span_us)).collect()
        };
        match course {
            Course::Flow(direction, place) => flows(direction)?.get(place).copied(),
            Course::Sum(direction) => Some(flows(direction)?.iter().sum()),
            Course::Mean(direction) => stats::mean(&flows(direction)?),
            Course::Ping => {
                let within =
                    |(at, _): &(i64, _)| (self.window_us[0]..self.window_us[1]).contains(at);
                let pings = self.repeat.pings().into_iter().filter(within);
                stats::mean(&pings.filter_map(|(_, ms)| ms).collect::<Vec<_>>())
            }
        }
    }
}

fn document(run: &Run, test: &Test<'_>) -> Value {
    let zero_us = test.repeats.first().map_or(0, |r| r.zero_us);
    let mut axis: Vec<(f64, Option<Slot<'_>>)> = Vec::new();
    for repeat in &test.repeats {
        let slots = repeat.slots();
        let at = |us: i64| (repeat.zero_us - zero_us + us) as f64 / 1e6;
        if let Some(first) = slots.first().filter(|_| !axis.is_empty()) {
            // A point without values, so that no line goes from one repeat to the next.
            axis.push((at(first.window_us[0]), None));
        }
        axis.extend(slots.into_iter().map(|s| (at(s.window_us[1]), Some(s))));
    }
    let courses = courses(test);
    let results: Map<String, Value> = courses
        .iter()
        .map(|(name, course)| {
            let points = axis
                .iter()
                .map(|(_, slot)| slot.and_then(|s| s.value(*course)));
            (name.clone(), points.collect())
        })
        .collect();
    let t0_us = run.started_us.saturating_add_signed(zero_us);
    let raw: Map<String, Value> = courses
        .iter()
        .map(|(name, course)| (name.clone(), raw(test, *course, &axis, t0_us, zero_us)))
        .collect();
    json!({
        "version": VERSION,
        "metadata": metadata(run, test, t0_us, &axis, &courses),
        "x_values": axis.iter().map(|(x, _)| *x).collect::<Vec<f64>>(),
        "results": results,
        "raw_values": raw,
    })
}

/// Each value with its time, s since 1970.
fn raw(
    test: &Test<'_>,
    course: Course,
    axis: &[(f64, Option<Slot<'_>>)],
    t0_us: u64,
    zero_us: i64,
) -> Value {
    let t0 = t0_us as f64 / 1e6;
    let point = |(x, value): (f64, f64)| json!({"t": t0 + x, "val": value});
    if course == Course::Ping {
        let pings = test.repeats.iter().flat_map(|repeat| {
            let x = move |at: i64| (repeat.zero_us - zero_us + at) as f64 / 1e6;
            let pings = repeat.pings().into_iter();
            pings.filter_map(move |(at, ms)| Some((x(at), ms?)))
        });
        pings.map(point).collect()
    } else {
        let values = axis
            .iter()
            .filter_map(|(x, s)| Some((*x, s.as_ref()?.value(course)?)));
        values.map(point).collect()
    }
}

/// flent's name of the test: one of those that come with it.
fn test_name(key: &Key) -> &'static str {
    match (key.step, key.opposed, key.direction) {
        (StepKind::Idle, _, _) => "ping",
        (_, true, _) => "rrul_be_nflows",
        (_, false, Some(Direction::Up)) if key.flows == Some(1) => "tcp_upload",
        (_, false, Some(Direction::Up)) => "tcp_nup",
        (_, false, _) if key.flows == Some(1) => "tcp_download",
        (_, false, _) => "tcp_ndown",
    }
}

/// The series by the names that the test gives them.
fn courses(test: &Test<'_>) -> Vec<(String, Course)> {
    let key = test.key;
    let ping = match test_name(key) {
        "ping" => "Ping (ms) UDP",
        "rrul_be_nflows" => "Ping (ms) UDP BE",
        // The only one that these tests have, though our probes are UDP.
        _ => "Ping (ms) ICMP",
    };
    let mut courses = vec![(ping.to_owned(), Course::Ping)];
    for (direction, word) in [(Direction::Down, "download"), (Direction::Up, "upload")] {
        let flows = test
            .repeats
            .iter()
            .filter_map(|r| Some(r.sample(direction)?.tcp.as_ref()?.flows.len()))
            .max();
        let Some(flows) = flows else { continue };
        if !key.opposed && key.flows == Some(1) {
            courses.push((format!("TCP {word}"), Course::Sum(direction)));
            continue;
        }
        let mark = if key.opposed { " BE" } else { "" };
        courses.extend((0..flows).map(|place| {
            let name = format!("TCP {word}{mark}::{}", place + 1);
            (name, Course::Flow(direction, place))
        }));
        courses.push((format!("TCP {word} sum"), Course::Sum(direction)));
        courses.push((format!("TCP {word} avg"), Course::Mean(direction)));
    }
    courses
}

fn metadata(
    run: &Run,
    test: &Test<'_>,
    t0_us: u64,
    axis: &[(f64, Option<Slot<'_>>)],
    courses: &[(String, Course)],
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
    let series: Map<String, Value> = courses
        .iter()
        .map(|(name, course)| {
            let units = if *course == Course::Ping {
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
