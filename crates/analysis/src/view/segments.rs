//! The two segments of a path: from the near end to the third point, and from there on.
//!
//! Delay added by the load to the round trip of the probes to the third point is added on the first
//! segment; delay added to the probes to the far end, on both. The difference in delay and in loss
//! belongs to the second segment. Both probes share a clock and the time of the load, so no clock
//! offset is in the difference.

use model::{
    net::Direction,
    run::{Probes, Sample, Spread, StepKind},
};

use super::{DirectionView, View, kind_of};
use crate::{figures::added_us, models, share::share, summary};

/// A path by segments under load in a direction.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Numbers of the samples of the load.
    pub samples: Vec<u32>,
    /// From the near end to the third point.
    pub near: Segment,
    /// From the third point to the far end.
    pub beyond: Segment,
    /// Both together: the whole path.
    pub whole: Segment,
    /// Share of the third point's probes that was lost while the path was idle: a host that answers
    /// only some probes causes this loss by itself.
    pub idle_lost: Option<f64>,
}

/// A segment under load.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Delay added by the load to the round trip, µs, over its repeats.
    pub added_us: Spread,
    /// Share of probes that is lost, both ways together.
    pub lost: Share,
    /// Goodput of TCP, bit/s; absent where the segment alone cannot be loaded.
    pub goodput_bps: Option<Spread>,
}

/// Shares of the probes that are lost while no queue is full, by segment.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// From the near end to the third point.
    pub near: Share,
    /// From the third point to the far end.
    pub beyond: Share,
    /// Both together.
    pub whole: Share,
}

/// A share with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Share {
    /// From the lost and all probes of each piece.
    fn of(pieces: &[(u64, u64)]) -> Option<Self> {
        let (lost, sent) = pieces
            .iter()
            .fold((0, 0), |all, p| (all.0 + p.0, all.1 + p.1));
        let interval = stats::clustered(pieces).or_else(|| stats::clopper_pearson(lost, sent))?;
        Some(Self {
            value: share(lost as f64, sent as f64)?,
            low: interval.low,
            high: interval.high,
        })
    }

    /// The loss of the second of two consecutive stages, from that of both and of the first: a
    /// share of the packets that pass the first. The interval is from the extremes, and so wider
    /// than 95 %.
    fn beyond(whole: Self, near: Self) -> Self {
        let rest =
            |whole: f64, near: f64| ((whole - near) / (1.0 - near).max(1e-9)).clamp(0.0, 1.0);
        Self {
            value: rest(whole.value, near.value),
            low: rest(whole.low, near.high),
            high: rest(whole.high, near.low),
        }
    }
}

impl View<'_> {
    /// Base round trip to the third point, µs, by the rule of [`Self::base_us`]: the idle median,
    /// or the smallest of the Run where others queued while the path was idle. Otherwise their
    /// queue would count in one segment only.
    fn third_base_us(&self) -> Option<f64> {
        let idle = self.samples().filter(|s| s.key.step == StepKind::Idle);
        let idle: Vec<f64> = idle.filter_map(|s| s.third.as_ref()?.p50_us).collect();
        let least = || {
            let all = self.samples().filter_map(|s| s.third.as_ref()?.min_us);
            all.reduce(f64::min)
        };
        match self.idle_rise_us() {
            Some(_) => least(),
            None => stats::median(&idle).or_else(least),
        }
    }

    /// Loss of the probes by segment, without that of full queues: while the path is idle, and
    /// beside TCP that slows down at each loss. Where packets are lost at random, such TCP leaves
    /// the queues empty; BBR does not slow down, and fills a short queue on the segment without
    /// loss. Both directions count, because each probe crosses both. `None` without a third point.
    pub fn lost_by_segment(&self) -> Option<Lost> {
        let quiet = |s: &&Sample| match s.key.step {
            StepKind::Idle => true,
            StepKind::Tcp => models::is_loss_based(&kind_of(s).0),
            _ => false,
        };
        let both: Vec<_> = self.samples().filter(quiet).filter_map(both).collect();
        Lost::of(&both)
    }
}

impl Lost {
    /// From probes over the whole path and to the third point.
    fn of(both: &[(&Probes, &Probes)]) -> Option<Self> {
        let pieces = |of: fn(&(&Probes, &Probes)) -> (u64, u64)| both.iter().map(of).collect();
        let whole: Vec<(u64, u64)> = pieces(|(path, _)| pieces_of(path));
        let near: Vec<(u64, u64)> = pieces(|(_, third)| pieces_of(third));
        let (whole, near) = (Share::of(&whole)?, Share::of(&near)?);
        Some(Self {
            near,
            beyond: Share::beyond(whole, near),
            whole,
        })
    }
}

impl DirectionView<'_> {
    /// The path by segments; `None` if no third point was probed beside this direction's load.
    pub fn segments(&self) -> Option<Segments> {
        let load = self.default_load()?;
        let loaded = self.samples_of(&load);
        let (base_us, near_base_us) = (self.view.base_us()?, self.view.third_base_us()?);
        let added = |s: &&Sample| {
            let (whole, third) = (s.probes.as_ref()?, s.third.as_ref()?);
            let whole = added_us(whole.p50_us?, base_us);
            let near = added_us(third.p50_us?, near_base_us);
            Some([whole, near, (whole - near).max(0.0)])
        };
        let added: Vec<[f64; 3]> = loaded.iter().filter_map(added).collect();
        let spread = |part: usize| {
            let values: Vec<f64> = added.iter().map(|all| all[part]).collect();
            summary::spread(&values, [0.0, f64::INFINITY])
        };
        let tcp = self.tcp_samples().into_iter();
        let lost = Lost::of(&tcp.filter_map(both).collect::<Vec<_>>())?;
        let segment = |part, lost, goodput_bps| {
            Some(Segment {
                added_us: spread(part)?,
                lost,
                goodput_bps,
            })
        };
        let goodput = summary::spread(&load.goodputs, [0.0, f64::INFINITY]);
        Some(Segments {
            samples: load.samples.clone(),
            whole: segment(0, lost.whole, goodput)?,
            near: segment(1, lost.near, self.third_goodput_bps())?,
            beyond: segment(2, lost.beyond, None)?,
            idle_lost: self.third_idle_lost(),
        })
    }

    fn third_goodput_bps(&self) -> Option<Spread> {
        let rates = &self.view.third()?.rates;
        let own = |direction: Direction| direction == self.direction;
        rates
            .iter()
            .find(|r| own(r.direction))
            .map(|r| r.goodput_bps)
    }

    fn third_idle_lost(&self) -> Option<f64> {
        let idle = self.view.samples().filter(|s| s.key.step == StepKind::Idle);
        let pieces: Vec<(u64, u64)> = idle
            .filter_map(|s| Some(pieces_of(s.third.as_ref()?)))
            .collect();
        Share::of(&pieces).map(|share| share.value)
    }
}

/// The probes of a sample over the whole path, and to the third point.
fn both(sample: &Sample) -> Option<(&Probes, &Probes)> {
    Some((sample.probes.as_ref()?, sample.third.as_ref()?))
}

/// Lost probes, and all probes.
fn pieces_of(probes: &Probes) -> (u64, u64) {
    (probes.sent.saturating_sub(probes.n), probes.sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64) -> Share {
        Share {
            value,
            low: value,
            high: value,
        }
    }

    /// Two stages that lose 10 % and 20 % of the packets that reach them lose 28 % together.
    #[test]
    fn the_loss_beyond_is_a_share_of_the_packets_that_arrive_there() {
        let beyond = Share::beyond(exact(0.28), exact(0.1));
        assert!((beyond.value - 0.2).abs() < 1e-12, "{beyond:?}");
        assert_eq!(Share::beyond(exact(0.1), exact(0.12)).value, 0.0);
    }
}
