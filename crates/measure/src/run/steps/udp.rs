//! UDP at one rate.

use std::time::Duration;

use model::{
    net::{Direction, IpVersion},
    plan::Measurement,
    run::{LayerAddress, Sample, Udp},
};
use sys::{clock::Instant, socket};
use traffic::{
    admission::Lease,
    load::udp::{Config, UdpLoad},
    wire::{
        datagram::DATA_HEADER,
        message::{Order, Outcome, UdpOrder, UdpOutcome},
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

/// Bounds of the wait for datagrams that are still under way when the sender has ended.
const UNDER_WAY: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];

/// One rate for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) direction: Direction,
    pub(crate) rate_bps: u64,
    pub(crate) payload: u32,
    pub(crate) span: Duration,
}

/// What became of an offer.
pub(crate) struct Became {
    pub(crate) udp: Udp,
    /// Rate that arrived in the second half of the time, bit/s of payload.
    pub(crate) late_bps: Option<f64>,
    /// Start of the load.
    pub(crate) zero: Instant,
}

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let Measurement::Udp {
        direction,
        rate_bps,
        payload,
    } = &task.step.measurement
    else {
        return Err(FarError::Confused);
    };
    let mut sample = blank(
        bench,
        key(&task.step.measurement, &task.layer, None, Some(*direction)),
    );
    let beside = probes::start(bench, &task.layer)?;
    let span = Duration::from_secs_f64(task.step.duration_s);
    let mark = bench.mark()?;
    let offer = Offer {
        direction: *direction,
        rate_bps: *rate_bps,
        payload: payload.unwrap_or_else(|| largest_payload(bench, &task.layer)),
        span,
    };
    let became = send(bench, &task.layer, offer, &beside)?;
    sample.near = Some(mark.evidence());
    sample.far = Some(bench.far.evidence()?);
    sample.udp = Some(became.udp);
    sample.load_at_us = Some(bench.us_at(became.zero));
    sample.probes = beside.finish(bench, became.zero, [0, span.as_micros() as i64])?;
    Ok(vec![sample])
}

/// Bytes of IP and UDP headers.
pub(crate) fn headers(family: IpVersion) -> u32 {
    match family {
        IpVersion::V4 => 20 + 8,
        IpVersion::V6 => 40 + 8,
    }
}

/// Payload of the largest datagram that is not fragmented on a layer: by the search for the path's
/// MTU if there was one, else by what this host's kernel knows.
pub(crate) fn largest_payload(bench: &Bench<'_>, layer: &LayerAddress) -> u32 {
    let known = bench.pmtu.get(layer).copied().or_else(|| {
        let socket = socket::udp((layer.near, 0).into()).ok()?;
        socket.connect(bench.target(layer)).ok()?;
        socket::known_mtu(&socket).ok()
    });
    known
        .unwrap_or(1280)
        .clamp(576, 9000)
        .saturating_sub(headers(layer.family))
}

/// Sends at one rate and waits for what comes of it.
pub(crate) fn send(
    bench: &mut Bench<'_>,
    layer: &LayerAddress,
    offer: Offer,
    beside: &probes::Beside,
) -> Result<Became, FarError> {
    let order = UdpOrder {
        send: offer.direction == Direction::Down,
        rate_bps: offer.rate_bps,
        payload: offer.payload.max(DATA_HEADER as u32),
        duration_us: offer.span.as_micros() as u64,
    };
    let ticket = bench.far.open(Order::Udp(order))?;
    let address = bench.target(layer);
    let socket = far::datagrams(ticket, address)?;
    bench.far.start(ticket)?;
    let config = Config {
        rate_bps: order.rate_bps,
        payload: order.payload as usize,
        zero: Instant::now(),
        lease: Lease::own(offer.span, None, None),
    };
    let zero = config.zero;
    let load = match offer.direction {
        Direction::Up => UdpLoad::send(socket, config),
        Direction::Down => UdpLoad::receive(socket, config),
    }
    .map_err(|source| FarError::Data {
        what: "load",
        address,
        source,
    })?;
    let mut last = (zero, 0);
    bench.watch(offer.span, || {
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
    })?;
    let (rtt_us, _) = beside.live();
    let under_way = Duration::from_secs_f64(rtt_us.unwrap_or(0.0) * 1.5 / 1e6);
    bench.watch(under_way.clamp(UNDER_WAY[0], UNDER_WAY[1]), Live::default)?;
    let (ours, theirs) = match offer.direction {
        // The sender first: it knows how much there was to come.
        Direction::Up => {
            let ours = load.finish();
            (ours, bench.far.finish(ticket)?)
        }
        Direction::Down => {
            let theirs = bench.far.finish(ticket)?;
            (load.finish(), theirs)
        }
    };
    let Outcome::Udp(theirs) = theirs else {
        return Err(FarError::Confused);
    };
    let (sent, received) = match offer.direction {
        Direction::Up => (ours, theirs),
        Direction::Down => (theirs, ours),
    };
    bench.bytes += sent.sent * u64::from(order.payload);
    Ok(Became {
        udp: compose(&sent, &received, order.payload),
        late_bps: rate(received.late_received, received.late_span_ns, order.payload),
        zero,
    })
}

/// Rate of datagrams that followed a first one.
fn rate(datagrams: u64, span_ns: u64, payload: u32) -> Option<f64> {
    (span_ns > 0 && datagrams > 0)
        .then(|| datagrams as f64 * f64::from(payload) * 8e9 / span_ns as f64)
}

fn compose(sent: &UdpOutcome, received: &UdpOutcome, payload: u32) -> Udp {
    let lost = sent.sent.saturating_sub(received.received);
    let interval = stats::wilson(lost, sent.sent);
    // Those after the highest that arrived are a run of their own.
    let tail = sent.sent.saturating_sub(received.highest);
    Udp {
        payload,
        sent: sent.sent,
        received: received.received,
        lost: lost as f64 / sent.sent.max(1) as f64,
        lost_low: interval.map(|i| i.low),
        lost_high: interval.map(|i| i.high),
        reordered: received.reordered,
        duplicates: received.duplicates,
        jitter_us: (received.received > 1).then_some(received.jitter_ns as f64 / 1e3),
        sent_bps: rate(sent.sent, sent.span_ns, payload).unwrap_or(0.0),
        received_bps: rate(
            received.received.saturating_sub(1),
            received.span_ns,
            payload,
        )
        .unwrap_or(0.0),
        refused: sent.refused,
        longest_loss: Some(received.longest_loss.max(tail)),
        loss_runs: Some(received.loss_runs + u64::from(tail > 0)),
    }
}
