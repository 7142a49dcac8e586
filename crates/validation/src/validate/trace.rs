//! Check of a trace of mahimahi's format as the rate of a line.

use super::{Check, Expect, Line, Work, arrived::Arrived, outcome::Outcome, theory::FRAME};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "mahimahi trace",
    source: "arithmetic: a packet for each line of the file",
    work: Work::Cells(include_str!("specs/trace.toml"), judge),
}];

/// The trace of the spec.
const TRACE: &str = include_str!("specs/mahimahi.trace");

/// The files that specs of checks name.
pub(super) fn file(name: &str) -> std::io::Result<String> {
    match name {
        "mahimahi.trace" => Ok(TRACE.to_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
}

/// Changes of the rate in a period: averages are over parts of 100 ms.
const CHANGES: f64 = 20.0;

/// The periods are judged from a time at which the rate has been constant for longer than a sample
/// of the receiver takes, s.
const FROM: f64 = 0.1;

/// A packet that waits at a change keeps its time, so each change is off by a packet at most.
fn judge(outcomes: &[Outcome<'_>]) -> Vec<Line> {
    let times: Vec<f64> = TRACE.lines().filter_map(|at| at.parse().ok()).collect();
    let period = times.last().map_or(f64::NAN, |ms| ms / 1e3);
    let packets = times.len() as f64;
    let mbps = |bytes: f64| bytes * 8.0 / period / 1e6;
    let one = |s: &Outcome<'_>| {
        let queue = s.factor("path.down.queue");
        let arrived = Arrived::datagrams(s, 0);
        (0..3).map(move |number| {
            let from = FROM + f64::from(number) * period;
            let bytes = || Some(arrived.at(from + period)? - arrived.at(from)?);
            Line::new(
                format!("{queue}, period {}", number + 1),
                Expect::near(mbps(packets * FRAME), mbps(CHANGES * FRAME)),
                bytes().map(mbps),
                "Mbit/s",
            )
        })
    };
    outcomes.iter().flat_map(one).collect()
}
