//! Queues shorter than what a sender sends at once.

use analysis::view::{DirectionView, Load, Sweep};
use model::{findings::Value, text};

use super::signs::{few_wait, losses};
use crate::{
    bound,
    causes::{FULL, least_gain, percent, rate},
    verdict::{Figure, Strength, Verdict, confirmed, figure},
};

/// Share of bbr's segments that it sends again from which single losses are not the reason: it
/// takes a path with as many for policed (Linux net/ipv4/tcp_bbr.c, `bbr_lt_loss_thresh`, 50/256).
const LOSES: f64 = 50.0 / 256.0;

/// A load of bbr whose bursts overflow the queue.
pub(super) struct Bursts {
    bbr: Load,
    again: f64,
}

impl Bursts {
    /// Returns what bbr shows beside the default load: it loses many packets without filling a
    /// queue, and carries hardly more, if it is not the default itself.
    pub(super) fn of(dir: &DirectionView, load: &Load, base_us: f64) -> Option<Self> {
        let bbr = dir.load_with("bbr")?;
        let again = bbr.retransmitted_segments()?;
        let filled = dir.utilization(load)?;
        let same = bbr.cc == load.cc && bbr.flows == load.flows;
        let hardly = || dir.gain(&bbr, load).is_some_and(|g| g < least_gain(filled));
        let overflow = again >= LOSES && few_wait(&bbr, base_us);
        (overflow && (same || hardly())).then_some(Self { bbr, again })
    }

    /// The finding, of a load that fills a share of what the path carries, bit/s.
    pub(super) fn verdict(
        &self,
        dir: &DirectionView,
        load: &Load,
        sweep: &Sweep,
        [filled, carries]: [f64; 2],
        [base_us, signals]: [f64; 2],
    ) -> Verdict {
        let again = Value::Share(self.again);
        let mut evidence = vec![
            figure(text!("segments retransmitted by {cc}", cc = "bbr"), again)
                .bound(bound::at_least(Value::Share(LOSES)))
                .samples(&self.bbr.samples)
                .decisive(),
            figure(text!("share of the capacity used"), Value::Share(filled))
                .bound(bound::below(Value::Share(FULL)))
                .samples(&load.samples),
            figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
        ];
        evidence.extend(losses(dir, load, sweep, base_us, signals));
        let text = text!(
            "bbr, which does not mind single losses, sends {again} of its segments again although UDP at up to {below} loses none: what is sent at once does not fit the queue, and {cc} reaches {filled} of the path's {carries}",
            again = percent(self.again),
            below = rate(sweep.below_bps),
            cc = &load.cc,
            filled = percent(filled),
            carries = rate(carries)
        );
        let queued = sweep.waits_above() == Some(true);
        confirmed(
            Strength::of(&[queued, self.again >= 1.5 * LOSES]),
            text,
            evidence,
        )
    }
}
