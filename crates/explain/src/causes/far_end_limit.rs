//! Only the far host can change it.

use analysis::view::DirectionView;
use model::{
    findings::{RemedyClass, Severity, Value},
    net::{Direction, Side},
    remedy::Action,
    text,
};

use super::{FULL, percent, rate};
use crate::{
    advice::Scope,
    cause::{Advice, Cause, Need, On, Test},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

pub(super) const CAUSE: Cause = Cause {
    code: "far-end-limit",
    title: "what limits is set at the far host",
    severity: Severity::Low,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &["random-loss", "jitter", "send-buffer"],
    test: Test::Direction(test),
    remedy: Advice {
        class: RemedyClass::CongestionControl,
        what: "change it at the far host, or use another one; compare with a server that is known to send \
            with bbr before blaming the near end's line",
        on: On::Sender,
        why: "the data comes from there, and with it buffers and congestion control of the sending socket; \
            nothing on the near host reaches them",
        actions,
    },
    about: "A download is sent by the server: its congestion control and its send buffer decide. A speed test \
        whose server runs cubic shows a slow download over a slightly lossy wireless link, and a fast \
        upload over the same link, because the near host sends that with other settings or over the less \
        lossy direction. The near host can do nothing about it but choose another server.",
    sources: &[
        "docs/cases/4-speedtest.md: 367 against 921 Mbit/s at 1 % by the server's choice alone",
    ],
};

/// What to do, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    vec![
        scope.send_with("bbr"),
        Action::Measure {
            what: text!("against a server that is known to send with bbr"),
        },
    ]
}

fn test(way: &DirectionView) -> Verdict {
    if way.direction == Direction::Up {
        return not(text!("the near host sends in this direction"));
    }
    let (Some(load), Some(back)) = (way.default_load(), way.reverse().default_load()) else {
        return unknown(
            text!("the other direction was not measured"),
            text!("a plan with both directions"),
        );
    };
    let Some(filled) = way.reverse().utilization(&back) else {
        return unknown(Need::Sweep.missing(), Need::Sweep.settle());
    };
    if filled < FULL {
        return not(text!(
            "the other direction takes {filled} of its path only: the near end has the same trouble",
            filled = percent(filled)
        ));
    }
    let evidence = vec![
        figure(
            text!("congestion control of the far host"),
            Value::Name(load.cc.clone()),
        )
        .on(Side::Far)
        .deciding(),
        figure(text!("goodput down"), Value::Bps(load.goodput_bps)).of(&load.samples),
        figure(text!("goodput up"), Value::Bps(back.goodput_bps)).of(&back.samples),
        figure(text!("share of the path used, up"), Value::Share(filled))
            .against(text!("at least 85 %")),
    ];
    let text = text!(
        "up, where the near host sends, {goodput} come through; down the far host's {cc} decides",
        goodput = rate(back.goodput_bps),
        cc = &load.cc
    );
    holds(Strength::Fair, text, evidence)
}
