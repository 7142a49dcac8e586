//! Delays with their faults, as netem takes them.

use model::{
    cell::{Line, Loss, Quantiles},
    net::Direction,
    units::Seed,
};
use sys::tc::{self, Handle, Qdisc};

use super::{AttachedQueue, INNER_QUEUE, root};

/// Maximum packets in a delay: so high that it is never the limit.
pub(crate) const DELAY_LIMIT: u32 = 10_000_000;

/// A rate no path has; see [`delay`].
pub(crate) const FAST: u64 = 100_000_000_000;

/// The delay of a line with its faults. A zero delay without faults needs no queue.
///
/// netem sends packets in the order of their times, so varying delays reorder them. With a rate it
/// never sends one before its predecessor (`netem_enqueue`, net/sched/sch_netem.c, Linux 7.2);
/// [`FAST`] is that rate: one packet at 100 Gbit/s takes a tenth of a microsecond.
///
/// Slots are a separate netem inside the first one, which passes on each packet at its own time: in
/// a single netem the slots would be counted from a packet's arrival instead (`netem_dequeue`).
pub(crate) fn delay(line: &Line, seed: Seed, direction: Direction) -> Vec<AttachedQueue> {
    let wanted = !line.delay.is_zero() || netem_loss(line.loss).is_some() || !is_pure(line);
    let slots = line.slots.map(|slot| AttachedQueue {
        parent: Handle::new(1, 1),
        handle: INNER_QUEUE,
        qdisc: Qdisc::Netem(tc::Netem {
            limit_packets: Some(DELAY_LIMIT),
            slot_ns: Some(slot.as_nanos() as u64),
            seed: Some(netem_seed(seed, direction)),
            ..tc::Netem::default()
        }),
    });
    let delay = wanted.then(|| root(Qdisc::Netem(netem(line, netem_seed(seed, direction)))));
    delay.into_iter().chain(slots).collect()
}

/// The delay of a line with all faults but its slots.
pub(super) fn netem(line: &Line, seed: u64) -> tc::Netem {
    let reorder = (!line.reorder.is_zero()).then(|| tc::Reorder {
        probability: line.reorder.get(),
        gap: 1,
    });
    let varies = !line.jitter.is_zero() || line.jitter_quantiles.is_some();
    let in_order = varies && reorder.is_none();
    let jitter = match &line.jitter_quantiles {
        Some(quantiles) => Jitter::of(quantiles),
        None => Jitter {
            width_ns: line.jitter.as_nanos() as u64,
            ..Jitter::default()
        },
    };
    tc::Netem {
        delay_ns: line.delay.as_nanos() as u64 + jitter.offset_ns,
        jitter_ns: jitter.width_ns,
        distribution: jitter.distribution,
        limit_packets: Some(DELAY_LIMIT),
        loss: netem_loss(line.loss),
        reorder,
        duplicate: line.duplicate.get(),
        rate_bps: in_order.then_some(FAST),
        seed: Some(seed),
        ..tc::Netem::default()
    }
}

/// Returns true if all packets of a line take the same time and none is lost by chance.
pub(crate) fn is_pure(line: &Line) -> bool {
    netem_loss(line.loss).is_none()
        && line.jitter.is_zero()
        && line.jitter_quantiles.is_none()
        && line.slots.is_none()
        && line.reorder.is_zero()
        && line.duplicate.is_zero()
}

/// A varying delay as netem takes it.
#[derive(Debug, Default, PartialEq)]
struct Jitter {
    /// Added to the delay, ns.
    offset_ns: u64,
    /// Width of the deviation, ns.
    width_ns: u64,
    /// Its distribution; empty = uniform.
    distribution: Vec<i16>,
}

impl Jitter {
    /// Values of a distribution: enough for the 99.9 % quantile to have four of them.
    const VALUES: usize = 4096;

    /// A distribution by its quantiles, as values in the middle of parts of equal probability.
    ///
    /// The range of the delay is laid around its middle, to use all 16 bits of a value: netem adds
    /// `jitter * value / 8192` (`tabledist`, net/sched/sch_netem.c, Linux 7.2).
    fn of(quantiles: &Quantiles) -> Self {
        let most_ns = quantiles.most().as_nanos() as u64;
        let offset_ns = most_ns.div_ceil(2);
        let scale = i64::from(tc::DISTRIBUTION_SCALE);
        let width_ns = (offset_ns * scale as u64).div_ceil(i16::MAX as u64);
        let value = |index: usize| {
            let share = (index as f64 + 0.5) / Self::VALUES as f64;
            let added = quantiles.at(share).as_nanos() as i64 - offset_ns as i64;
            let value = (added * scale) as f64 / width_ns as f64;
            // Within the range by the choice of the width; the cast saturates.
            value.round() as i16
        };
        Self {
            offset_ns,
            width_ns,
            distribution: (0..Self::VALUES).map(value).collect(),
        }
    }
}

/// Random loss as netem takes it; periodic loss is an action.
pub(crate) fn netem_loss(loss: Loss) -> Option<tc::Loss> {
    match loss {
        Loss::None | Loss::Every(_) => None,
        Loss::Random(p) => Some(tc::Loss::Random(p.get())),
        Loss::GilbertElliott { p, r, bad, good } => Some(tc::Loss::Gemodel(tc::Gemodel {
            p: p.get(),
            r: r.get(),
            bad_loss: bad.get(),
            good_loss: good.get(),
        })),
    }
}

/// Seed of the random numbers of a line's netem: the same for every setting of a matrix, so that
/// each has the same losses, but different for each direction.
pub(crate) fn netem_seed(seed: Seed, direction: Direction) -> u64 {
    let salt = match direction {
        Direction::Down => 0x9e37_79b9_7f4a_7c15,
        Direction::Up => 0xd134_2543_de82_ef95,
    };
    // splitmix64's finaliser: consecutive seeds must not give correlated numbers.
    let mut z = seed.0.wrapping_add(salt);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{cell::Quantile, units::Share};

    use super::*;

    /// Computes the delay that netem makes of a value (`tabledist`).
    fn added_ns(jitter: &Jitter, value: i16) -> i64 {
        let scale = i64::from(tc::DISTRIBUTION_SCALE);
        let (width, value) = (jitter.width_ns as i64, i64::from(value));
        let x = (width % scale) * value;
        let half = if x >= 0 { scale / 2 } else { -scale / 2 };
        (x + half) / scale + (width / scale) * value + jitter.offset_ns as i64
    }

    #[test]
    fn the_table_of_netem_has_the_quantiles_of_the_spec() {
        let all = [(0.5, 1u64), (0.9, 4), (0.99, 20)].map(|(share, ms)| Quantile {
            share: Share::new(share).unwrap_or(Share::ONE),
            delay: Duration::from_millis(ms),
        });
        let jitter = Jitter::of(&Quantiles(all.to_vec()));
        for quantile in all {
            let index = (quantile.share.get() * Jitter::VALUES as f64) as usize;
            let got = added_ns(&jitter, jitter.distribution[index]);
            let expected = quantile.delay.as_nanos() as i64;
            assert!((got - expected).abs() < 60_000, "{quantile:?}: {got}");
        }
        let (least, most) = (
            jitter.distribution[0],
            jitter.distribution[Jitter::VALUES - 1],
        );
        assert!(added_ns(&jitter, least).abs() < 2_000);
        assert!((added_ns(&jitter, most) - 20_000_000).abs() < 2_000);
    }
}
