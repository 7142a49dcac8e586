//! Measurement against iperf3: the part of a plan that its protocol allows.
//!
//! Everything else (idle latency, probes beside a load, sweeps, the path MTU, requests, QUIC, facts
//! and counters of the far host) is left out and named in the run. Order, repeats and figures are
//! the same as in other runs.

mod sample;

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use iperf3::{
    Error,
    client::{self, Options},
    params::{Params, Protocol},
};
use model::{
    net::{Direction, Layer, Side},
    plan::{LoadDirection, Measurement, Plan},
    run::{End, Invalid, Run, Sample},
    text,
    text::{Text, Value},
    units::Seed,
};
use stats::Random;
use sys::clock::Instant;

use super::{
    Target,
    bench::{Event, Live},
    budget::{self, Spent},
    conclude, controls,
    perform::note_skipped,
    schedule::{self, Sender, Senders, estimate},
    session::narrow,
    steps::{self, AnyStep, Step, tcp::Tcp},
    task::Task,
    validity,
};
use crate::far::FarError;
use host::{evidence::Scope, state};

/// Configuration of a run through iperf3.
pub struct Start<'a> {
    /// The server.
    pub server: SocketAddr,
    /// The layer that leads there.
    pub layer: Layer,
    /// The plan.
    pub plan: &'a Plan,
    /// Seed of the order, if the plan names none.
    pub seed: Seed,
    /// Version of this program.
    pub program: &'a str,
    /// Name of the run.
    pub id: String,
    /// Now, µs since 1970.
    pub started_us: u64,
    /// Makes the cookie of each test.
    pub random: &'a dyn Fn() -> std::io::Result<[u8; 36]>,
    /// Ends the run early when set.
    pub cancel: &'a AtomicBool,
}

struct Bench<'a> {
    start: &'a Start<'a>,
    zero: Instant,
    scope: Scope,
    /// Payload bytes so far.
    bytes: u64,
    on: &'a mut dyn FnMut(Event<'_>),
}

/// Runs the part of a plan that iperf3 allows. Measurements before a failure are in the run, which
/// then states why it was cut short.
///
/// # Errors
/// The server has no reachable address, or no step of the plan can be measured with iperf3.
pub fn measure(start: &Start<'_>, on: &mut dyn FnMut(Event<'_>)) -> Result<Run, FarError> {
    let target = Target {
        layer: start.layer,
        far: start.server.ip(),
    };
    let layer = target.addressed().map_err(|source| FarError::Route {
        address: start.server,
        source,
    })?;
    let (facts, scope) = state::facts(Some(start.server.ip()));
    let seed = start.plan.seed.unwrap_or(start.seed);
    let plan = Plan {
        seed: Some(seed),
        probe_ms: None,
        ..start.plan.clone()
    };
    let near = End::new(start.program, facts);
    let far = End::new("iperf3", model::facts::HostFacts::default());
    let note = text!(
        "the far end has only iperf3: nothing is known about its host, and no probes ran during the loads"
    );
    let mut run = Run {
        layers: vec![layer],
        notes: vec![note],
        ..Run::new(start.id.clone(), start.started_us, plan, near, far)
    };
    let plan = allowed(&run.plan, &mut run.notes)?;
    let zero = Instant::now();
    let mut bench = Bench {
        start,
        zero,
        scope,
        bytes: 0,
        on,
    };
    bench.carry_out(&plan, &mut run, seed);
    conclude::conclude(&mut run, zero, start.cancel.load(Ordering::Relaxed));
    Ok(run)
}

/// The plan without the steps that iperf3 cannot do, which are noted.
fn allowed(plan: &Plan, notes: &mut Vec<Text>) -> Result<Plan, FarError> {
    let (steps, others): (Vec<_>, Vec<_>) = plan
        .steps
        .iter()
        .cloned()
        .partition(|step| matches!(step.measurement, Measurement::Tcp { .. }));
    let mut kinds: Vec<String> = others
        .iter()
        .map(|step| steps::of(&step.measurement).kind().to_string())
        .collect();
    kinds.dedup();
    if !kinds.is_empty() {
        notes.push(text!(
            "skipped: {steps} (not supported with iperf3)",
            steps = kinds.join(", ")
        ));
    }
    if steps.is_empty() {
        return Err(FarError::Plan);
    }
    Ok(Plan {
        steps,
        ..plan.clone()
    })
}

impl Bench<'_> {
    fn carry_out(&mut self, plan: &Plan, run: &mut Run, seed: Seed) {
        // The congestion controls of the far end are known after it has sent.
        let usable = state::congestion();
        let facts = &run.near.facts.congestion;
        let lacking = controls::lacking(plan, Side::Near, &usable, facts);
        let senders = Senders {
            far: Sender {
                usable: usable.clone(),
                default: None,
            },
            near: Sender {
                usable,
                default: facts.default.clone(),
            },
        };
        run.caveats.extend(lacking);
        let layers = run.layers.clone();
        let estimate = estimate(plan, layers.len(), &senders);
        (self.on)(Event::Planned {
            estimate,
            layers: &layers,
            far: "iperf3",
        });
        let of = estimate.samples[1];
        let mut random = Random::new(seed.0);
        let once = schedule::once(plan, &layers, &senders);
        let mut lacking: Vec<Option<String>> = Vec::new();
        for number in 0..=plan.repeats.max {
            let tasks = match number {
                0 => once.clone(),
                _ => schedule::block(plan, &layers, &senders, number, &mut random),
            };
            for task in tasks {
                // The plan was cut down to these.
                let Some(load) = tcp(&task) else {
                    continue;
                };
                if load.direction != LoadDirection::Up && lacking.contains(&task.cc) {
                    continue;
                }
                if self.start.cancel.load(Ordering::Relaxed) {
                    return;
                }
                if let Some(why) = self.exceeded(plan, &task, &load, &run.samples) {
                    note_skipped(run, &load.keys(&task), why, self.on);
                    continue;
                }
                if self.step(run, &task, &load, of) == Done::Lacking {
                    let cc = task.cc.as_deref().map(Value::from);
                    run.notes.push(text!(
                        "skipped from then on: down with {cc} (the server does not use it)",
                        cc = cc.unwrap_or_else(|| text!("its default").into())
                    ));
                    lacking.push(task.cc.clone());
                }
                if run.cut_short.is_some() {
                    return;
                }
            }
            if number >= plan.repeats.min && narrow(plan, &run.samples) {
                return;
            }
        }
    }

    /// Returns why a task does not fit the rest of the budget, at the highest rate so far.
    fn exceeded(&self, plan: &Plan, task: &Task, load: &Tcp, samples: &[Sample]) -> Option<Text> {
        let fastest = |direction| {
            let same = samples
                .iter()
                .filter(|s| s.key.direction == Some(direction));
            let goodputs = same.filter_map(|s| Some(s.tcp.as_ref()?.goodput_bps));
            goodputs.reduce(f64::max)
        };
        let spent = Spent {
            time_s: Instant::now().since(self.zero) as f64 / 1e9,
            bytes: self.bytes,
        };
        let needs = schedule::needs(&task.step, load.rate_bps(&fastest));
        budget::exceeded(&plan.budget, spent, needs)
    }

    fn step(&mut self, run: &mut Run, task: &Task, load: &Tcp, of: usize) -> Done {
        let number = run.samples.len() as u32;
        let keys = load.keys(task);
        for key in &keys {
            (self.on)(Event::Began {
                key,
                number,
                of,
                block: task.block,
            });
        }
        let at_us = (Instant::now().since(self.zero) / 1000) as u64;
        let mut samples: Vec<Sample> = keys.into_iter().map(|k| Sample::new(k, at_us)).collect();
        let guard = validity::Guard::set(task, run.lab);
        let mark = state::Mark::now(&self.scope, self.start.plan.hotspots);
        let left = budget::bytes_left(&self.start.plan.budget, self.bytes);
        let result = self.test(options(task, load, left));
        let near = mark.evidence();
        let mut done = Done::Yes;
        match result {
            Ok(outcome) => {
                for sample in &mut samples {
                    sample::fill(sample, &outcome);
                    if sample.key.direction == Some(Direction::Down)
                        && sample.invalid.iter().any(is_other_control)
                    {
                        done = Done::Lacking;
                    }
                    sample.near = Some(near.clone());
                    self.bytes += moved(sample, load);
                }
            }
            Err(error) => {
                if matches!(error, Error::Spent) {
                    self.bytes += left.unwrap_or(0);
                }
                // The server is gone: the run ends.
                if matches!(error, Error::Connect(..)) {
                    run.cut_short = Some(error.text());
                }
                for sample in &mut samples {
                    sample.invalid.push(Invalid::failed(error.text()));
                }
            }
        }
        guard.judge(&mut samples);
        for mut sample in samples {
            sample.number = run.samples.len() as u32;
            sample.block = task.block;
            sample.took_us = (Instant::now().since(self.zero) / 1000) as u64 - at_us;
            sample.valid = sample.invalid.is_empty();
            (self.on)(Event::Ended(&sample));
            run.samples.push(sample);
        }
        done
    }

    /// Runs a test, with progress events.
    fn test(&mut self, options: Options) -> Result<iperf3::outcome::Outcome, Error> {
        const PIECE: Duration = Duration::from_millis(250);
        let span = options.duration + Duration::from_secs(options.params.omit_s.into());
        let (server, cancel) = (self.start.server, self.start.cancel);
        let random = (self.start.random)().map_err(Error::Control)?;
        std::thread::scope(|scope| {
            let test = scope.spawn(|| client::run(server, &options, random, cancel));
            let end = Instant::now().after(span);
            while !test.is_finished() {
                let now = Instant::now();
                now.after(PIECE).wait();
                (self.on)(Event::Live(Live {
                    step_left_s: (end.since(now) as f64 / 1e9).max(0.0),
                    run_s: now.since(self.zero) as f64 / 1e9,
                    bytes: self.bytes,
                    ..Live::default()
                }));
            }
            test.join().unwrap_or(Err(Error::Stopped))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Yes,
    /// The server does not send with this congestion control.
    Lacking,
}

fn is_other_control(invalid: &Invalid) -> bool {
    matches!(invalid, Invalid::CongestionReplaced { .. })
}

/// The load of a task, if it is one of TCP.
fn tcp(task: &Task) -> Option<Tcp> {
    match task.step.measurement.clone() {
        Measurement::Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        } => Some(Tcp {
            direction,
            flows,
            cc,
            warmup_s,
        }),
        _ => None,
    }
}

/// Bytes of a sample with those of its warm-up, which are not counted: about as many per second.
fn moved(sample: &Sample, load: &Tcp) -> u64 {
    let Some(tcp) = &sample.tcp else { return 0 };
    let omitted = tcp.goodput_bps / 8.0 * f64::from(omit_s(load));
    tcp.bytes.saturating_add(omitted as u64)
}

/// The protocol counts the warm-up in whole seconds.
fn omit_s(load: &Tcp) -> u32 {
    load.warmup_s.ceil() as u32
}

/// `most_bytes`: what the plan's budget allows.
fn options(task: &Task, load: &Tcp, most_bytes: Option<u64>) -> Options {
    let omit_s = omit_s(load);
    let counted = (task.step.duration_s - f64::from(omit_s)).max(1.0);
    Options {
        params: Params {
            protocol: Protocol::Tcp,
            direction: load.direction,
            parallel: load.flows,
            omit_s,
            congestion: task.cc.clone(),
            ..Params::default()
        },
        duration: Duration::from_secs_f64(counted),
        most_bytes,
    }
}
