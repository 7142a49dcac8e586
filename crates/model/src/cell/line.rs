//! Validation of one direction of a path.

use std::time::Duration;

use super::{
    Buffer, ETHERNET_HEADER, LabPath, Line, Loss, Quantiles, Queue, RateSteps, Shaper, TunnelStage,
    bounds::{MAX_BUFFER, MAX_QUANTILE, MAX_SLOT, MAX_STEPS, MIN_STEP},
    collect::Check,
    field::Table,
    rule::Rule,
};
use crate::net::Direction;
use crate::units::{Bytes, Share, show_duration};

pub(super) fn check(path: &LabPath, direction: Direction, check: &mut Check) {
    let line = path.line(direction);
    let field = |leaf| Table::Line(direction).field(leaf);
    check.time(line.delay, Duration::ZERO, field("delay"));
    check.rate(line.rate, field("rate"));
    let rated = line.rate.is_some() || line.queue == Queue::Fifo;
    check.need(rated, field("queue"), Rule::QueueWithoutRate(line.queue));
    if let Some(rule) = buffer_rule(line.buffer, line.queue, path.mtu) {
        check.refuse(field("buffer"), rule);
    }
    check.time(line.jitter, Duration::ZERO, field("jitter"));
    let steady = line.jitter <= line.delay;
    check.need(steady, field("jitter"), Rule::JitterOverDelay(line.delay));
    let order = line.reorder.is_zero() || !line.delay.is_zero();
    check.need(order, field("reorder"), Rule::ReorderWithoutDelay);
    for (share, leaf) in [(line.reorder, "reorder"), (line.duplicate, "duplicate")] {
        check.need(is_share(share), field(leaf), Rule::NoShare(share.get()));
    }
    if let Some(rule) = loss_rule(&line.loss) {
        check.refuse(field("loss"), rule);
    }
    let periodic = matches!(line.loss, Loss::Every(_));
    let after = !(line.faults_first && periodic);
    check.need(after, field("loss"), Rule::PeriodicLossFirst);
    stages(line, path.mtu, direction, check);
}

/// Checks the optional stages.
fn stages(line: &Line, mtu: u32, direction: Direction, check: &mut Check) {
    let field = |leaf| Table::Line(direction).field(leaf);
    let full = Bytes(u64::from(mtu) + ETHERNET_HEADER);
    if let Some(policer) = line.policer {
        check.rate(Some(policer.rate), field("policer"));
        check.size(
            Some(policer.burst),
            full,
            MAX_BUFFER,
            field("policer_burst"),
        );
        let twice = line.queue == Queue::Policer;
        check.need(!twice, field("policer"), Rule::PolicerTwice);
    }
    if let Some(peak) = line.peak {
        check.rate(Some(peak.rate), field("peak"));
        check.size(Some(peak.burst), full, MAX_BUFFER, field("peak_burst"));
        match line.rate {
            None => check.refuse(field("peak"), Rule::PeakWithoutRate),
            Some(rate) => check.need(peak.rate > rate, field("peak"), Rule::PeakBelowRate(rate)),
        }
        let own = matches!(line.queue, Queue::Policer | Queue::Cake);
        check.need(!own, field("peak"), Rule::PeakOfQueue(line.queue));
    }
    let steps = line.rate_steps.as_ref();
    if let Some(rule) = steps.and_then(|steps| steps_rule(line, steps)) {
        check.refuse(field("rate_steps"), rule);
    }
    if let Some(quantiles) = &line.jitter_quantiles {
        let once = line.jitter.is_zero();
        check.need(once, field("jitter_quantiles"), Rule::JitterTwice);
        if let Some(rule) = quantiles_rule(quantiles) {
            check.refuse(field("jitter_quantiles"), rule);
        }
    }
    if let Some(slot) = line.slots {
        check.need(!slot.is_zero(), field("slots"), Rule::NoSlot);
        check.within(
            slot,
            Duration::ZERO,
            MAX_SLOT,
            field("slots"),
            show_duration,
        );
        let alone = line.duplicate.is_zero();
        check.need(alone, field("slots"), Rule::SlotsWithDuplicates);
    }
}

fn steps_rule(line: &Line, steps: &RateSteps) -> Option<Rule> {
    if line.rate.is_none() {
        return Some(Rule::StepsWithoutRate);
    } else if line.queue == Queue::Policer {
        return Some(Rule::StepsOfPolicer);
    } else if line.peak.is_some() {
        return Some(Rule::StepsWithPeak);
    }
    steps_alone_rule(steps)
}

/// The rule that changes of a rate violate at any rate, if any.
pub fn steps_alone_rule(steps: &RateSteps) -> Option<Rule> {
    let all = &steps.steps;
    let Some(last) = all.last() else {
        return Some(Rule::NoSteps);
    };
    if all.len() > MAX_STEPS {
        return Some(Rule::TooManySteps(all.len()));
    }
    if let Some(slow) = all.iter().find(|step| step.rate < MIN_STEP) {
        let (at, rate) = (slow.at, slow.rate);
        return Some(Rule::StepTooSlow { at, rate });
    }
    let wrong = all.windows(2).find(|pair| pair[1].at <= pair[0].at);
    if let Some(wrong) = wrong {
        return Some(Rule::StepsOutOfOrder(wrong[1].at));
    }
    let early = steps.repeat.filter(|&repeat| repeat <= last.at);
    early.map(Rule::RepeatTooEarly)
}

/// The rule that a distribution violates, if any.
pub fn quantiles_rule(quantiles: &Quantiles) -> Option<Rule> {
    let all = &quantiles.0;
    if all.is_empty() {
        return Some(Rule::NoQuantiles);
    }
    if let Some(wrong) = all.iter().find(|quantile| !is_share(quantile.share)) {
        return Some(Rule::NoShare(wrong.share.get()));
    }
    let first = all[0].share.is_zero();
    let grow = all
        .windows(2)
        .all(|pair| pair[0].share.get() < pair[1].share.get() && pair[0].delay <= pair[1].delay);
    if first || !grow {
        return Some(Rule::QuantilesOutOfOrder);
    }
    match quantiles.most() {
        most if most > MAX_QUANTILE => Some(Rule::QuantileTooLong(most)),
        most if most.is_zero() => Some(Rule::NoQuantiles),
        _ => None,
    }
}

/// Checks the stage of a tunnel's packets, or a direction of the line in front of the near end.
pub(super) fn stage(stage: &TunnelStage, mtu: u32, table: Table, check: &mut Check) {
    let field = |leaf| table.field(leaf);
    check.rate(stage.rate, field("rate"));
    if let Some(rule) = buffer_rule(stage.buffer, Queue::Fifo, mtu) {
        check.refuse(field("buffer"), rule);
    }
    let periodic = matches!(stage.loss, Loss::Every(_));
    check.need(!periodic, field("loss"), Rule::PeriodicLossOfStage);
    if let Some(rule) = loss_rule(&stage.loss) {
        check.refuse(field("loss"), rule);
    }
}

/// Checks the shaper of the router between the two lines.
pub(super) fn shaper(
    path: &LabPath,
    shaper: Option<Shaper>,
    direction: Direction,
    check: &mut Check,
) {
    let Some(Shaper { rate, queue }) = shaper else {
        return;
    };
    let field = |leaf| Table::LocalLine(direction).field(leaf);
    check.rate(Some(rate), field("shape"));
    let known = Shaper::takes(queue);
    check.need(known, field("shape_queue"), Rule::ShaperQueue(queue));
    // Both are actions on what the router receives.
    let hooked =
        direction == Direction::Down && matches!(path.line(direction).loss, Loss::Every(_));
    let loss = Table::Line(direction).field("loss");
    check.need(!hooked, loss, Rule::PeriodicLossShaped);
}

fn buffer_rule(buffer: Buffer, queue: Queue, mtu: u32) -> Option<Rule> {
    let full = Bytes(u64::from(mtu) + ETHERNET_HEADER);
    match buffer {
        Buffer::Packets(0) => Some(Rule::NoBuffer),
        Buffer::Bytes(bytes) if bytes < full => Some(Rule::BufferTooSmall { bytes, full }),
        Buffer::Bytes(bytes) if bytes > MAX_BUFFER => Some(Rule::BufferTooLarge(bytes)),
        Buffer::Kernel if !queue.has_own_limit() => Some(Rule::KernelBuffer(queue)),
        _ => None,
    }
}

/// The rule that a loss violates, if any.
pub fn loss_rule(loss: &Loss) -> Option<Rule> {
    let no_share = |shares: &[Share]| {
        let wrong = shares.iter().find(|share| !is_share(**share));
        wrong.map(|share| Rule::NoShare(share.get()))
    };
    match *loss {
        Loss::None => None,
        Loss::Random(share) if share.is_zero() => Some(Rule::LossOfNone),
        Loss::Random(share) if share == Share::ONE => Some(Rule::LossOfAll),
        Loss::Random(share) => no_share(&[share]),
        Loss::GilbertElliott { p, r, bad, good } => {
            let stuck = r.is_zero() && !p.is_zero() && bad == Share::ONE;
            let stuck = (stuck || good == Share::ONE).then_some(Rule::LossStuck);
            stuck.or_else(|| no_share(&[p, r, bad, good]))
        }
        Loss::Every(n) => (n < 2).then_some(Rule::LossOfEach),
    }
}

/// A share read from a document can be any number.
fn is_share(share: Share) -> bool {
    Share::new(share.get()).is_some()
}
