//! Accuracy of twins: fitted to cubic and UDP alone on drawn lab paths, then compared with the lab
//! on the effect of other loads and remedies there. Paths with a feature that a twin cannot have
//! are measured with bbr, too, so that each twin can be tested.

mod beyond;
mod draw;
mod feature;
mod order;
mod outside;
mod profile;
mod stated;
mod table;

use analysis::{
    figures::{added_us, value},
    view::View,
};
use model::{
    cell::{Buffer, Cell, Queue},
    net::{Direction, Layer, LoadDirection, Side},
    path::{self, Limit, Path, PathError},
    plan::{Measurement, Plan, Repeats, Step},
    remedy::{Action, Bottleneck, CcScope, Discipline, Flow, Remedy, shaped_bps},
    run::{FigureKind, Run, StepKind},
    text::Text,
    twin::TwinVerdict,
    units::{Bytes, Rate},
};
use serde::{Deserialize, Serialize};

pub use beyond::beyond;
pub use draw::{Drawn, draw};
pub use feature::Feature;
pub use outside::markdown_beyond;
pub use profile::profiles;
pub use stated::{Stated, stated};
pub use table::markdown;

/// Congestion controls measured on a path that a twin can be equal to.
const CUBIC: [&str; 1] = ["cubic"];
/// The same where the twin is to be tested: one of them is left out in turn.
const TWO: [&str; 2] = ["cubic", "bbr"];

/// Returns the plan measured on a path: cubic alone, and UDP; bbr, too, beyond the model.
pub fn plan(drawn: &Drawn) -> Plan {
    let ccs: &[&str] = match drawn.feature {
        None => &CUBIC,
        Some(_) => &TWO,
    };
    let sweep = |direction| Measurement::UdpSweep {
        direction,
        from_bps: 500_000,
        to_bps: 2_000_000_000,
    };
    let steps = vec![
        step(Measurement::Pmtu, 3.0),
        step(Measurement::Idle, 2.0),
        step(sweep(Direction::Down), 3.0),
        step(sweep(Direction::Up), 3.0),
        Step {
            repeat: true,
            ..tcp(&drawn.cell, LoadDirection::Down, 1, ccs)
        },
        Step {
            repeat: true,
            ..tcp(&drawn.cell, LoadDirection::Up, 1, ccs)
        },
    ];
    Plan {
        repeats: times(3),
        ..Plan::of("twins", steps)
    }
}

fn step(measurement: Measurement, duration_s: f64) -> Step {
    Step {
        measurement,
        duration_s,
        repeat: false,
    }
}

/// A load of 6 s, of which one does not count; on a line of a long round trip 30 and 6 of these.
fn tcp(cell: &Cell, direction: LoadDirection, flows: u32, ccs: &[&str]) -> Step {
    let rtt_s = (cell.path.down.delay + cell.path.up.delay).as_secs_f64();
    let load = Measurement::Tcp {
        direction,
        flows,
        cc: ccs.iter().map(|cc| (*cc).to_owned()).collect(),
        warmup_s: (6.0 * rtt_s).max(1.0),
    };
    step(load, (30.0 * rtt_s).max(6.0))
}

fn times(repeats: u32) -> Repeats {
    Repeats {
        min: repeats,
        max: repeats,
        width: None,
    }
}

/// Seeds of the questions, on the path and on its twin, different from the seeds of the fit.
pub const SEEDS: std::ops::Range<u64> = 101..104;

/// A question about the goodput in the down direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Cubic, one flow: the load of the fit.
    Unchanged,
    /// The sender uses bbr.
    Bbr,
    /// Eight flows of cubic.
    EightFlows,
    /// A shaper of cake at 95 % of the rate where the data is sent.
    Cake,
    /// The same of fq_codel.
    FqCodel,
    /// Four times the buffer; of a plain queue only.
    LargerBuffer,
    /// The MTU that is often recommended, 1280 bytes: of the tunnel, else of the link.
    SmallMtu,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Unchanged,
        Self::Bbr,
        Self::EightFlows,
        Self::Cake,
        Self::FqCodel,
        Self::LargerBuffer,
        Self::SmallMtu,
    ];

    /// Short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "cubic, as measured",
            Self::Bbr => "bbr",
            Self::EightFlows => "8 flows of cubic",
            Self::Cake => "shaper with cake at 95 %",
            Self::FqCodel => "shaper with fq_codel at 95 %",
            Self::LargerBuffer => "4 times the buffer",
            Self::SmallMtu => "MTU 1280",
        }
    }

    /// Returns its plan: one load, on the path with or without a remedy, and on its twins.
    pub fn plan(self, path: &Cell) -> Plan {
        let flows = if self == Self::EightFlows { 8 } else { 1 };
        let cc = if self == Self::Bbr { "bbr" } else { "cubic" };
        let steps = vec![
            step(Measurement::Idle, 1.0),
            tcp(path, LoadDirection::Down, flows, &[cc]),
        ];
        Plan {
            repeats: times(1),
            ..Plan::of("asked", steps)
        }
    }

    /// The path with the remedy in question; `None` if the question makes no sense on it. `rate` is
    /// that of the bottleneck as it was measured: a user sets a shaper by it.
    pub fn apply(self, path: &Path, rate: Rate) -> Option<Path> {
        let shaper = |queue| {
            let ip_bps = shaped_bps(path.wire(Layer::Underlay).ip_bps(rate));
            let shape = Action::Shaper {
                device: None,
                rate_bps: Some(ip_bps),
                queue,
                flow: Flow::Egress,
                direction: Direction::Down,
                below: Bottleneck::Queue,
            };
            at_sender(shape, path)
        };
        match self {
            Self::Unchanged | Self::EightFlows => Some(path.clone()),
            Self::Bbr => at_sender(
                Action::CongestionControl {
                    cc: "bbr".to_owned(),
                    scope: CcScope::Host,
                },
                path,
            ),
            Self::Cake => shaper(Discipline::Cake),
            Self::FqCodel => shaper(Discipline::FqCodel),
            Self::LargerBuffer => larger(path),
            Self::SmallMtu => at_sender(small_mtu(path), path),
        }
    }
}

fn at_sender(action: Action, path: &Path) -> Option<Path> {
    let on = Side::sends(Direction::Down).into();
    Remedy::new(action, on, Text::plain("")).apply(path).ok()
}

fn small_mtu(path: &Path) -> Action {
    const BYTES: u32 = 1280;
    match path.tunnel {
        Some(_) => Action::TunnelMtu {
            device: None,
            bytes: Some(BYTES),
        },
        None => Action::LinkMtu {
            device: None,
            bytes: BYTES,
        },
    }
}

fn larger(path: &Path) -> Option<Path> {
    let mut path = path.clone();
    let line = &mut path.underlay.down;
    let fifo = line.queue.as_ref().is_none_or(|q| q.value == Queue::Fifo);
    let Some(Buffer::Bytes(bytes)) = line.buffer.as_ref().map(|b| b.value) else {
        return None;
    };
    line.buffer = Some(path::Parameter::given(Buffer::Bytes(Bytes(4 * bytes.0))));
    fifo.then_some(path)
}

/// The cells of a question on a path, one for each of some of [`SEEDS`].
///
/// # Errors
/// The lab can make no such path.
pub fn cells(path: &Path, seeds: std::ops::Range<u64>) -> Result<Vec<Cell>, PathError> {
    seeds
        .map(|seed| path.cell(&draw::trial(path, seed)))
        .collect()
}

/// Answer to a question on one path: medians over the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Goodput, bit/s.
    pub goodput_bps: f64,
    /// Delay that the load adds to the probes, median, µs.
    pub added_us: f64,
}

impl Answer {
    /// From the Runs of all seeds; `None` if there is no valid sample.
    pub fn of(runs: &[Run]) -> Option<Self> {
        let one = |run: &Run| {
            let of = |step, kind| {
                let sample = run.samples.iter().find(|s| s.key.step == step && s.valid)?;
                value(sample, kind)
            };
            let goodput = of(StepKind::Tcp, FigureKind::Goodput)?;
            let loaded = of(StepKind::Tcp, FigureKind::RttP50)?;
            let base_us = View::new(run)?.base_us()?;
            Some((goodput, added_us(loaded, base_us)))
        };
        let all: Vec<(f64, f64)> = runs.iter().filter_map(one).collect();
        Some(Self {
            goodput_bps: stats::median(&all.iter().map(|a| a.0).collect::<Vec<_>>())?,
            added_us: stats::median(&all.iter().map(|a| a.1).collect::<Vec<_>>())?,
        })
    }
}

/// A question about a path and its twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The question.
    pub question: Question,
    /// On the path.
    pub truth: Answer,
    /// On the twin.
    pub twin: Answer,
    /// Its change from the load of the fit, as an Advice states it, and how it came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<Stated>,
}

/// A drawn path and its twin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Name of the path.
    pub name: String,
    /// What the twin cannot have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<Feature>,
    /// Permitted use of the twin.
    pub verdict: TwinVerdict,
    /// True if the twin's queue down is that of the path.
    pub same_queue: bool,
    /// Its parameters.
    pub fitted: Vec<Fitted>,
    /// The questions, in order: the first is the load of the fit.
    pub asked: Vec<Prediction>,
}

impl Prediction {
    /// Error of the goodput, ln.
    pub fn goodput_error(&self) -> f64 {
        (self.twin.goodput_bps.max(1.0) / self.truth.goodput_bps.max(1.0)).ln()
    }

    /// Error of the added delay, µs.
    pub fn delay_error_us(&self) -> f64 {
        self.twin.added_us - self.truth.added_us
    }

    /// Returns true if the added delay is within 3 ms or 15 %.
    pub fn delay_holds(&self) -> bool {
        self.delay_error_us().abs() <= 3_000.0_f64.max(0.15 * self.truth.added_us)
    }
}

/// A parameter that a twin fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// Rate, bit/s.
    Rate,
    /// Buffer of a plain queue, bytes.
    Buffer,
    /// Share of random loss.
    Loss,
}

/// A parameter of a twin, and the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// The parameter.
    pub name: Parameter,
    /// The truth, in the parameter's unit.
    pub truth: f64,
    /// The twin's value.
    pub value: f64,
    /// The twin's interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// The parameters of a twin and of the true path, over both directions.
pub fn parameters(truth: &Cell, twin: &Path) -> Vec<Fitted> {
    let mut all = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        let (line, known) = (truth.path.line(direction), twin.underlay.line(direction));
        if let (Some(rate), Some(found)) = (line.rate, &known.rate_bps) {
            let bps = |limit: &Limit<Rate>| match limit {
                Limit::At(rate) => rate.bps() as f64,
                Limit::Unlimited => f64::INFINITY,
            };
            all.push(Fitted {
                name: Parameter::Rate,
                truth: rate.bps() as f64,
                value: bps(&found.value),
                interval: both(found.low.as_ref().map(bps), found.high.as_ref().map(bps)),
            });
        }
        if let (Queue::Fifo, Buffer::Bytes(bytes), Some(found)) =
            (line.queue, line.buffer, &known.buffer)
        {
            let size = |buffer: &Buffer| buffer.bytes(truth.path.mtu).0 as f64;
            all.push(Fitted {
                name: Parameter::Buffer,
                truth: bytes.0 as f64,
                value: size(&found.value),
                interval: both(found.low.as_ref().map(size), found.high.as_ref().map(size)),
            });
        }
        if let Some(model::path::Loss::Random { share }) = &known.loss {
            let true_share = match line.loss {
                model::cell::Loss::Random(share) => share.get(),
                _ => 0.0,
            };
            all.push(Fitted {
                name: Parameter::Loss,
                truth: true_share,
                value: share.value.get(),
                interval: both(share.low.map(|s| s.get()), share.high.map(|s| s.get())),
            });
        }
    }
    all
}

fn both(low: Option<f64>, high: Option<f64>) -> Option<[f64; 2]> {
    Some([low?, high?])
}

/// Returns true if the twin's queue down is that of the path.
pub fn same_queue(truth: &Cell, twin: &Path) -> bool {
    let found = twin.underlay.down.queue.as_ref().map(|q| q.value);
    found == Some(truth.path.down.queue)
}
