//! Bulk TCP, in one direction or in both, with probes beside it.

use model::{text, text::Text};
use std::{net::TcpStream, time::Duration};

use analysis::flow;
use model::{
    net::Direction,
    plan::Measurement,
    run::{FlowResult, Invalid, Sample, Series, Tcp},
};
use sys::{clock::Instant, socket};
use traffic::{
    admission::Lease,
    load::tcp::{Config, TcpLoad},
    tcp::Role,
    wire::{
        Ticket,
        message::{Order, Outcome, TcpOrder, TcpOutcome},
    },
};

use super::{blank, probes};
use crate::{
    far::{self, FarError},
    run::{
        bench::{Bench, Live},
        key::key,
        schedule::Task,
    },
};

/// From one sample of `TCP_INFO` to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// Maximum `TCP_INFO` samples kept per end and load: all of one connection's in twenty seconds.
/// Eight connections would otherwise make three quarters of a run's size.
const KEPT: usize = 2000;

/// How long after its end a load is still sampled, so that its last moment is seen.
const AFTER: Duration = Duration::from_millis(30);

/// One direction of the load.
struct Half {
    direction: Direction,
    ticket: Ticket,
    streams: Vec<TcpStream>,
    load: Option<TcpLoad>,
}

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let Measurement::Tcp {
        direction,
        flows,
        warmup_s,
        ..
    } = &task.step.measurement
    else {
        return Err(FarError::Confused);
    };
    let span = Duration::from_secs_f64(task.step.duration_s);
    let mut samples: Vec<Sample> = direction
        .directions()
        .iter()
        .map(|d| {
            let key = key(
                &task.step.measurement,
                &task.layer,
                task.cc.as_deref(),
                Some(*d),
            );
            blank(bench, key)
        })
        .collect();
    let beside = probes::start(bench, &task.layer)?;
    let mut halves = direction
        .directions()
        .iter()
        .map(|d| open(bench, task, *d, *flows as u16, span))
        .collect::<Result<Vec<_>, _>>()?;
    let mark = bench.mark()?;
    let zero = Instant::now();
    let lease = bench.lease(span);
    for half in &mut halves {
        begin(bench, half, &lease)?;
    }
    let mut last = (zero, 0);
    bench.watch(span + AFTER, || {
        let bytes = halves
            .iter()
            .filter_map(|h| h.load.as_ref())
            .map(TcpLoad::bytes)
            .sum();
        let (rtt_us, lost) = beside.live();
        let now = Instant::now();
        let rate = (bytes - last.1) as f64 * 8e9 / now.since(last.0).max(1) as f64;
        last = (now, bytes);
        Live {
            rate_bps: Some(rate),
            rtt_us,
            lost,
            bytes,
            ..Live::default()
        }
    })?;
    let near = mark.evidence();
    let outcomes = end(bench, halves)?;
    let far = bench.far.evidence()?;
    let window = [(warmup_s * 1e6) as i64, span.as_micros() as i64];
    let probes = beside.finish(bench, zero, window)?;
    for (sample, (direction, sent, received)) in samples.iter_mut().zip(outcomes) {
        let tcp = compose(&sent, &received, window);
        bench.bytes += tcp.bytes;
        judge(sample, task.cc.as_deref(), &tcp, &sent, &received);
        let _ = direction;
        sample.tcp = Some(tcp);
        sample.load_at_us = Some(bench.us_at(zero));
        sample.probes = probes.clone();
        sample.near = Some(near.clone());
        sample.far = Some(far.clone());
    }
    Ok(samples)
}

fn open(
    bench: &mut Bench<'_>,
    task: &Task,
    direction: Direction,
    flows: u16,
    span: Duration,
) -> Result<Half, FarError> {
    let ticket = bench.far.open(Order::Tcp(TcpOrder {
        send: direction == Direction::Down,
        flows,
        cc: task.cc.clone(),
        duration_us: span.as_micros() as u64,
        sample_us: SAMPLE.as_micros() as u64,
    }))?;
    let streams = far::streams(ticket, bench.target(&task.layer), flows)?;
    if let (Direction::Up, Some(cc)) = (direction, &task.cc) {
        for stream in &streams {
            socket::set_congestion(stream, cc).map_err(|source| FarError::Own {
                what: format!("congestion control {cc}"),
                source,
            })?;
        }
    }
    Ok(Half {
        direction,
        ticket,
        streams,
        load: None,
    })
}

fn begin(bench: &mut Bench<'_>, half: &mut Half, lease: &Lease) -> Result<(), FarError> {
    bench.far.start(half.ticket)?;
    let config = Config {
        role: match half.direction {
            Direction::Up => Role::Sender,
            Direction::Down => Role::Receiver,
        },
        zero: Instant::now(),
        sample_interval: SAMPLE,
        lease: lease.clone(),
    };
    let load = TcpLoad::start(std::mem::take(&mut half.streams), config).map_err(|source| {
        FarError::Own {
            what: "start the load".to_owned(),
            source,
        }
    })?;
    half.load = Some(load);
    Ok(())
}

/// Ends all halves, the senders first, so that the queues empty while the rest is told. Gives the
/// direction, and what the sender and what the receiver saw.
fn end(
    bench: &mut Bench<'_>,
    halves: Vec<Half>,
) -> Result<Vec<(Direction, TcpOutcome, TcpOutcome)>, FarError> {
    let mut near = Vec::new();
    let mut later = Vec::new();
    for mut half in halves {
        let load = half.load.take();
        match half.direction {
            Direction::Up => near.push((half, load.map(TcpLoad::finish), None)),
            Direction::Down => later.push((half, None, load)),
        }
    }
    let mut all = Vec::new();
    for (half, seen, load) in later.into_iter().chain(near) {
        let Outcome::Tcp(theirs) = bench.far.finish(half.ticket)? else {
            return Err(FarError::Confused);
        };
        let ours = seen.or(load.map(TcpLoad::finish)).unwrap_or_default();
        all.push(match half.direction {
            Direction::Up => (half.direction, ours, theirs),
            Direction::Down => (half.direction, theirs, ours),
        });
    }
    Ok(all)
}

fn judge(
    sample: &mut Sample,
    asked: Option<&str>,
    tcp: &Tcp,
    sent: &TcpOutcome,
    received: &TcpOutcome,
) {
    if let (Some(asked), Some(used)) = (asked, &tcp.cc_used)
        && asked != used
    {
        sample.invalid.push(Invalid::CongestionReplaced {
            asked: asked.to_owned(),
            used: used.clone(),
        });
    }
    for error in sent.errors.iter().chain(&received.errors) {
        let why = Text::plain(error.clone());
        sample.invalid.push(Invalid::failed(why));
    }
    let told = |series: &Series| series.has(flow::arrived(series));
    if !received.flows.iter().all(told) {
        sample.invalid.push(Invalid::failed(text!(
            "the receiver does not know how much has arrived"
        )));
    }
    if tcp.flows.is_empty() {
        sample
            .invalid
            .push(Invalid::failed(text!("no connection carried data")));
    }
}

/// The load as both its ends saw it. What is said of it rests on every look; the courses that are
/// kept are thinner the more connections there were.
fn compose(sent: &TcpOutcome, received: &TcpOutcome, window: [i64; 2]) -> Tcp {
    let flows: Vec<FlowResult> = sent
        .flows
        .iter()
        .zip(&received.flows)
        .map(|(s, r)| flow(s, r, window, KEPT / sent.flows.len().max(1)))
        .collect();
    Tcp {
        cc_used: common(&sent.cc_used),
        window_us: window,
        goodput_bps: flows.iter().map(|f| f.goodput_bps).sum(),
        bytes: received
            .flows
            .iter()
            .filter_map(|s| s.last(flow::arrived(s)))
            .sum(),
        flows,
    }
}

/// The name that all have; if they differ, all names.
fn common(names: &[String]) -> Option<String> {
    let mut names = names.to_vec();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join("+"))
}

/// A connection as both its ends saw it, with its series thinned to `kept` samples.
fn flow(sent: &Series, received: &Series, window: [i64; 2], kept: usize) -> FlowResult {
    FlowResult {
        series: Some(sent.thinned(kept)),
        received: Some(received.thinned(kept)),
        ..flow::tcp(sent, received, window)
    }
}
