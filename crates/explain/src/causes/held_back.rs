//! What the receive window and the send buffer have in common: the kernel counts the time in which
//! each held the sender back.

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
    verdict::{Figure, Verdict, figure, not, unknown},
};

/// Share of the busy time above which it limits (NDT's classifier has the same).
const LIMITED: f64 = 0.15;

/// A load that something at its ends held back.
pub(super) struct HeldBack {
    /// The load.
    pub load: Load,
    /// Share of the busy time.
    pub share: f64,
    /// What TCP takes of what the path carries; `None` without a sweep.
    pub filled: Option<f64>,
    /// The figures so far.
    pub evidence: Vec<EvidenceItem>,
}

/// Whether `what`, of which the kernel says `share`, held the sender back; the verdict if not.
pub(super) fn by(
    way: &DirectionView,
    what: Text,
    share: fn(&Load) -> Option<f64>,
) -> Result<HeldBack, Verdict> {
    let Some(load) = way.default_load() else {
        return Err(unknown(Need::Tcp.missing(), Need::Tcp.settle()));
    };
    let Some(share) = share(&load) else {
        return Err(unknown(
            text!(
                "the sender's kernel does not say how long the {what} held it back",
                what = what.clone()
            ),
            text!("a sender with Linux 4.10 or newer"),
        ));
    };
    if share <= LIMITED {
        return Err(not(text!(
            "the {what} held the sender back for {share} of its busy time, at most {most} is usual",
            what = what.clone(),
            share = percent(share),
            most = percent(LIMITED)
        )));
    }
    let filled = way.utilization(&load);
    if let Some(filled) = filled.filter(|f| *f >= FULL) {
        return Err(not(text!(
            "it held the sender back for {share} of the time, but TCP fills {filled} of the path all the same",
            share = percent(share),
            filled = percent(filled)
        )));
    }
    let evidence = vec![
        figure(
            text!("time held back by the {what}", what = what.clone()),
            Value::Share(share),
        )
        .against(text!("above 15 % of the busy time"))
        .of(&load.samples)
        .deciding(),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).of(&load.samples),
    ];
    Ok(HeldBack {
        load,
        share,
        filled,
        evidence,
    })
}

impl HeldBack {
    /// Adds what is under way, and gives it, bytes.
    pub(super) fn under_way(&mut self) -> Option<f64> {
        let rtt = self.load.rtt_us()?;
        let bytes = models::needed_bytes(self.load.goodput_bps, rtt / 1e6);
        self.evidence.push(
            figure(text!("bytes under way"), Value::Bytes(bytes))
                .by(text!(
                    "goodput * RTT = {goodput} * {rtt}",
                    goodput = rate(self.load.goodput_bps),
                    rtt = time(rtt)
                ))
                .of(&self.load.samples),
        );
        Some(bytes)
    }

    /// Adds what the path needs under way, and gives it, bytes.
    pub(super) fn needs(&mut self, way: &DirectionView, name: Text) -> Option<f64> {
        let (rtt, sweep) = (self.load.rtt_us()?, way.sweep()?);
        let needed = models::needed_bytes(sweep.capacity_bps, rtt / 1e6);
        self.evidence.push(
            figure(name, Value::Bytes(needed))
                .by(text!(
                    "rate * RTT = {capacity} * {rtt}",
                    capacity = rate(sweep.capacity_bps),
                    rtt = time(rtt)
                ))
                .of(&sweep.samples),
        );
        Some(needed)
    }

    /// The signs beyond the first: most of the time, known not to fill the path, next to no loss.
    pub(super) fn signs(&self) -> [bool; 2] {
        let clear = self.share > 0.5 && self.filled.is_some();
        [clear, self.load.loss().is_some_and(|p| p < 1e-3)]
    }
}
