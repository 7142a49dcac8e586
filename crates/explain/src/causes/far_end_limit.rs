//! Limits set on the far host.

use analysis::view::DirectionView;
use model::{
    findings::{Severity, Value},
    net::{Direction, Side},
    remedy::Action,
    text,
};

use super::{FULL, bbr_may_help, no_capacity, percent, rate};
use crate::{
    bound,
    cause::{Cause, CauseCode, Need, On, Remedies, Test},
    scope::Scope,
    verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided},
};

pub(super) const CAUSE: Cause = Cause {
    code: CauseCode::FAR_END_LIMIT,
    title: "the limit is set on the far host",
    severity: Severity::Low,
    needs: &[Need::Tcp],
    masked_by: &[],
    depends_on: &[
        CauseCode::SHALLOW_QUEUE,
        CauseCode::RANDOM_LOSS,
        CauseCode::JITTER,
        CauseCode::SEND_BUFFER,
    ],
    test: Test::Direction(test),
    remedy: Remedies {
        on: On::Sender,
        why: "the far host sends the data, so its socket's buffers and congestion control apply; they cannot be changed from the near host",
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

/// Returns the actions, with the values of the Run.
fn actions(scope: &Scope) -> Vec<Action> {
    let send = bbr_may_help(scope).then(|| scope.send_with("bbr"));
    let measure = Action::Measure {
        what: text!("against a server that is known to send with bbr"),
    };
    send.into_iter().chain([measure]).collect()
}

fn test(dir: &DirectionView) -> Verdict {
    if dir.direction == Direction::Up {
        return ruled_out(text!("the near host sends in this direction"));
    }
    let (Some(load), Some(back)) = (dir.default_load(), dir.reverse().default_load()) else {
        return undecided(
            text!("the other direction was not measured"),
            text!("a plan with both directions"),
        );
    };
    let Some(filled) = dir.reverse().utilization(&back) else {
        return no_capacity(&dir.reverse());
    };
    if filled < FULL {
        return ruled_out(text!(
            "the other direction reaches only {filled} of its capacity: the near end has the same problem",
            filled = percent(filled)
        ));
    }
    let evidence = vec![
        figure(
            text!("congestion control of the far host"),
            Value::Name(load.cc.clone()),
        )
        .end(Side::Far)
        .decisive(),
        figure(text!("goodput down"), Value::Bps(load.goodput_bps)).samples(&load.samples),
        figure(text!("goodput up"), Value::Bps(back.goodput_bps)).samples(&back.samples),
        figure(
            text!("share of the capacity used, up"),
            Value::Share(filled),
        )
        .bound(bound::at_least(Value::Share(FULL))),
    ];
    let text = text!(
        "up, where the near host sends, TCP reaches {goodput}; down, the far host's {cc} limits it",
        goodput = rate(back.goodput_bps),
        cc = &load.cc
    );
    confirmed(Strength::Fair, text, evidence)
}
