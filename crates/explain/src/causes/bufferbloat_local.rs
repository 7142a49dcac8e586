//! Bufferbloat in the sender's own device.

use analysis::{models, view::DirectionView};
use model::{
    findings::{Severity, Value},
    remedy::{Action, Discipline},
    text,
};

use super::{bloat, bytes, time};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::{Scope, device},
    verdict::{Figure, Strength, Verdict, confirmed, end, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::BUFFERBLOAT_LOCAL,
    title: "the queue of the sender's own device adds high delay under load",
    severity: Severity::Medium,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes],
    masked_by: &[],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "the packets wait in the sender's own device, under its queue discipline; the receiver has no influence on that queue",
        actions,
    },
    about: "The same as bufferbloat on the path, but in the sender's own device: packets wait in \
        its queue discipline, which the host shows (`tc -s qdisc`, backlog). Queue management \
        works there without a shaper.",
    sources: &[
        "bufferbloat.net, Best practices for benchmarking CoDel and FQ CoDel",
        "dslreports.com/faq/17930: grades by added delay",
    ],
};

/// Maximum backlog of a paced flow in `fq`, bytes: two writes of 64 KiB (tcp_small_queue_check,
/// Linux net/ipv4/tcp_output.c). Other flows do not wait for it.
const PACED: f64 = 131_072.0;

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![Action::Queue {
        device: device(scope.sender()),
        queue: Discipline::FqCodel,
    }]
}

fn test(dir: &DirectionView) -> Verdict {
    let bloat = match bloat::of(dir) {
        Ok(bloat) => bloat,
        Err(verdict) => return verdict,
    };
    let (load, idle, added) = (&bloat.load, &bloat.idle, bloat.added_us);
    let sender = dir.sender();
    let Some(waiting) = sender.backlog_bytes(&dir.samples_of(load)) else {
        return undecided(
            text!("the backlog of the sender's own device is not known"),
            text!("the same plan with pathtwin on Linux as the sending end"),
        );
    };
    let paced = match sender.device().and_then(|device| device.root_qdisc()) {
        Some(queue) if queue.kind == "fq" => PACED,
        _ => 0.0,
    };
    let sent_bps = dir.packets_bps(load);
    let own_us = models::drain_s((waiting - paced).max(0.0), sent_bps) * 1e6;
    if own_us < 0.4 * added {
        return ruled_out(text!(
            "the backlog of the sender's device is {waiting}, {own} of the added {added}",
            waiting = bytes(waiting),
            own = time(own_us),
            added = time(added)
        ));
    }
    let evidence = vec![
        figure(
            text!("backlog of the sender's own queue"),
            Value::Bytes(waiting),
        )
        .bound(text!("small part of the total backlog"))
        .end(sender.side)
        .samples(&load.samples)
        .decisive(),
        figure(text!("its delay"), Value::Us(own_us)).formula(text!("bytes / rate")),
        figure(text!("added by TCP"), Value::Us(added))
            .bound(bloat::levels())
            .samples(&load.samples),
        figure(
            text!("total backlog"),
            Value::Bytes(models::buffer_bytes(added / 1e6, sent_bps)),
        )
        .formula(text!("delay * rate")),
        figure(text!("idle RTT"), Value::Us(idle.p50_us)).samples(&idle.samples),
    ];
    let text = text!(
        "{own} of the {added} that TCP adds to the RTT arise in the {host}'s own queue",
        own = time(own_us.min(added)),
        added = time(added),
        host = end(sender.side)
    );
    let verdict = confirmed(
        Strength::of(&[own_us > 0.7 * added, bloat.acts()]),
        text,
        evidence,
    );
    bloat.graded(verdict)
}
