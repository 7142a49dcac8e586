//! A queue somewhere on the path grows far too long under load.

use analysis::{models, view::DirectionView};
use model::{
    findings::{RemedyClass, Severity, Value},
    net::Direction,
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::{bloat, rate, time};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds},
};

pub(super) const CAUSE: Cause = Cause {
    code: "bufferbloat-remote",
    title: "a queue on the path adds much delay under load",
    severity: Severity::Medium,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes],
    masked_by: &["bufferbloat-local"],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::QueueManagement,
        what: "shape to 95 % of the measured rate with cake (or fq_codel under a shaper) on the last box \
            that is yours before the bottleneck; downloads are shaped where they come in",
        on: On::Router,
        why: "the full queue is in a box of the path, not in the sender's own device, so queue management \
            without a shaper on an end does nothing there; on the tunnel's device it would see no queue, \
            either",
        actions,
    },
    about: "A bottleneck with a large buffer and no queue management lets a loss-based sender fill that \
        buffer; every other packet then waits behind it. It shows as a round trip that rises with one's \
        own load, in the loaded direction, while loss stays low and throughput is near the capacity. \
        Added delay times rate is the size of the buffer. BBR (version 1) alone keeps most of it empty \
        with one flow and less so with several.",
    sources: &[
        "dslreports.com/faq/17930: grades by added delay: A below 30 ms, B below 60 ms",
        "bufferbloat.net, Tests for Bufferbloat: act above 50 ms",
        "OpenWrt, SQM details: shape at 95 % of the measured rate",
        "Findings on the case of a full 50 Mbit/s host: docs/cases/3-narrow.md",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    // Seen from the near end, where the user's own devices are.
    let flow = match scope.place.direction {
        Some(Direction::Down) => Flow::Ingress,
        _ => Flow::Egress,
    };
    vec![scope.shaper(None, flow, Bottleneck::Queue)]
}

fn test(way: &DirectionView) -> Verdict {
    let bloat = match bloat::of(way) {
        Ok(bloat) => bloat,
        Err(verdict) => return verdict,
    };
    let (load, idle, added) = (&bloat.load, &bloat.idle, bloat.added_us);
    let loaded = idle.p50_us + added;
    let buffer = models::buffer_bytes(added / 1e6, load.goodput_bps);
    let mut evidence = vec![
        figure(text!("added by TCP"), Value::Us(added))
            .against(text!("above 30 ms; act above 60 ms"))
            .by(text!(
                "{loaded} - {idle}",
                loaded = time(loaded),
                idle = time(idle.p50_us)
            ))
            .of(&load.samples)
            .deciding(),
        figure(text!("round trip without load"), Value::Us(idle.p50_us)).of(&idle.samples),
        figure(text!("bytes waiting"), Value::Bytes(buffer)).by(text!("delay * rate")),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).of(&load.samples),
    ];
    let full = way.utilization(load).is_some_and(|f| f > 0.7);
    let above = way.sweep().and_then(|s| s.above?.rtt_us);
    if let Some(rtt) = above {
        evidence.push(figure(
            text!("round trip under too much UDP"),
            Value::Us(rtt),
        ));
    }
    let deep = above.is_some_and(|rtt| rtt - idle.p50_us > 0.7 * added);
    if let Some(bbr) = way.load_with("bbr").filter(|b| b.cc != load.cc)
        && let Some(less) = way.added_delay_us(&bbr)
    {
        evidence.push(figure(text!("added by TCP with bbr"), Value::Us(less)).of(&bbr.samples));
    }
    let text = text!(
        "the round trip rises from {idle} to {loaded} while TCP runs at {goodput}, which is {buffer} waiting in a queue",
        idle = time(idle.p50_us),
        loaded = time(loaded),
        goodput = rate(load.goodput_bps),
        buffer = super::bytes(buffer)
    );
    let verdict = holds(Strength::of(&[full, deep, bloat.acts()]), text, evidence);
    bloat.graded(verdict)
}
