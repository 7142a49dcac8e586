//! Nothing is wrong.

use model::findings::{RemedyClass, Severity, Value};

use super::{FULL, bloat::WARN_US, percent, rate, time};
use crate::{
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
    view::{Load, View},
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

fn test(view: &View) -> Verdict {
    let mut evidence = Vec::new();
    let mut words = Vec::new();
    let mut certain = true;
    for way in view.ways() {
        let Some(load) = way.plain() else { continue };
        let name = match way.direction {
            model::cell::Direction::Down => "down",
            model::cell::Direction::Up => "up",
        };
        let Some(filled) = way.filled(&load) else {
            return unknown(
                format!("what the path carries {name} was not measured"),
                Need::Sweep.settle(),
            );
        };
        let growing = filled >= GROWING && still_growing(&load);
        certain &= !growing;
        if growing {
            words.push(format!(
                "{} {name} and was still growing",
                rate(load.goodput_bps)
            ));
        } else if filled < FULL {
            return not(format!(
                "TCP {name} takes {} of what the path carries",
                percent(filled)
            ));
        } else {
            words.push(format!("{} {name}", rate(load.goodput_bps)));
        }
        evidence.push(
            figure(
                &format!("share of the path used, {name}"),
                Value::Share(filled),
            )
            .against("at least 85 %")
            .of(&load.samples)
            .deciding(),
        );
        match way.inflation_us(&load) {
            Some(added) if added > WARN_US => {
                return not(format!("TCP {name} adds {} of delay", time(added)));
            }
            Some(added) => evidence.push(
                figure(
                    &format!("added to the round trip, {name}"),
                    Value::Us(added),
                )
                .against("below 30 ms"),
            ),
            None => certain = false,
        }
    }
    let says = format!("TCP gets {}, what the path carries", words.join(" and "));
    let both = words.len() == 2;
    let strength = if certain {
        Strength::of(&[true, both])
    } else {
        Strength::Weak
    };
    holds(strength, says, evidence)
}
