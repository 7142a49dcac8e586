//! Moments of one direction of a path.

use analysis::{
    datagrams,
    models::buffer_bytes,
    view::{Datagrams, DirectionView},
};
use model::{
    cell::{Quantiles, Queue, RateSteps},
    run::StepKind,
    text,
    text::{Text, Value},
    wire::Wire,
};

use super::{
    bucket::bucket,
    changes::{Changes, changes},
    estimate::{Estimate, sane},
    held::{Held, held},
    loss::{LossMoments, QueueMoments},
    policed::named,
    queue::{FULL_PACKET, full_us, queues, queues_of_changes},
};
use crate::error::TwinError;

/// Rates that a lab path may have, bit/s.
pub(super) const RATES: [f64; 2] = [1e3, 1e12];

/// Error of a rate that UDP showed, as a share: in the lab, where no program waits for a processor,
/// the largest of 97 in 100 on the paths of draws 6 and 7 (docs/accuracy.md), and between hosts.
const IN_LAB: f64 = 0.005;
const OF_HOSTS: f64 = 0.01;

/// Error of the mean of a rate that changes, as a share: other loads meet other parts of its
/// course.
const OF_CHANGES: f64 = 0.1;
/// Error of a buffer by the smoothed round trip, while the rate changes.
const OF_WAITING: f64 = 0.5;

/// Capacity of a buffer that nothing filled: the assumed value and the maximum, as multiples of its
/// observed content.
const MAY_HOLD: [f64; 2] = [1.4, 4.0];

/// Properties of one direction of a Run.
#[derive(Clone, Debug, PartialEq)]
pub struct LineMoments {
    /// Rate of the bottleneck, bit/s with Ethernet headers.
    pub rate_bps: Estimate,
    /// Its changes over time, which repeat; absent = constant, as far as the loads show.
    pub rate_steps: Option<RateSteps>,
    /// True if no load reached the rate, so that it may be higher.
    pub rate_is_least: bool,
    /// Capacity of the queue, bytes with Ethernet headers; absent = no load shows it.
    pub buffer_bytes: Option<Estimate>,
    /// True if nothing filled it, so that the lower bound is all that is known.
    pub buffer_is_least: bool,
    /// Burst of a policer, bytes.
    pub burst_bytes: Option<Estimate>,
    /// Bytes that the shaper sends at once after a pause, with Ethernet headers; absent = no more
    /// than a few packets.
    pub bucket_bytes: Option<f64>,
    /// Loss that is not the queue's.
    pub loss: LossMoments,
    /// Distribution of the added delay; absent = uniform, as [`super::Moments::jitter_s`].
    pub jitter_quantiles: Option<Quantiles>,
    /// Share of packets that overtake the delay.
    pub reorder: f64,
    /// The queues that could be, the likeliest first.
    pub queues: Vec<Queue>,
}

impl LineMoments {
    pub(super) fn of(
        dir: &DirectionView<'_>,
        [rtt_s, jitter_s]: [f64; 2],
        wire: Wire,
        notes: &mut Vec<Text>,
    ) -> Result<Self, TwinError> {
        let named = named(dir, wire);
        let by_tcp = named.bucket.filter(|_| dir.sweep().is_none());
        let course = changes(dir, wire);
        let (rate_bps, rate_is_least) = match (&course, by_tcp) {
            (Some(course), _) => (Estimate::around(course.mean_bps, OF_CHANGES), false),
            (None, Some((rate_bps, _))) => (rate_bps, false),
            (None, None) => rate(dir, wire),
        };
        notes.extend(course.as_ref().map(|course| course.note(dir.direction)));
        sane("a rate in bit/s", rate_bps.value, RATES[0], RATES[1])?;
        if rate_is_least {
            notes.push(text!(
                "{direction}: no UDP load above the path's capacity, so its rate is at least that of TCP",
                direction = dir.direction
            ));
        }
        let rises = dir.rises().unwrap_or_default();
        let queues = match course {
            Some(_) => queues_of_changes(&rises),
            None => queues(&rises, named.dropper),
        };
        let policed = queues.first() == Some(&Queue::Policer);
        let behind = QueueMoments::of(&rises, &queues, rate_bps.value);
        let loss = LossMoments::of(dir, rtt_s, policed, &behind);
        sane("a share of loss", loss.share.value, 0.0, 0.9)?;
        if loss.packets == 0.0 {
            notes.push(text!(
                "{direction}: no load below the path's capacity counts lost packets, so loss outside of the queue is unknown, and at most that of TCP, {share}",
                direction = dir.direction,
                share = Value::Share(loss.share.high)
            ));
        }
        let buffer_bytes = match &course {
            Some(course) => waiting(course),
            None => {
                let held = held(dir, wire, rate_bps.value, &loss);
                buffer(&held, full_us(&rises).map(|us| us / 1e6), rate_bps.value)
            }
        };
        if let Some(Buffer::AtLeast(bytes)) = buffer_bytes
            && queues.first() == Some(&Queue::Fifo)
        {
            notes.push(text!(
                "{direction}: nothing filled the queue, which holds at least {bytes}; with a larger queue, a remedy may have more effect than predicted",
                direction = dir.direction,
                bytes = Value::Bytes(bytes)
            ));
        }
        if buffer_bytes.is_none() && queues.first() == Some(&Queue::Fifo) {
            notes.push(text!(
                "{direction}: no load shows the size of the queue, which is assumed to be about the bandwidth-delay product",
                direction = dir.direction
            ));
        }
        Ok(Self {
            rate_bps,
            rate_steps: course.as_ref().map(|course| course.steps.clone()),
            rate_is_least,
            buffer_bytes: buffer_bytes.map(Buffer::estimate),
            buffer_is_least: matches!(buffer_bytes, Some(Buffer::AtLeast(_))),
            burst_bytes: burst(dir, wire, rate_bps.value)
                .or_else(|| by_tcp.map(|(_, burst_bytes)| burst_bytes)),
            bucket_bytes: bucket(dir, wire, rate_bps.value, jitter_s)
                .filter(|_| !policed && course.is_none()),
            loss,
            jitter_quantiles: None,
            reorder: reorder(dir, rtt_s),
            queues,
        })
    }
}

/// The buffer from what waited while the rate changed.
fn waiting(course: &Changes) -> Option<Buffer> {
    let least = 10.0 * FULL_PACKET;
    (course.waiting_bytes > least).then_some(Buffer::Is(course.waiting_bytes, OF_WAITING))
}

/// The rate of the bottleneck, and whether it may be higher.
pub(super) fn rate(dir: &DirectionView<'_>, wire: Wire) -> (Estimate, bool) {
    let capacity = dir.line_capacity().unwrap_or_default();
    let value = wire.rate(capacity.bps);
    let error = if dir.view.lab() { IN_LAB } else { OF_HOSTS };
    let [low, high] = match (capacity.is_least, dir.sweep()) {
        (false, Some(sweep)) => {
            let [least, most] = corrected(&sweep.below);
            [(1.0 - error) * least, (1.0 + error) * most]
        }
        (false, None) => [1.0 - error, 1.0 + error],
        (true, Some(_)) => [1.0 - error, 2.0],
        (true, None) => [0.98, 1.3],
    };
    let rate = Estimate {
        value,
        low: value * low,
        high: value * high,
    };
    (rate, capacity.is_least)
}

/// Bounds of a rate that was corrected by the loss below it, as factors: by chance, a share of the
/// datagrams that counts more or fewer of them is lost.
fn corrected(below: &Datagrams) -> [f64; 2] {
    if below.lost <= 0.0 {
        return [1.0; 2];
    }
    let (least, most) = below.loss_interval();
    let arrives = 1.0 - below.loss();
    [least, most].map(|lost| arrives / (1.0 - lost).max(0.5))
}

/// Knowledge about a buffer, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Buffer {
    /// It overflowed.
    Is(f64, f64),
    /// This much was in it, and it was not full.
    AtLeast(f64),
}

impl Buffer {
    fn estimate(self) -> Estimate {
        match self {
            // A queue is full as soon as the next packet does not fit.
            Self::Is(bytes, share) => Estimate {
                high: bytes * (1.0 + share) + FULL_PACKET,
                ..Estimate::around(bytes, share)
            },
            Self::AtLeast(bytes) => Estimate {
                value: bytes * MAY_HOLD[0],
                low: bytes,
                high: bytes * MAY_HOLD[1],
            },
        }
    }
}

/// The buffer: the best estimate from its content after overloads that filled it; else a lower
/// bound. Without overloads, from the delay that TCP adds.
fn buffer(held: &[Held], delay_s: Option<f64>, rate_bps: f64) -> Option<Buffer> {
    let delayed = delay_s.map(|s| buffer_bytes(s, rate_bps));
    let least = 10.0 * FULL_PACKET;
    let full = held.iter().filter(|h| h.full && h.bytes > least);
    if let Some(best) = full.min_by(|a, b| a.error.total_cmp(&b.error)) {
        return Some(Buffer::Is(best.bytes, best.error.min(0.9)));
    }
    if held.is_empty() || held.iter().any(|h| h.full) {
        // TCP alone shows a peak that it may not have reached.
        return delayed.map(|bytes| Buffer::Is(bytes, 0.35));
    }
    let known = held.iter().map(|h| h.bytes * (1.0 - h.error.min(0.9)));
    let most = known.chain(delayed).reduce(f64::max);
    most.filter(|bytes| *bytes > least).map(Buffer::AtLeast)
}

/// Returns the bytes a token bucket let through beyond the rate when more was offered for the first
/// time.
fn burst(dir: &DirectionView<'_>, wire: Wire, rate_bps: f64) -> Option<Estimate> {
    let samples = dir.view.samples();
    let sweep = samples
        .filter(|s| s.key.step == StepKind::UdpSweep && s.key.direction == Some(dir.direction))
        .find(|s| !s.sweep.is_empty())?;
    let first = sweep
        .sweep
        .iter()
        .map(|s| &s.udp)
        .find(|udp| udp.payload > 0 && udp.sent_bps * 1.05 > rate_bps && udp.lost > 0.02)?;
    let packet = f64::from(first.payload + dir.view.family.udp_headers());
    let carried = buffer_bytes(datagrams::span_s(first), rate_bps);
    let extra = first.received as f64 * wire.bytes(packet) - carried;
    // TCP does not work with a policer whose bucket is smaller than a few packets.
    let least = 10.0 * FULL_PACKET;
    Some(Estimate {
        value: extra.max(least),
        low: (0.5 * extra).max(least),
        high: (2.0 * extra).max(4.0 * least),
    })
}

/// Share of packets that skip the delay, from the share that was overtaken: with n packets in the
/// delay at a time, a packet that does not skip is passed by one of the n behind it with the chance
/// 1 - (1-p)^n.
fn reorder(dir: &DirectionView<'_>, rtt_s: f64) -> f64 {
    let Some(sweep) = dir.sweep() else { return 0.0 };
    let seen = sweep.below.reordered_share();
    // Fewer than a handful may be a route that changed.
    if sweep.below.reordered < 5.0 || sweep.below.payload <= 0.0 {
        return 0.0;
    }
    let in_delay = sweep.below_bps / (sweep.below.payload * 8.0) * rtt_s / 2.0;
    let overtaken = |p: f64| (1.0 - p) * (1.0 - (1.0 - p).powf(in_delay));
    let (mut low, mut high) = (0.0_f64, 0.5_f64);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if overtaken(middle) < seen {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(bytes: f64, full: bool) -> Held {
        Held {
            bytes,
            error: 0.1,
            full,
        }
    }

    /// Bug: of a line of 10 Mbit/s with 0.5 % of loss, a sweep that lost 1.2 % of its datagrams by
    /// chance showed 10.07 Mbit/s, known to half of a per cent.
    #[test]
    fn a_rate_corrected_by_few_losses_is_as_uncertain_as_they_are() {
        let below = Datagrams {
            sent: 1_000.0,
            lost: 12.0,
            ..Datagrams::default()
        };
        let [least, most] = corrected(&below);
        assert!(
            least * (1.0 - IN_LAB) * 10.07e6 < 10e6 && most > 1.005,
            "{least} {most}"
        );
        assert_eq!(corrected(&Datagrams::default()), [1.0; 2]);
    }

    #[test]
    fn a_buffer_that_overflowed_is_its_content_at_any_delay_of_the_probes() {
        // A queue of 125 kB at 5 Mbit/s, whose probes waited 184 ms in the median while it filled.
        let steps = [held(124_900.0, true), held(123_000.0, true)];
        let found = buffer(&steps, Some(0.184), 5e6).unwrap().estimate();
        assert!(found.low < 125_000.0 && 125_000.0 < found.high, "{found:?}");
    }

    #[test]
    fn a_buffer_that_nothing_filled_may_be_larger_than_its_content() {
        // 400 ms at 20 Mbit/s are 1 MB, of which an overload of 1.5 s filled 933 kB.
        let steps = [held(812_700.0, false), held(933_000.0, false)];
        let found = buffer(&steps, Some(0.197), 20e6).unwrap().estimate();
        assert!(found.low < 1e6 && 1e6 < found.high, "{found:?}");
        assert!(found.high > 2.0 * found.low);
    }

    #[test]
    fn a_delay_of_tcp_without_a_flood_is_an_uncertain_buffer() {
        let found = buffer(&[], Some(0.1), 8e6).unwrap().estimate();
        assert!(found.low < 70_000.0 && found.high > 130_000.0);
    }
}
