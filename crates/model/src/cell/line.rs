//! Validation of one direction of a path.

use std::time::Duration;

use super::{
    Buffer, ETHERNET_HEADER, LabPath, Line, Loss, Queue, bounds::MAX_BUFFER, collect::Check,
    field::Table, rule::Rule,
};
use crate::net::Direction;
use crate::units::{Bytes, Share};

pub(super) fn check(path: &LabPath, direction: Direction, check: &mut Check) {
    let line = path.line(direction);
    let field = |leaf| Table::Line(direction).field(leaf);
    check.time(line.delay, Duration::ZERO, field("delay"));
    check.rate(line.rate, field("rate"));
    let rated = line.rate.is_some() || line.queue == Queue::Fifo;
    check.need(rated, field("queue"), Rule::QueueWithoutRate(line.queue));
    if let Some(rule) = buffer_rule(line, path.mtu) {
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
}

fn buffer_rule(line: &Line, mtu: u32) -> Option<Rule> {
    let full = Bytes(u64::from(mtu) + ETHERNET_HEADER);
    match line.buffer {
        Buffer::Packets(0) => Some(Rule::NoBuffer),
        Buffer::Bytes(bytes) if bytes < full => Some(Rule::BufferTooSmall { bytes, full }),
        Buffer::Bytes(bytes) if bytes > MAX_BUFFER => Some(Rule::BufferTooLarge(bytes)),
        Buffer::Kernel if !line.queue.has_own_limit() => Some(Rule::KernelBuffer(line.queue)),
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
