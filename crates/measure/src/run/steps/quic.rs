//! Bulk QUIC in one direction, with probes beside it.

use model::{text, text::Text};
use std::time::Duration;

use analysis::flow;
use model::{
    net::Direction,
    plan::Measurement,
    run::{Column, FlowResult, Invalid, LayerAddress, Sample, Series, Tcp},
};
use sys::clock::Instant;
use traffic::{
    quic::{Config, QuicLoad, Side},
    wire::message::{Order, Outcome, QuicOutcome},
};

use super::{blank, probes, udp::headers};
use crate::{
    far::{self, FarError},
    run::{
        bench::{Bench, Live},
        key::key,
        schedule::Task,
    },
};

/// From one sample of the connection to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// How long after its end a load is still sampled, so that its last moment is seen.
const AFTER: Duration = Duration::from_millis(30);

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let Measurement::Quic {
        direction,
        warmup_s,
    } = task.step.measurement
    else {
        return Err(FarError::Confused);
    };
    let span = Duration::from_secs_f64(task.step.duration_s);
    let mut sample = blank(
        bench,
        key(&task.step.measurement, &task.layer, None, Some(direction)),
    );
    let beside = probes::start(bench, &task.layer)?;
    let mark = bench.mark()?;
    let (sent, received, zero) = load(bench, &task.layer, direction, span, &beside)?;
    sample.near = Some(mark.evidence());
    sample.far = Some(bench.far.evidence()?);
    let window = [(warmup_s * 1e6) as i64, span.as_micros() as i64];
    sample.probes = beside.finish(bench, zero, window)?;
    sample.load_at_us = Some(bench.us_at(zero));
    let tcp = compose(&sent, &received, window, headers(task.layer.family));
    bench.bytes += tcp.bytes;
    judge(&mut sample, &tcp, &sent, &received);
    sample.tcp = Some(tcp);
    Ok(vec![sample])
}

/// Runs the load: what the sender and what the receiver saw, and when it started.
fn load(
    bench: &mut Bench<'_>,
    layer: &LayerAddress,
    direction: Direction,
    span: Duration,
    beside: &probes::Beside,
) -> Result<(QuicOutcome, QuicOutcome, Instant), FarError> {
    let down = direction == Direction::Down;
    let (ticket, public) = bench.far.open_with_key(Order::Quic {
        send: down,
        duration_us: span.as_micros() as u64,
        sample_us: SAMPLE.as_micros() as u64,
    })?;
    let address = bench.target(layer);
    let socket = far::datagrams(ticket, address)?;
    bench.far.start(ticket)?;
    let config = Config {
        sends: !down,
        zero: Instant::now(),
        sample_interval: SAMPLE,
        lease: bench.lease(span),
    };
    let zero = config.zero;
    let load =
        QuicLoad::start(socket, Side::Near(public), config).map_err(|source| FarError::Data {
            what: "QUIC",
            address,
            source,
        })?;
    let watched = watch(bench, beside, &load, zero, span);
    // The sender first, so that the receiver does not see its connection end before its time.
    let (ours, theirs) = if down {
        let theirs = watched.and_then(|()| bench.far.finish(ticket));
        (load.finish(), theirs?)
    } else {
        let ours = load.finish();
        watched?;
        (ours, bench.far.finish(ticket)?)
    };
    let Outcome::Quic(theirs) = theirs else {
        return Err(FarError::Confused);
    };
    Ok(if down {
        (theirs, ours, zero)
    } else {
        (ours, theirs, zero)
    })
}

fn watch(
    bench: &mut Bench<'_>,
    beside: &probes::Beside,
    load: &QuicLoad,
    zero: Instant,
    span: Duration,
) -> Result<(), FarError> {
    let mut last = (zero, 0);
    bench.watch(span + AFTER, || {
        let (rtt_us, lost) = beside.live();
        let (now, bytes) = (Instant::now(), load.bytes());
        let rate = (bytes - last.1) as f64 * 8e9 / now.since(last.0).max(1) as f64;
        last = (now, bytes);
        Live {
            rate_bps: Some(rate),
            rtt_us,
            lost,
            bytes,
            ..Live::default()
        }
    })
}

fn judge(sample: &mut Sample, tcp: &Tcp, sent: &QuicOutcome, received: &QuicOutcome) {
    for error in sent.errors.iter().chain(&received.errors) {
        let why = Text::plain(error.clone());
        sample.invalid.push(Invalid::failed(why));
    }
    if tcp.bytes == 0 && sample.invalid.is_empty() {
        sample
            .invalid
            .push(Invalid::failed(text!("QUIC: no data arrived")));
    }
}

/// The load as both its ends saw it. `headers`: bytes of IP and UDP around a QUIC datagram.
fn compose(sent: &QuicOutcome, received: &QuicOutcome, window: [i64; 2], headers: u32) -> Tcp {
    let flow = flow(&sent.series, &received.series, window, headers);
    Tcp {
        cc_used: Some(sent.cc_used.clone()),
        window_us: window,
        goodput_bps: flow.goodput_bps,
        bytes: received.series.last(Column::BytesReceived).unwrap_or(0),
        flows: vec![flow],
    }
}

/// The connection as both its ends saw it.
fn flow(sent: &Series, received: &Series, window: [i64; 2], headers: u32) -> FlowResult {
    FlowResult {
        series: Some(sent.clone()),
        received: Some(received.clone()),
        ..flow::quic(sent, received, window, headers)
    }
}
