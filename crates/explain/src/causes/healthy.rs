//! Nothing is wrong.

use analysis::view::{Load, View};
use model::{
    findings::{RemedyClass, Severity, Value},
    remedy::Action,
    text,
};

use super::{FULL, bloat::WARN_US, percent, rate, time};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

pub(super) const CAUSE: Cause = Cause {
    code: super::HEALTHY,
    title: "nothing is wrong",
    severity: Severity::Info,
    needs: &[Need::Tcp, Need::Sweep],
    masked_by: &[],
    depends_on: &[],
    test: Test::Path(test),
    remedy: Advice {
        class: RemedyClass::None,
        what: "leave it as it is; more needs a faster line or a shorter way",
        on: On::Elsewhere,
        why: "TCP already gets what the path carries",
        actions,
    },
    about: "TCP takes what UDP shows the path to carry, in each measured direction, and the round trip \
        rises little under load. A path may be slow and healthy: a line of 5 Mbit/s that is filled, or a \
        continent's distance, is nothing that a setting changes.",
    sources: &["dslreports.com/faq/17930: grades by added delay"],
};

/// From this share on, a flow without any loss is only on its way.
const GROWING: f64 = 0.5;

/// Whether nothing held a load back but the time it had: on a long path the window grows for many
/// seconds, and nothing was lost or limited meanwhile.
fn still_growing(load: &Load) -> bool {
    let none = |share: Option<f64>| share.is_some_and(|s| s < 0.05);
    load.retransmits == Some(0.0)
        && none(load.rwnd_limited)
        && none(load.sndbuf_limited)
        && none(load.app_limited)
        && load.min_rtt_us.is_some_and(|rtt| rtt > LONG_US)
}

/// Round trip from which that takes longer than a short test, µs.
const LONG_US: f64 = 50_000.0;

/// What to do, with the values of the Run.
fn actions(_: &Scope) -> Vec<Action> {
    vec![Action::Keep]
}

fn test(view: &View) -> Verdict {
    let mut evidence = Vec::new();
    let mut words = Vec::new();
    let mut certain = true;
    for way in view.directions() {
        let Some(load) = way.default_load() else {
            continue;
        };
        let name = || match way.direction {
            model::net::Direction::Down => text!("down"),
            model::net::Direction::Up => text!("up"),
        };
        let Some(filled) = way.utilization(&load) else {
            return unknown(
                text!(
                    "what the path carries {direction} was not measured",
                    direction = name()
                ),
                Need::Sweep.settle(),
            );
        };
        let growing = filled >= GROWING && still_growing(&load);
        certain &= !growing;
        if growing {
            words.push(text!(
                "{goodput} {direction} and was still growing",
                goodput = rate(load.goodput_bps),
                direction = name()
            ));
        } else if filled < FULL {
            return not(text!(
                "TCP {direction} takes {filled} of what the path carries",
                direction = name(),
                filled = percent(filled)
            ));
        } else {
            words.push(text!(
                "{goodput} {direction}",
                goodput = rate(load.goodput_bps),
                direction = name()
            ));
        }
        evidence.push(
            figure(
                text!("share of the path used, {direction}", direction = name()),
                Value::Share(filled),
            )
            .against(text!("at least 85 %"))
            .of(&load.samples)
            .deciding(),
        );
        match way.added_delay_us(&load) {
            Some(added) if added > WARN_US => {
                return not(text!(
                    "TCP {direction} adds {added} of delay",
                    direction = name(),
                    added = time(added)
                ));
            }
            Some(added) => evidence.push(
                figure(
                    text!("added to the round trip, {direction}", direction = name()),
                    Value::Us(added),
                )
                .against(text!("below 30 ms")),
            ),
            None => certain = false,
        }
    }
    let both = words.len() == 2;
    let list = |list, next| text!("{list} and {next}", list = list, next = next);
    let Some(rates) = words.into_iter().reduce(list) else {
        return unknown(Need::Tcp.missing(), Need::Tcp.settle());
    };
    let text = text!("TCP gets {rates}, what the path carries", rates = rates);
    let strength = if certain {
        Strength::of(&[true, both])
    } else {
        Strength::Weak
    };
    holds(strength, text, evidence)
}
