//! Measurements of a run as flent tests.

use std::collections::BTreeMap;

use model::{
    net::{Direction, Layer},
    run::{Key, Run, Sample, StepKind, Tcp},
};

/// A measurement as a flent test.
pub(super) struct Test<'a> {
    pub(super) name: String,
    pub(super) key: &'a Key,
    pub(super) repeats: Vec<Repeat<'a>>,
}

/// A repeat: the simultaneous samples, one per direction.
pub(super) struct Repeat<'a> {
    /// Start of the time series, µs after the run's start.
    pub(super) zero_us: i64,
    pub(super) samples: Vec<&'a Sample>,
}

pub(super) fn tests(run: &Run) -> Vec<Test<'_>> {
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

/// Returns true if flent has a test for it and its time series was stored.
fn shown(sample: &Sample) -> bool {
    let received = |tcp: &Tcp| tcp.flows.iter().any(|f| f.received.is_some());
    match sample.key.step {
        StepKind::Tcp => sample.tcp.as_ref().is_some_and(received),
        StepKind::Idle => sample.probes.as_ref().is_some_and(|p| p.series.is_some()),
        _ => false,
    }
}

/// Name of the key; for a bidirectional load without the direction.
fn name(key: &Key) -> String {
    if !key.bidirectional {
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
        key.bidirectional,
        key.flows,
        !key.bidirectional && key.direction == Some(Direction::Up),
        key.cc.clone(),
    )
}
