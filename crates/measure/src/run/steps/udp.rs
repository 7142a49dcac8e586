//! UDP at one rate.

use std::time::Duration;

use analysis::datagrams;
use model::{
    net::Direction,
    run::{self, Key, LayerAddress, Sample, StepKind},
};
use sys::{clock::Instant, socket};
use traffic::{
    admission::Lease,
    load::udp::{Config, UdpLoad},
    wire::{
        datagram::DATA_HEADER,
        message::{UdpOrder, UdpOutcome},
    },
};

use super::{
    Blank, Cost, Measure, Step,
    loaded::Context,
    probes::{self, Running},
};
use crate::{
    far::{self, Action, FarError},
    run::{
        bench::{Bench, Live},
        task::Task,
    },
};

/// Bounds of the wait for datagrams still in flight when the sender has ended.
const IN_FLIGHT: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];

/// UDP at one rate.
pub(super) struct Udp {
    pub(super) direction: Direction,
    /// Bit/s of payload.
    pub(super) rate_bps: u64,
    /// Payload bytes of a datagram; absent = the largest that is not fragmented.
    pub(super) payload: Option<u32>,
}

/// Results of both ends about the datagrams.
pub(super) struct Seen {
    udp: run::Udp,
    context: Context,
}

impl Step for Udp {
    fn kind(&self) -> StepKind {
        StepKind::Udp
    }

    fn directions(&self) -> Vec<Option<Direction>> {
        vec![Some(self.direction)]
    }

    fn distinguish(&self, key: &mut Key) {
        key.rate_bps = Some(self.rate_bps);
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: duration_s,
        }
    }

    fn rate_bps(&self, _capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        Some(self.rate_bps as f64)
    }
}

impl Measure for Udp {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let probing = probes::start(bench, &task.layer)?;
        let span = Duration::from_secs_f64(task.step.duration_s);
        let mark = bench.mark()?;
        let offer = Offer {
            direction: self.direction,
            rate_bps: self.rate_bps,
            payload: self
                .payload
                .unwrap_or_else(|| largest_payload(bench, &task.layer)),
            span,
        };
        let delivery = send(bench, &task.layer, offer, &probing)?;
        let near = mark.evidence();
        let far = bench.far.evidence()?;
        let probes = probing.finish(bench, delivery.zero, [0, span.as_micros() as i64])?;
        Ok(Seen {
            udp: delivery.udp,
            context: Context {
                load_at_us: bench.us_at(delivery.zero),
                probes,
                near,
                far,
            },
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        let sample = seen.context.apply(blank.of(Some(self.direction)));
        vec![Sample {
            udp: Some(seen.udp),
            ..sample
        }]
    }
}

/// A rate and its duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) direction: Direction,
    pub(crate) rate_bps: u64,
    pub(crate) payload: u32,
    pub(crate) span: Duration,
}

/// Delivered part of an offered rate.
pub(crate) struct Delivery {
    pub(crate) udp: run::Udp,
    /// Rate that arrived in the second half of the time, bit/s of payload.
    pub(crate) late_bps: Option<f64>,
    /// Start of the load.
    pub(crate) zero: Instant,
}

/// Payload of the largest datagram that is not fragmented on a layer: from the PMTU search if there
/// was one, else from this host's kernel.
pub(crate) fn largest_payload(bench: &Bench<'_>, layer: &LayerAddress) -> u32 {
    let known = bench.pmtu.get(layer).copied().or_else(|| {
        let socket = socket::udp((layer.near, 0).into()).ok()?;
        socket.connect(bench.target(layer)).ok()?;
        socket::known_mtu(&socket).ok()
    });
    known
        .unwrap_or(1280)
        .clamp(576, 9000)
        .saturating_sub(layer.family.udp_headers())
}

/// Sends at one rate and waits until everything sent has arrived or is lost.
pub(crate) fn send(
    bench: &mut Bench<'_>,
    layer: &LayerAddress,
    offer: Offer,
    probing: &Running,
) -> Result<Delivery, FarError> {
    let order = UdpOrder {
        send: offer.direction == Direction::Down,
        rate_bps: offer.rate_bps,
        payload: offer.payload.max(DATA_HEADER as u32),
        duration_us: offer.span.as_micros() as u64,
    };
    let agreed = bench.far.open(&order)?;
    let address = bench.target(layer);
    let socket = far::datagrams(*agreed, address)?;
    bench.far.start(&agreed)?;
    let config = Config {
        rate_bps: order.rate_bps,
        payload: order.payload as usize,
        zero: Instant::now(),
        lease: Lease::own(offer.span, None, None),
    };
    let zero = config.zero;
    let load = match offer.direction {
        Direction::Up => UdpLoad::send_spaced(socket, config, bench.spacing),
        Direction::Down => UdpLoad::receive(socket, config),
    };
    let load = load.map_err(Action::Udp.failed(address))?;
    probing.watch(bench, offer.span, zero, || load.bytes())?;
    let (rtt_us, _) = probing.live();
    let in_flight = Duration::from_secs_f64(rtt_us.unwrap_or(0.0) * 1.5 / 1e6);
    bench.watch(in_flight.clamp(IN_FLIGHT[0], IN_FLIGHT[1]), Live::default)?;
    // The sender first: it knows the number of bytes sent.
    let (sent, received) = match offer.direction {
        Direction::Up => {
            let sent = load.finish();
            (sent, bench.far.finish(agreed)?)
        }
        Direction::Down => {
            let sent = bench.far.finish(agreed)?;
            (sent, load.finish())
        }
    };
    bench.bytes += sent.sent * u64::from(order.payload);
    Ok(Delivery {
        udp: compose(&sent, &received, order.payload),
        late_bps: datagrams::spaced_bps(
            received.late_received,
            order.payload,
            us(received.late_span_ns),
        ),
        zero,
    })
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// The datagrams as both ends counted them.
fn compose(sent: &UdpOutcome, received: &UdpOutcome, payload: u32) -> run::Udp {
    let decided = datagrams::decided(0, received.highest, Some(sent.sent));
    let lost = datagrams::lost(decided, received.received);
    let interval = datagrams::lost_interval(decided, received.received);
    // Losses after the highest received number are a separate run.
    let tail = datagrams::decided(received.highest, received.highest, Some(sent.sent));
    run::Udp {
        payload,
        sent: sent.sent,
        received: received.received,
        lost: lost.unwrap_or(0.0),
        lost_low: interval.map(|i| i.low),
        lost_high: interval.map(|i| i.high),
        reordered: received.reordered,
        duplicates: received.duplicates,
        jitter_us: (received.received > 1).then_some(received.jitter_ns as f64 / 1e3),
        sent_bps: datagrams::spaced_bps(sent.sent, payload, us(sent.span_ns)).unwrap_or(0.0),
        received_bps: datagrams::spaced_bps(
            received.received.saturating_sub(1),
            payload,
            us(received.span_ns),
        )
        .unwrap_or(0.0),
        refused: sent.refused,
        longest_loss: Some(received.longest_loss.max(tail)),
        loss_runs: Some(received.loss_runs + u64::from(tail > 0)),
    }
}
