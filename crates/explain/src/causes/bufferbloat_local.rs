//! The queue of the sender's own device grows too long.

use analysis::{models, view::DirectionView};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::{Action, Discipline},
    text,
};

use super::{bloat, bytes, time};
use crate::{
    advice::{Scope, device},
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, end, figure, holds, not, unknown},
};

pub(super) const CAUSE: Cause = Cause {
    code: "bufferbloat-local",
    title: "the queue of the sender's own device adds much delay under load",
    severity: Severity::Medium,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::QueueManagement,
        what: "replace the queue of this device by fq_codel or cake; no shaper is needed, the device itself \
            is the bottleneck",
        on: On::Sender,
        why: "the packets wait in the sender's own device, where a queue discipline decides; the receiver \
            cannot see that queue",
        actions,
    },
    about: "The same as bufferbloat on the path, but in the sender's own device: packets wait in its queue \
        discipline, which the host shows (`tc -s qdisc`, backlog). There queue management works without a \
        shaper.",
    sources: &[
        "bufferbloat.net, Best practices for benchmarking CoDel and FQ CoDel",
        "dslreports.com/faq/17930: grades by added delay",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::Queue {
        device: device(scope.sender()),
        queue: Discipline::FqCodel,
    }]
}

fn test(way: &DirectionView) -> Verdict {
    let bloat = match bloat::of(way) {
        Ok(bloat) => bloat,
        Err(verdict) => return verdict,
    };
    let (load, idle, added) = (&bloat.load, &bloat.idle, bloat.added_us);
    let sender = way.sender();
    let Some(waiting) = sender.backlog_bytes(&way.samples_of(load)) else {
        return unknown(
            text!("how much waits in the sender's own device is not known"),
            text!("the same plan with pathtwin on Linux at the sending end"),
        );
    };
    let own_us = waiting * 8.0 / load.goodput_bps * 1e6;
    if own_us < 0.4 * added {
        return not(text!(
            "{waiting} wait in the sender's device, {own} of the {added} added",
            waiting = bytes(waiting),
            own = time(own_us),
            added = time(added)
        ));
    }
    let evidence = vec![
        figure(
            text!("waiting in the sender's own queue"),
            Value::Bytes(waiting),
        )
        .against(text!("little of what waits in all"))
        .on(sender.side)
        .of(&load.samples)
        .deciding(),
        figure(text!("delay of that"), Value::Us(own_us)).by(text!("bytes over rate")),
        figure(text!("added by TCP"), Value::Us(added))
            .against(text!("above 30 ms; act above 60 ms"))
            .of(&load.samples),
        figure(
            text!("waiting in all"),
            Value::Bytes(models::buffer_bytes(added / 1e6, load.goodput_bps)),
        )
        .by(text!("delay * rate")),
        figure(text!("round trip without load"), Value::Us(idle.p50_us)).of(&idle.samples),
    ];
    let text = text!(
        "{own} of the {added} that TCP adds to the round trip are spent in the {host}'s own queue",
        own = time(own_us.min(added)),
        added = time(added),
        host = end(sender.side)
    );
    let verdict = holds(
        Strength::of(&[own_us > 0.7 * added, bloat.acts()]),
        text,
        evidence,
    );
    bloat.graded(verdict)
}
