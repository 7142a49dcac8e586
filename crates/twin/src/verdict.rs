//! Verdict on a twin: its use, and the measurement that would improve it.

use model::{
    text,
    text::{Text, Value},
    twin::{HeldOut, LeftOut, TwinFigure, TwinVerdict},
};

use crate::{statistics::Fitness, unsteady::Unsteady};

/// A path whose second largest implausibility is below this cannot be distinguished from the Run's
/// (three standard deviations: Pukelsheim, The American Statistician 48, 1994).
pub(crate) const PLAUSIBLE: f64 = 3.0;
/// Excess up to which the order of remedies is trusted, though not the numbers: 0.35 of a goodput
/// where 0.16 is allowed.
const ORDER: f64 = 0.35 / 0.16;

/// A verdict with its reason.
pub(crate) struct Judged {
    pub(crate) verdict: TwinVerdict,
    pub(crate) text: Text,
    pub(crate) settle: Option<Text>,
}

/// The verdict from the best path and the figures left out. `best` is the fitness of the best path
/// that was tried.
pub(crate) fn judge(best: &Fitness, held_out: &[HeldOut], predicted: usize) -> Judged {
    if best.second >= PLAUSIBLE {
        return no_path(best);
    }
    let Some(worst) = worst(held_out) else {
        return Judged {
            verdict: TwinVerdict::Untested,
            text: text!(
                "the twin has the figures of the run, but nothing could be left out to test its predictions"
            ),
            settle: Some(text!(
                "a plan with two congestion controls, or one and several flows"
            )),
        };
    };
    let figure = text!(
        "{figure} of {load}, left out with {group}: measured {measured}, predicted {predicted}",
        figure = worst.figure.words(),
        load = &worst.key,
        group = group(&worst.left_out),
        measured = worst.figure.value(worst.measured),
        predicted = worst.figure.value(worst.predicted)
    );
    let (verdict, text, settle) = if worst.excess <= 1.0 {
        let text = text!(
            "fit for advising: of {n} figures left out, each is predicted within what the noise of the \
             run allows; nearest to its limit is {figure}",
            n = Value::Count(predicted as f64),
            figure = figure
        );
        (TwinVerdict::FitForAdvising, text, None)
    } else if worst.excess <= ORDER || !costs(worst) {
        let text = text!(
            "good for the order of remedies, not for numbers: {figure}",
            figure = figure
        );
        (TwinVerdict::OrderOnly, text, Some(settle(worst.figure)))
    } else {
        let text = text!("does not fit: {figure}", figure = figure);
        (TwinVerdict::DoesNotFit, text, Some(settle(worst.figure)))
    };
    Judged {
        verdict,
        text,
        settle,
    }
}

/// The figure left out that decides: the worst of those with a cost if it does not fit, else the
/// worst of all.
fn worst(held_out: &[HeldOut]) -> Option<&HeldOut> {
    let by_excess = |a: &&HeldOut, b: &&HeldOut| a.excess.total_cmp(&b.excess);
    let costly = held_out.iter().filter(|h| costs(h)).max_by(by_excess);
    costly
        .filter(|worst| worst.excess > ORDER)
        .or_else(|| held_out.iter().max_by(by_excess))
}

/// A wrong share of retransmissions alone has no cost.
fn costs(held_out: &HeldOut) -> bool {
    held_out.figure != TwinFigure::Retransmitted
}

/// The verdict on a path whose rate may change: no numbers then, since a shaper below the mean rate
/// is above the rate at times.
pub(crate) fn steady(judged: Judged, found: Option<Unsteady>) -> Judged {
    let (TwinVerdict::FitForAdvising | TwinVerdict::Untested, Some(found)) =
        (judged.verdict, found)
    else {
        return judged;
    };
    let figure = found.statistic.figure;
    Judged {
        verdict: TwinVerdict::OrderOnly,
        text: text!(
            "good for the order of remedies, not for numbers: the rate of the path changes; {figure} of {load} is {measured}, and {predicted} on the twin",
            figure = figure.words(),
            load = &found.statistic.key,
            measured = figure.value(found.measured),
            predicted = figure.value(found.twin)
        ),
        settle: Some(settle(figure)),
    }
}

/// No path that was tried has the figures.
fn no_path(best: &Fitness) -> Judged {
    let text = match &best.worst {
        Some((statistic, i)) => text!(
            "does not fit: no path of the lab has the figures of the run; {figure} of {load} is {i} standard deviations off on the best of them",
            figure = statistic.figure.words(),
            load = &statistic.key,
            i = Value::Count(*i)
        ),
        None => text!("does not fit: no figure of the run can be compared with a path"),
    };
    let figure = best.worst.as_ref().map(|(statistic, _)| statistic.figure);
    Judged {
        verdict: TwinVerdict::DoesNotFit,
        text,
        settle: figure.map(settle),
    }
}

/// The measurement that would improve a figure.
fn settle(figure: TwinFigure) -> Text {
    match figure {
        TwinFigure::Goodput | TwinFigure::GoodputP10 | TwinFigure::Retransmitted => text!(
            "more repeats (`pathtwin measure --thorough`), at another hour too: a rate or loss that changes is no constant of a path"
        ),
        TwinFigure::Capacity => {
            text!("a sweep of UDP in a plan with `udp_sweep`, several times")
        }
        _ => text!(
            "a UDP sweep above the path's capacity, and TCP with 8 flows: both fill the queue"
        ),
    }
}

fn group(left_out: &LeftOut) -> Text {
    match left_out {
        LeftOut::Cc(cc) => text!("all of {cc}", cc = cc),
        LeftOut::Flows(flows) => {
            text!(
                "all of {flows} flows",
                flows = Value::Count(f64::from(*flows))
            )
        }
        LeftOut::Bidirectional => text!("loads in both directions"),
        LeftOut::Tunnel => text!("the tunnel"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::{
        net::{IpVersion, Layer},
        run::{Key, StepKind},
        twin::TwinSpread,
    };

    use super::*;

    fn held_out(figure: TwinFigure, excess: f64) -> HeldOut {
        HeldOut {
            left_out: LeftOut::Flows(4),
            key: Key {
                step: StepKind::Tcp,
                layer: Layer::Underlay,
                family: IpVersion::V4,
                direction: None,
                bidirectional: false,
                flows: Some(4),
                cc: Some("cubic".to_owned()),
                rate_bps: None,
                bytes: None,
            },
            figure,
            measured: 1.0,
            predicted: 1.0,
            spread: TwinSpread::default(),
            noise: None,
            excess,
        }
    }

    fn deciding(goodput: f64, retransmitted: f64) -> TwinFigure {
        let both = [
            held_out(TwinFigure::Goodput, goodput),
            held_out(TwinFigure::Retransmitted, retransmitted),
        ];
        worst(&both).unwrap().figure
    }

    /// Bug: a goodput that does not fit was excused where the retransmissions fit even less.
    #[test]
    fn a_further_error_does_not_excuse_a_goodput_that_does_not_fit() {
        assert_eq!(deciding(3.3, 4.0), TwinFigure::Goodput);
        assert_eq!(deciding(2.0, 4.0), TwinFigure::Retransmitted);
        assert_eq!(deciding(0.9, 0.5), TwinFigure::Goodput);
        assert!(worst(&[]).is_none());
    }
}
