//! The queue of the sender's own device grows too long.

use model::findings::{RemedyClass, Severity, Value};

use super::{bloat, bytes, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    models,
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::Way,
};

pub(super) const CAUSE: Cause = Cause {
    code: "bufferbloat-local",
    title: "the queue of the sender's own device adds much delay under load",
    severity: Severity::Medium,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes],
    masked_by: &[],
    depends_on: &[],
    test: Test::Way(test),
    remedy: Advice {
        class: RemedyClass::QueueManagement,
        what: "replace the queue of this device by fq_codel or cake; no shaper is needed, the device itself \
            is the bottleneck",
        on: On::Sender,
        why: "the packets wait in the sender's own device, where a queue discipline decides; the receiver \
            cannot see that queue",
    },
    about: "The same as bufferbloat on the path, but in the sender's own device: packets wait in its queue \
        discipline, which the host shows (`tc -s qdisc`, backlog). There queue management works without a \
        shaper.",
    sources: &[
        "bufferbloat.net, Best practices for benchmarking CoDel and FQ CoDel",
        "dslreports.com/faq/17930: grades by added delay",
    ],
};

fn test(way: &Way) -> Verdict {
    let bloat = match bloat::of(way) {
        Ok(bloat) => bloat,
        Err(verdict) => return verdict,
    };
    let (load, idle, added) = (&bloat.load, &bloat.idle, bloat.added_us);
    let sender = way.sender();
    let Some(waiting) = sender.backlog_bytes(&way.samples_of(load)) else {
        return unknown(
            "how much waits in the sender's own device is not known",
            "the same plan with pathtwin on Linux at the sending end",
        );
    };
    let own_us = waiting * 8.0 / load.goodput_bps * 1e6;
    if own_us < 0.4 * added {
        return not(format!(
            "{} wait in the sender's device, {} of the {} added",
            bytes(waiting),
            time(own_us),
            time(added)
        ));
    }
    let evidence = vec![
        figure("waiting in the sender's own queue", Value::Bytes(waiting))
            .against("little of what waits in all")
            .on(sender.side)
            .of(&load.samples)
            .deciding(),
        figure("delay of that", Value::Us(own_us)).by("bytes over rate"),
        figure("added by TCP", Value::Us(added))
            .against("above 30 ms; act above 60 ms")
            .of(&load.samples),
        figure(
            "waiting in all",
            Value::Bytes(models::buffer_bytes(added / 1e6, load.goodput_bps)),
        )
        .by("delay * rate"),
        figure("round trip without load", Value::Us(idle.p50_us)).of(&idle.samples),
    ];
    let says = format!(
        "{} of the {} that TCP adds to the round trip are spent in the {}'s own queue",
        time(own_us.min(added)),
        time(added),
        sender.side
    );
    let verdict = holds(
        Strength::of(&[own_us > 0.7 * added, bloat.acts()]),
        says,
        evidence,
    );
    bloat.graded(verdict)
}
