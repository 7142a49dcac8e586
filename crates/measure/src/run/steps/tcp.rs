//! Bulk TCP, in one direction or in both, with probes.

use std::{net::TcpStream, time::Duration};

use analysis::flow;
use model::{
    net::Direction,
    plan::LoadDirection,
    run::{self, Column, FlowResult, Invalid, Key, Sample, Series, StepKind},
    text,
};
use sys::{clock::Instant, socket};
use traffic::{
    admission::Lease,
    load::{
        Role,
        tcp::{Config, TcpLoad},
    },
    wire::message::{TcpOrder, TcpOutcome},
};

use super::{
    Blank, Cost, Measure, Step,
    loaded::{self, Context},
    probes,
};
use crate::{
    far::{self, FarError, load::Agreed},
    run::{bench::Bench, task::Task},
};

/// From one sample of `TCP_INFO` to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// Maximum `TCP_INFO` samples kept per end and load: all of one connection's in twenty seconds.
/// Eight connections would otherwise make three quarters of a run's size.
const KEPT: usize = 2000;

/// Time for which a load is still sampled after its end, so that its end is recorded.
const AFTER: Duration = Duration::from_millis(30);

/// TCP whose senders always have data.
pub(crate) struct Tcp {
    pub(crate) direction: LoadDirection,
    /// Connections at once, in each direction.
    pub(crate) flows: u32,
    /// Congestion controls to try in turn; empty = the usual ones that the sender has.
    pub(crate) cc: Vec<String>,
    /// Time at the start that is not counted, s.
    pub(crate) warmup_s: f64,
}

/// Results of both ends about the connections of one direction.
struct Flows {
    direction: Direction,
    sent: TcpOutcome,
    received: TcpOutcome,
}

/// Results of both ends about the load.
pub(crate) struct Seen {
    flows: Vec<Flows>,
    /// Requested congestion control.
    asked: Option<String>,
    /// The time that counts, µs after the start of the load.
    window: [i64; 2],
    context: Context,
}

impl Step for Tcp {
    fn kind(&self) -> StepKind {
        StepKind::Tcp
    }

    fn directions(&self) -> Vec<Option<Direction>> {
        let directions = self.direction.directions();
        directions.iter().copied().map(Some).collect()
    }

    fn distinguish(&self, key: &mut Key) {
        key.flows = Some(self.flows);
        key.bidirectional = self.direction == LoadDirection::Both;
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: duration_s * self.direction.directions().len() as f64,
        }
    }

    fn congestion(&self) -> Option<(LoadDirection, &[String])> {
        Some((self.direction, &self.cc))
    }
}

impl Measure for Tcp {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let span = Duration::from_secs_f64(task.step.duration_s);
        let probing = probes::start(bench, &task.layer)?;
        let directions = self.direction.directions().iter();
        let opened = directions
            .map(|direction| self.open(bench, task, *direction, span))
            .collect::<Result<Vec<_>, _>>()?;
        let mark = bench.mark()?;
        let zero = Instant::now();
        let lease = bench.lease(span);
        let halves = opened
            .into_iter()
            .map(|opened| opened.start(bench, &lease))
            .collect::<Result<Vec<_>, _>>()?;
        probing.watch(bench, span + AFTER, zero, || {
            halves.iter().map(|half| half.load.bytes()).sum()
        })?;
        let near = mark.evidence();
        let flows = finish(bench, halves)?;
        let far = bench.far.evidence()?;
        let window = [(self.warmup_s * 1e6) as i64, span.as_micros() as i64];
        let probes = probing.finish(bench, zero, window)?;
        bench.bytes += flows.iter().map(Flows::spent).sum::<u64>();
        Ok(Seen {
            flows,
            asked: task.cc.clone(),
            window,
            context: Context {
                load_at_us: bench.us_at(zero),
                probes,
                near,
                far,
            },
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        let sample = |flows: &Flows| {
            let mut sample = seen.context.clone().apply(blank.of(Some(flows.direction)));
            let tcp = flows.compose(seen.window);
            flows.judge(&mut sample, seen.asked.as_deref(), &tcp);
            sample.tcp = Some(tcp);
            sample
        };
        seen.flows.iter().map(sample).collect()
    }
}

impl Tcp {
    fn open(
        &self,
        bench: &mut Bench<'_>,
        task: &Task,
        direction: Direction,
        span: Duration,
    ) -> Result<Opened, FarError> {
        let order = TcpOrder {
            send: direction == Direction::Down,
            flows: self.flows as u16,
            cc: task.cc.clone(),
            duration_us: span.as_micros() as u64,
            sample_us: SAMPLE.as_micros() as u64,
        };
        let agreed = bench.far.open(&order)?;
        let streams = far::streams(*agreed, bench.target(&task.layer), order.flows)?;
        if let (Direction::Up, Some(name)) = (direction, &task.cc) {
            for stream in &streams {
                socket::set_congestion(stream, name).map_err(|source| FarError::Congestion {
                    name: name.clone(),
                    source,
                })?;
            }
        }
        Ok(Opened {
            direction,
            agreed,
            streams,
        })
    }
}

/// A direction of the load with established connections.
struct Opened {
    direction: Direction,
    agreed: Agreed<TcpOrder>,
    streams: Vec<TcpStream>,
}

impl Opened {
    fn start(self, bench: &mut Bench<'_>, lease: &Lease) -> Result<Half, FarError> {
        bench.far.start(&self.agreed)?;
        let config = Config {
            role: match self.direction {
                Direction::Up => Role::Sender,
                Direction::Down => Role::Receiver,
            },
            zero: Instant::now(),
            sample_interval: SAMPLE,
            lease: lease.clone(),
        };
        let load =
            TcpLoad::start(self.streams, config).map_err(|source| FarError::Start { source })?;
        Ok(Half {
            direction: self.direction,
            agreed: self.agreed,
            load,
        })
    }
}

/// A running direction of the load.
struct Half {
    direction: Direction,
    agreed: Agreed<TcpOrder>,
    load: TcpLoad,
}

/// Ends all halves, the senders first, so that the queues empty while the rest is exchanged.
fn finish(bench: &mut Bench<'_>, halves: Vec<Half>) -> Result<Vec<Flows>, FarError> {
    let (up, down): (Vec<_>, Vec<_>) = halves
        .into_iter()
        .partition(|half| half.direction == Direction::Up);
    let up: Vec<_> = up
        .into_iter()
        .map(|half| (half.direction, half.agreed, half.load.finish()))
        .collect();
    let mut all = Vec::new();
    for half in down {
        let sent = bench.far.finish(half.agreed)?;
        all.push(Flows {
            direction: half.direction,
            sent,
            received: half.load.finish(),
        });
    }
    for (direction, agreed, sent) in up {
        all.push(Flows {
            direction,
            sent,
            received: bench.far.finish(agreed)?,
        });
    }
    Ok(all)
}

impl Flows {
    /// Bytes that arrived.
    fn bytes(&self) -> u64 {
        let flows = self.received.flows.iter();
        flows.filter_map(|s| s.last(flow::arrived(s))).sum()
    }

    /// Bytes for a budget: those sent, retransmitted ones included, where the sender reports them,
    /// since a provider counts them whether they arrive or not.
    fn spent(&self) -> u64 {
        let pairs = self.sent.flows.iter().zip(&self.received.flows);
        let most = |(sent, received): (&Series, &Series)| {
            let arrived = received.last(flow::arrived(received));
            arrived.max(sent.last(Column::BytesSent)).unwrap_or(0)
        };
        pairs.map(most).sum()
    }

    /// The load from the samples of both ends. Its figures are computed from every sample; the
    /// stored time series are thinned in proportion to the number of connections.
    fn compose(&self, window: [i64; 2]) -> run::Tcp {
        let kept = KEPT / self.sent.flows.len().max(1);
        let pairs = self.sent.flows.iter().zip(&self.received.flows);
        let flows: Vec<FlowResult> = pairs
            .map(|(sent, received)| FlowResult {
                series: Some(sent.thinned(kept)),
                received: Some(received.thinned(kept)),
                ..flow::tcp(sent, received, window)
            })
            .collect();
        run::Tcp {
            cc_used: common(&self.sent.cc_used),
            window_us: window,
            goodput_bps: flows.iter().map(|f| f.goodput_bps).sum(),
            bytes: self.bytes(),
            flows,
        }
    }

    /// Marks the sample with why it does not count.
    fn judge(&self, sample: &mut Sample, asked: Option<&str>, tcp: &run::Tcp) {
        if let (Some(asked), Some(used)) = (asked, &tcp.cc_used)
            && asked != used
        {
            sample.invalid.push(Invalid::CongestionReplaced {
                requested: asked.to_owned(),
                used: used.clone(),
            });
        }
        let ends = [&self.sent.errors, &self.received.errors];
        sample.invalid.extend(loaded::failures(ends));
        let known = |series: &Series| series.has(flow::arrived(series));
        if !self.received.flows.iter().all(known) {
            sample.invalid.push(Invalid::failed(text!(
                "the receiver does not report how much has arrived"
            )));
        }
        if tcp.flows.is_empty() {
            sample
                .invalid
                .push(Invalid::failed(text!("no connection carried data")));
        }
    }
}

/// The name that all have; if they differ, all names.
fn common(names: &[String]) -> Option<String> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join("+"))
}
