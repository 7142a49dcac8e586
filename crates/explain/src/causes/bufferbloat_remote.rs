//! Bufferbloat on the path.

use analysis::{models, view::DirectionView};
use model::{
    findings::{Severity, Value},
    net::Direction,
    remedy::{Action, Bottleneck, Flow},
    text,
};

use super::{bloat, rate, time};
use crate::{
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::BUFFERBLOAT_REMOTE,
    title: "a queue on the path adds high delay under load",
    severity: Severity::Medium,
    needs: &[Need::Idle, Need::Tcp, Need::LoadedProbes],
    masked_by: &[CauseCode::BUFFERBLOAT_LOCAL],
    depends_on: &[],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Router,
        why: "the full queue is in a device on the path, not in the sender's own, so queue management at an end has no effect without a shaper, nor has it on a device where no queue forms, such as a tunnel's",
        actions,
    },
    about: "A bottleneck with a large buffer and no queue management lets a loss-based sender fill \
        that buffer; every other packet then waits behind it. The symptom is an RTT that rises \
        with the load in the loaded direction, while loss stays low and throughput is near the \
        capacity. Added delay times rate is the size of the buffer. BBR (version 1) alone keeps \
        most of it empty with one flow and less so with several.\n\nThe direction is that whose queue \
        fills. UDP has no acknowledgements, so its overload shows how deep a direction's own queue is; \
        where TCP adds far more than that, its acknowledgements wait in the other direction. Delay that \
        is there before the load belongs to others, in the direction in which packets get lost.",
    sources: &[
        "dslreports.com/faq/17930: grades by added delay: A below 30 ms, B below 60 ms",
        "bufferbloat.net, Tests for Bufferbloat: act above 50 ms",
        "OpenWrt, SQM details: shape at 95 % of the measured rate",
        "Findings on the case of a full 50 Mbit/s host: docs/cases/3-narrow.md",
    ],
};

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    // From the near end, where the user's own devices are.
    let flows: &[Flow] = match scope.place.direction {
        Some(Direction::Down) => &[Flow::Ingress],
        Some(Direction::Up) => &[Flow::Egress],
        None => &[Flow::Egress, Flow::Ingress],
    };
    let shaper = |flow: &Flow| scope.shaper(None, *flow, Bottleneck::Queue);
    flows.iter().map(shaper).collect()
}

fn test(dir: &DirectionView) -> Verdict {
    let bloat = match bloat::of(dir) {
        Ok(bloat) => bloat,
        Err(verdict) => return verdict,
    };
    if let Some(other) = bloat.may_be_no_queue(dir) {
        return other;
    }
    let (load, idle, added) = (&bloat.load, &bloat.idle, bloat.added_us);
    let calm = bloat.calm_us;
    let loaded = calm + added;
    let buffer = models::buffer_bytes(added / 1e6, dir.packets_bps(load));
    let mut evidence = vec![
        figure(text!("added by TCP"), Value::Us(added))
            .bound(bloat::levels())
            .formula(text!(
                "{loaded} - {idle}",
                loaded = time(loaded),
                idle = time(calm)
            ))
            .samples(&load.samples)
            .decisive(),
        figure(text!("idle RTT"), Value::Us(idle.p50_us)).samples(&idle.samples),
        figure(text!("backlog"), Value::Bytes(buffer)).formula(text!("delay * rate")),
        figure(text!("goodput"), Value::Bps(load.goodput_bps)).samples(&load.samples),
    ];
    let full = dir.utilization(load).is_some_and(|f| f > 0.7);
    let above = dir.sweep().and_then(|s| s.above?.rtt_us);
    if let Some(rtt) = above {
        evidence.push(figure(text!("RTT under UDP overload"), Value::Us(rtt)));
    }
    let deep = dir.overload_rise_us().is_some_and(|us| us > 0.7 * added);
    if let Some(bbr) = dir.load_with("bbr").filter(|b| b.cc != load.cc)
        && let Some(less) = dir.added_delay_us(&bbr)
    {
        evidence
            .push(figure(text!("added by TCP with bbr"), Value::Us(less)).samples(&bbr.samples));
    }
    let text = text!(
        "the RTT rises from {idle} to {loaded} while TCP runs at {goodput}, which means a backlog of {buffer} in a queue",
        idle = time(calm),
        loaded = time(loaded),
        goodput = rate(load.goodput_bps),
        buffer = super::bytes(buffer)
    );
    let verdict = confirmed(Strength::of(&[full, deep, bloat.acts()]), text, evidence);
    bloat.graded(verdict)
}
