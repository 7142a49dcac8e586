//! Common parts of receive window and send buffer limits: the kernel counts the time limited by
//! each.

use analysis::{
    models,
    view::{DirectionView, Load},
};
use model::{
    findings::{EvidenceItem, Value},
    text,
    text::Text,
};

use super::{FULL, percent, rate, time};
use crate::{
    cause::Need,
    verdict::{Figure, Verdict, figure, ruled_out, undecided},
};

/// Share of the busy time above which it counts as the limit (as in NDT's classifier).
pub(super) const LIMITED: f64 = 0.15;

/// Ratio of bytes in flight to the path's BDP above which the path is the limit.
pub(super) const QUEUES: f64 = 1.3;

/// Share of the busy time in which a window limits a load: the receiver's, or the send buffer. 0
/// where the kernel does not report it.
pub(super) fn window_share(load: &Load) -> f64 {
    let share = |limited: Option<f64>| limited.unwrap_or(0.0);
    share(load.rwnd_limited).max(share(load.sndbuf_limited))
}

/// A load limited by one of its hosts.
pub(super) struct Limited {
    /// The load.
    pub load: Load,
    /// Share of the busy time.
    pub share: f64,
    /// Goodput as a share of the path's capacity; `None` without a sweep.
    pub filled: Option<f64>,
    /// Evidence so far.
    pub evidence: Vec<EvidenceItem>,
}

/// Tests whether `what` limited the sender, given its `share` in the kernel's counters; the verdict
/// if not.
pub(super) fn by(
    dir: &DirectionView,
    what: Text,
    share: fn(&Load) -> Option<f64>,
) -> Result<Limited, Verdict> {
    let Some(load) = dir.default_load() else {
        return Err(undecided(Need::Tcp.missing(), Need::Tcp.settle()));
    };
    let Some(share) = share(&load) else {
        return Err(undecided(
            text!(
                "the sender's kernel does not report how long the {what} limited it",
                what = what.clone()
            ),
            text!("a sender with Linux 4.10 or newer"),
        ));
    };
    if share <= LIMITED {
        return Err(ruled_out(text!(
            "the {what} limited the sender for {share} of its busy time; up to {most} is normal",
            what = what.clone(),
            share = percent(share),
            most = percent(LIMITED)
        )));
    }
    let filled = dir.utilization(&load);
    if let Some(filled) = filled.filter(|f| *f >= FULL) {
        return Err(ruled_out(text!(
            "it limited the sender for {share} of the time, but TCP still reaches {filled} of the path's capacity",
            share = percent(share),
            filled = percent(filled)
        )));
    }
    if let Some(share) = dir.pipe_share(&load).filter(|share| *share > QUEUES) {
        return Err(ruled_out(text!(
            "{share} of the bandwidth-delay product is in flight: data beyond the {what} would only wait in a queue",
            share = percent(share),
            what = what.clone()
        )));
    }
    let evidence = vec![
        figure(
            text!("time limited by the {what}", what = what.clone()),
            Value::Share(share),
        )
        .bound(text!(
            "above {bound} of the busy time",
            bound = Value::Share(LIMITED)
        ))
        .samples(&load.samples)
        .decisive(),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
    ];
    Ok(Limited {
        load,
        share,
        filled,
        evidence,
    })
}

impl Limited {
    /// Adds the bytes in flight to the evidence and returns them.
    pub(super) fn in_flight(&mut self) -> Option<f64> {
        let rtt = self.load.rtt_us()?;
        let bytes = models::needed_bytes(self.load.goodput_bps, rtt / 1e6);
        self.evidence.push(
            figure(text!("bytes in flight"), Value::Bytes(bytes))
                .formula(text!(
                    "goodput * RTT = {goodput} * {rtt}",
                    goodput = rate(self.load.goodput_bps),
                    rtt = time(rtt)
                ))
                .samples(&self.load.samples),
        );
        Some(bytes)
    }

    /// Adds the required bytes in flight to the evidence and returns them.
    pub(super) fn needs(&mut self, dir: &DirectionView, name: Text) -> Option<f64> {
        let (rtt, sweep) = (self.load.rtt_us()?, dir.sweep()?);
        let carries = dir.payload_capacity_bps(&self.load)?;
        let needed = models::needed_bytes(carries, rtt / 1e6);
        self.evidence.push(
            figure(name, Value::Bytes(needed))
                .formula(text!(
                    "rate * RTT = {capacity} * {rtt}",
                    capacity = rate(carries),
                    rtt = time(rtt)
                ))
                .samples(&sweep.samples),
        );
        Some(needed)
    }

    /// Further signs: limited most of the time, and below capacity with almost no loss.
    pub(super) fn signs(&self) -> [bool; 2] {
        let clear = self.share > 0.5 && self.filled.is_some();
        [clear, self.load.loss().is_some_and(|p| p < 1e-3)]
    }
}
