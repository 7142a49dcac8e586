//! Common parts of the bufferbloat rules.

use super::{limited, others::Others, percent, time};
use crate::{
    cause::Need,
    verdict::{Verdict, ruled_out, undecided},
};
use analysis::{
    models,
    view::{DirectionView, Idle, Load},
};
use model::{
    findings::Severity,
    text,
    text::{Text, Value},
};

/// Added delay under load that is reported, µs: the boundary between grades A and B of common
/// tests.
pub(super) const WARN_US: f64 = 30_000.0;
/// Added delay under load that requires action, µs.
pub(super) const ACT_US: f64 = 60_000.0;

/// Packets of a load that wait at a bottleneck even with the shortest queue: the window moves
/// between the two to which it falls at most, and the five of which one is lost and four let fast
/// retransmit repair it (RFC 5681 sections 3.1 and 3.2). On a line of 256 kbit/s each takes 47 ms.
const MIN_PACKETS: f64 = 3.5;

/// The same on a path that holds no packet itself, as far as it requires no action. CoDel drops no
/// packet while at most one waits, and then one in 100 ms at first (RFC 8289 sections 4.4 and 5.3):
/// behind it, 3.7 packets of CUBIC waited at 1.4 Mbit/s, and 4.1 of Reno at 1 Mbit/s.
const MIN_SHORT_PACKETS: f64 = 4.5;

/// The same of BBR, which keeps more in flight on a path that holds little more than a packet,
/// whatever the queue drops: twice that, which is three packets, and three bursts of two segments,
/// rounded up to an even number, and two more while it probes (`bbr_quantization_budget`,
/// net/ipv4/tcp_bbr.c, Linux 7.2).
const MIN_PACKETS_BBR: f64 = 12.0;

/// Rise of the median under load that a varying delay alone explains, as a multiple of the idle
/// variation (the 95th percentile less the median): where packets keep their order, each of many
/// arrives no earlier than the latest before it. The largest delay is 1.1 variations above the
/// median where one direction's is uniform, and 1.5 where both are; of normal ones the largest of
/// 10 to 30 is 0.9 to 1.2 above it.
const LATE: f64 = 1.5;

/// Share of datagrams lost above the capacity from which the queue was full.
const OVERFLOWS: f64 = 0.05;

/// The added delay from which it is reported, and from which it requires action.
pub(super) fn levels() -> Text {
    text!(
        "above {warn}; act above {act}",
        warn = time(WARN_US),
        act = time(ACT_US)
    )
}

/// The bound of [`fine_us`].
pub(super) fn fine(dir: &DirectionView, load: &Load) -> Text {
    text!(
        "below {bound}, or the time of {packets} packets",
        bound = time(WARN_US),
        packets = Value::Count(min_packets(dir, load))
    )
}

/// Packets that the congestion control of a load keeps in flight at least with a short queue. Where
/// another one, which slows down at losses, fills a deep queue, BBR's packets wait there as well.
fn min_packets(dir: &DirectionView, load: &Load) -> f64 {
    let fills = |l: &Load| {
        let most = tolerated_us(dir, l, few_packets(dir, l));
        models::is_loss_based(&l.cc) && dir.added_delay_us(l).is_some_and(|added| added > most)
    };
    match load.cc.as_str() {
        "bbr" if !dir.single_loads().iter().any(fills) => MIN_PACKETS_BBR,
        _ => few_packets(dir, load),
    }
}

/// The same of a congestion control that slows down at losses: [`MIN_PACKETS`], or what the path
/// does not hold of [`MIN_SHORT_PACKETS`], in tenths.
fn few_packets(dir: &DirectionView, load: &Load) -> f64 {
    let short = || {
        let each_us = packet_us(dir, load)?;
        let held = dir.view.base_us()? / each_us;
        Some((MIN_SHORT_PACKETS - held).min(ACT_US / each_us))
    };
    let tenths = |packets: f64| (packets * 10.0).floor() / 10.0;
    MIN_PACKETS.max(short().map_or(0.0, tenths))
}

/// A load that adds delay.
pub(super) struct Bloat {
    /// The load.
    pub load: Load,
    /// Idle latency.
    pub idle: Idle,
    /// Median RTT without any queue, µs.
    pub calm_us: f64,
    /// Increase of the median RTT under load over that, µs.
    pub added_us: f64,
}

/// The delay that TCP adds in a direction; a verdict if that is unknown or small.
pub(super) fn of(dir: &DirectionView) -> Result<Bloat, Verdict> {
    let (Some(load), Some(idle)) = (dir.default_load(), dir.view.idle()) else {
        return Err(undecided(Need::Tcp.missing(), Need::Tcp.settle()));
    };
    let (Some(calm_us), Some(added_us)) = (dir.view.base_us(), dir.added_delay_us(&load)) else {
        return Err(undecided(
            Need::LoadedProbes.missing(),
            Need::LoadedProbes.settle(),
        ));
    };
    let most = fine_us(dir, &load);
    if added_us <= most {
        return Err(ruled_out(text!(
            "the RTT rises by {added} under TCP load; up to {most} is fine",
            added = time(added_us),
            most = time(most)
        )));
    }
    if dir
        .view
        .idle_rise_us()
        .is_some_and(|rise| rise > 0.5 * added_us)
    {
        filled_by_others(dir, added_us)?;
    } else {
        rises_here(dir, added_us)?;
    }
    Ok(Bloat {
        load,
        idle,
        calm_us,
        added_us,
    })
}

/// Tolerated delay added by a load, µs: imperceptible, or needed by a line as slow as this one to
/// send the packets of the smallest window.
pub(super) fn fine_us(dir: &DirectionView, load: &Load) -> f64 {
    tolerated_us(dir, load, min_packets(dir, load))
}

/// The delay of that many packets of a load, if it is perceptible, µs.
fn tolerated_us(dir: &DirectionView, load: &Load, packets: f64) -> f64 {
    let least = packet_us(dir, load);
    least.map_or(WARN_US, |us| WARN_US.max(packets * us))
}

/// Time of a packet of a load on the line, µs.
fn packet_us(dir: &DirectionView, load: &Load) -> Option<f64> {
    let packet = load.mss_bytes() + f64::from(dir.view.family.tcp_headers());
    let carried = dir.carried_bps().filter(|bps| *bps > 0.0)?;
    Some(models::drain_s(packet, carried) * 1e6)
}

/// The verdict if a queue that others fill, before the load as well, is not this direction's.
fn filled_by_others(dir: &DirectionView, added_us: f64) -> Result<(), Verdict> {
    let here = |dir: &DirectionView| {
        let load = dir.default_load();
        load.is_some_and(|load| Others::of(dir, &load).here())
    };
    match (here(dir), here(&dir.reverse())) {
        (true, _) => Ok(()),
        (false, true) => Err(ruled_out(text!(
            "{added} of delay is present without this load, in the other direction, where packets are lost",
            added = time(added_us)
        ))),
        (false, false) => Err(undecided(
            text!(
                "{added} of delay is present without this load, and no loss shows in which direction",
                added = time(added_us)
            ),
            text!("the same plan when nothing else uses the line"),
        )),
    }
}

/// The verdict if the delay added by TCP arises in the other direction, from its acknowledgements.
/// UDP has none, so its overload fills only this direction's queue.
fn rises_here(dir: &DirectionView, added_us: f64) -> Result<(), Verdict> {
    let full = dir
        .sweep()
        .and_then(|sweep| sweep.above)
        .is_some_and(|above| above.lost > OVERFLOWS);
    let (Some(own), Some(back)) = (
        dir.overload_rise_us().filter(|_| full),
        dir.reverse().overload_rise_us(),
    ) else {
        return Ok(());
    };
    if added_us < 2.0 * own + WARN_US || back < 0.5 * added_us {
        return Ok(());
    }
    Err(ruled_out(text!(
        "TCP adds {added}, but a full queue in this direction only {own}: acknowledgements fill the other direction's",
        added = time(added_us),
        own = time(own)
    )))
}

impl Bloat {
    /// The verdict where something else than a long queue of the path may add so little delay.
    pub(super) fn may_be_no_queue(&self, dir: &DirectionView) -> Option<Verdict> {
        if self.acts() {
            return None;
        }
        self.late(dir).or_else(|| self.by_window())
    }

    /// The verdict where the delay of the path varies from packet to packet by as much.
    fn late(&self, dir: &DirectionView) -> Option<Verdict> {
        let by_chance = dir.view.idle_chance_us() > 0.0 && dir.view.idle_rise_us().is_none();
        let varies = self.idle.variation_us().filter(|_| by_chance)?;
        (self.added_us <= LATE * varies).then(|| {
            undecided(
                text!(
                    "the RTT rises by {added} under TCP load, and the idle one varies by {varies} from packet to packet: the many packets of a load arrive with the late ones before them",
                    added = time(self.added_us),
                    varies = time(varies)
                ),
                text!("the same plan when the delay of the path does not vary"),
            )
        })
    }

    /// The verdict where a window of the hosts limits a load that loses nothing: what it allows
    /// waits, behind queue management, too, which drops only what waits for long.
    fn by_window(&self) -> Option<Verdict> {
        let limited = limited::window_share(&self.load);
        (limited > limited::LIMITED && self.load.retransmits == Some(0.0)).then(|| {
            undecided(
                text!(
                    "the RTT rises by {added} under TCP load; the send buffer or the receive window limits the sender for {share} of its busy time, and nothing is lost: this may be what the window allows, and not the depth of the queue",
                    added = time(self.added_us),
                    share = percent(limited)
                ),
                text!("the same load with larger socket buffers"),
            )
        })
    }

    /// Returns true if it requires action.
    pub(super) fn acts(&self) -> bool {
        self.added_us > ACT_US
    }

    /// The verdict with the severity of this delay.
    pub(super) fn graded(&self, verdict: Verdict) -> Verdict {
        match self.acts() {
            true => verdict,
            false => verdict.at(Severity::Low),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: BBR on a line of 3.192 Mbit/s and 0.4 ms keeps eleven or twelve packets in flight, with
    /// any queue, which added 44 ms: "a queue on the path adds high delay".
    #[test]
    fn the_smallest_window_of_bbr_is_no_deep_queue() {
        let ms = |packets: f64| packets * 1514.0 * 8.0 / 3.192e6 * 1e3;
        assert!(ms(MIN_PACKETS_BBR) > 44.0 && ms(MIN_PACKETS) < 15.0);
    }
}
