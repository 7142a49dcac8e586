//! Accuracy of the segment named by `explain`: drawn paths of two lines in series, of which at most
//! one has a fault, measured with a third point between them.

use std::{fmt::Write as _, time::Duration};

use model::{
    cause::CauseCode,
    cell::{self, Buffer, Cell, Local, TunnelStage},
    findings::Findings,
    path::{Limit, Line, Loss, Nanos, Parameter, Path, PathError, Trial, Underlay},
    units::{Rate, Seed, Share},
};
use stats::{Random, wilson};

use super::paths::{given, share};

/// Fault of a drawn path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The local line is the slower one, with a deep queue.
    LocalQueue,
    /// The line behind the third point is the slower one, with a deep queue.
    QueueBeyond,
    /// The local line loses packets.
    LocalLoss,
    /// The line behind the third point loses packets.
    LossBeyond,
}

impl Fault {
    /// All, in turn. A third of the paths has no fault.
    const TURN: [Self; 6] = [
        Self::LocalQueue,
        Self::QueueBeyond,
        Self::None,
        Self::LocalLoss,
        Self::LossBeyond,
        Self::None,
    ];

    /// The finding that is right.
    fn code(self) -> Option<CauseCode> {
        match self {
            Self::None => None,
            Self::LocalQueue | Self::LocalLoss => Some(CauseCode::LOCAL_SEGMENT),
            Self::QueueBeyond | Self::LossBeyond => Some(CauseCode::BEYOND),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LocalQueue => "local queue",
            Self::QueueBeyond => "queue beyond",
            Self::LocalLoss => "local loss",
            Self::LossBeyond => "loss beyond",
        }
    }
}

/// A drawn path.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its fault.
    pub fault: Fault,
    /// The path.
    pub cell: Cell,
}

/// Draws paths: rates of 8 to 60 Mbit/s, the upload up to four times slower, round trips of 8 to 80
/// ms, the other line 1.7 to 5 times faster. Queues at fault hold 80 to 300 ms, others 12 ms;
/// losses are 0.8 to 3 %.
///
/// # Errors
/// A drawn path is impossible.
pub fn draw(paths: usize, seed: Seed) -> Result<Vec<Drawn>, PathError> {
    let mut random = Random::new(seed.0 ^ 0x7468_6972);
    (0..paths).map(|number| one(number, &mut random)).collect()
}

fn one(number: usize, random: &mut Random) -> Result<Drawn, PathError> {
    let fault = Fault::TURN[number % Fault::TURN.len()];
    let mut between = |low: f64, high: f64| low * (high / low).powf(random.unit());
    let (slow, times, rtt) = (between(8e6, 60e6), between(1.7, 5.0), between(8.0, 80.0));
    let (queue_ms, loss, uplink) = (between(80.0, 300.0), between(0.8, 3.0), between(1.0, 4.0));
    let local_slower = match fault {
        Fault::LocalQueue => true,
        Fault::QueueBeyond => false,
        _ => number % 4 < 2,
    };
    let (local, path) = match local_slower {
        true => (slow, slow * times),
        false => (slow * times, slow),
    };
    let (mut queues, mut losses) = ([12.0, 12.0], [0.0, 0.0]);
    match fault {
        Fault::None => {}
        Fault::LocalQueue => queues[0] = queue_ms,
        Fault::QueueBeyond => queues[1] = queue_ms,
        Fault::LocalLoss => losses[0] = loss,
        Fault::LossBeyond => losses[1] = loss,
    }
    // In tenths of a millisecond.
    let rtt_ns = (rtt * 10.0).round_ties_even() as u64 * 100_000;
    let stage = |rate_bps, number: usize| Stage::new(rate_bps, queues[number], losses[number]);
    let mut drawn = Path::named(&format!("segments-{number}"));
    drawn.underlay = Underlay {
        down: stage(path, 1).line(rtt_ns / 2),
        up: stage(path / uplink, 1).line(rtt_ns - rtt_ns / 2),
        ..Underlay::default()
    };
    let mut cell = drawn.cell(&Trial {
        seed: Seed(number as u64 + 1),
        ..Trial::default()
    })?;
    cell.path.local = Some(Local {
        down: stage(local, 0).in_front(),
        up: stage(local / uplink, 0).in_front(),
        shape_down: None,
        shape_up: None,
    });
    Ok(Drawn { fault, cell })
}

/// A line in a direction, in the precision of a spec: kbit/s, whole milliseconds and hundredths of
/// a percent.
struct Stage {
    rate: Rate,
    buffer: Buffer,
    loss: Share,
}

impl Stage {
    fn new(rate_bps: f64, queue_ms: f64, loss_percent: f64) -> Self {
        let rate = Rate::from_bps((rate_bps / 1e3).round_ties_even() as u64 * 1000);
        let queue = Duration::from_millis(queue_ms.round_ties_even() as u64);
        Self {
            rate,
            buffer: Buffer::Bytes(rate.bytes_in(queue)),
            loss: share((loss_percent * 1e2).round_ties_even() / 1e2),
        }
    }

    /// The line behind the third point.
    fn line(&self, delay_ns: u64) -> Line {
        Line {
            rate_bps: given(Limit::At(self.rate)),
            buffer: given(self.buffer),
            delay_ns: given(Nanos(delay_ns)),
            loss: Some(Loss::Random {
                share: Parameter::given(self.loss),
            }),
            ..Line::default()
        }
    }

    /// The line in front of the near end.
    fn in_front(&self) -> TunnelStage {
        TunnelStage {
            rate: Some(self.rate),
            buffer: self.buffer,
            loss: match self.loss.is_zero() {
                true => cell::Loss::None,
                false => cell::Loss::Random(self.loss),
            },
        }
    }
}

/// Returns true if the findings name the segment at fault and no other.
pub fn is_right(fault: Fault, findings: &Findings) -> bool {
    named(findings) == fault.code().into_iter().collect::<Vec<_>>()
}

/// The segments that the findings name, each once.
fn named(findings: &Findings) -> Vec<CauseCode> {
    let segments = [CauseCode::LOCAL_SEGMENT, CauseCode::BEYOND];
    let found = |code: &CauseCode| findings.findings.iter().any(|f| f.code == *code);
    segments.into_iter().filter(found).collect()
}

/// Returns a table of correct findings by fault, and each wrong one.
pub fn markdown(judged: &[(Fault, String, Findings)]) -> String {
    let mut out = String::from("| fault | paths | right | 95 % interval |\n|---|--:|--:|---|\n");
    let mut row = |name: &str, of: &dyn Fn(Fault) -> bool| {
        let all: Vec<_> = judged.iter().filter(|(fault, ..)| of(*fault)).collect();
        let right = all
            .iter()
            .filter(|(f, _, found)| is_right(*f, found))
            .count();
        let share = |part: f64| format!("{:.1} %", 100.0 * part);
        let interval = wilson(right as u64, all.len() as u64);
        let interval = interval.map_or_else(String::new, |i| {
            format!("{} to {}", share(i.low), share(i.high))
        });
        let _ = writeln!(out, "| {name} | {} | {right} | {interval} |", all.len());
    };
    for fault in [
        Fault::LocalQueue,
        Fault::QueueBeyond,
        Fault::LocalLoss,
        Fault::LossBeyond,
    ] {
        row(fault.name(), &|f| f == fault);
    }
    row("any", &|f| f != Fault::None);
    row("none", &|f| f == Fault::None);
    for (fault, name, findings) in judged.iter().filter(|(f, _, found)| !is_right(*f, found)) {
        let _ = writeln!(out, "\n{name}, fault: {}", fault.name());
        let named = named(findings);
        for found in findings.findings.iter().filter(|f| named.contains(&f.code)) {
            let _ = writeln!(out, "- {}: {}", found.code, found.text);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use model::{cell::Loss, spec::Spec};

    #[test]
    fn a_drawn_path_has_its_stated_fault() {
        for Drawn { fault, cell } in draw(60, Seed(3)).unwrap() {
            assert!(cell.impossible().is_empty());
            let (local, path) = (cell.path.local.unwrap(), &cell.path);
            let slower = local.down.rate.unwrap() < path.down.rate.unwrap();
            let lossy = [local.up.loss, path.up.loss].map(|loss| loss != Loss::None);
            match fault {
                Fault::None => assert_eq!(lossy, [false, false]),
                Fault::LocalQueue => assert!(slower && lossy == [false, false]),
                Fault::QueueBeyond => assert!(!slower && lossy == [false, false]),
                Fault::LocalLoss => assert_eq!(lossy, [true, false]),
                Fault::LossBeyond => assert_eq!(lossy, [false, true]),
            }
        }
    }

    #[test]
    fn a_drawn_path_is_one_that_a_spec_can_have() {
        for Drawn { cell, .. } in draw(12, Seed(5)).unwrap() {
            let text = model::spec::write(&cell);
            let read = Spec::parse(&cell.name, &text).unwrap();
            assert_eq!(read.first_cell().unwrap().0, cell);
        }
    }
}
