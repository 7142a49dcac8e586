//! Order of remedies: the one that the twin calls best, on the path. A twin that does not fit
//! advises nothing.

use std::fmt::Write as _;

use model::twin::TwinVerdict;

use super::{Answer, Judged, Prediction, Question};

/// Differences of goodput and of added delay below which two remedies tie, and no change wins: as a
/// share, and in µs.
const TIES: (f64, f64) = (0.02, 3_000.0);
/// Distance from the best remedy of the path that still counts as the best, as a share.
const NEAR: f64 = 0.05;

/// The figure asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Goodput,
    Delay,
}

impl Asked {
    fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Delay => "added delay",
        }
    }

    /// Returns true if `a` is better than `b` by more than `share`, or than the tie of a delay.
    fn is_better(self, a: Answer, b: Answer, share: f64) -> bool {
        match self {
            Self::Goodput => a.goodput_bps > b.goodput_bps * (1.0 + share),
            Self::Delay => a.added_us + TIES.1.max(share * b.added_us) < b.added_us,
        }
    }
}

/// Choices over all paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Order {
    /// Of twins that fit, or were not tested.
    paths: usize,
    /// Of others.
    unfit: usize,
    /// Of the best remedy of the path, or one as good.
    best: usize,
    /// Of a remedy that makes the figure worse than no change.
    worse: usize,
    /// Of no change.
    unchanged: usize,
}

/// The choices of the twins, as a table.
pub(super) fn markdown(judged: &[Judged]) -> String {
    let mut out = String::from(
        "| asked for | paths | chosen on the twin is the best of the path, or within 5 % (delay: 3 ms) | worse than no \
         change by more than 2 % (3 ms) | no change chosen | nothing advised, since the twin does not fit |\n\
         |---|---|---|---|---|---|\n",
    );
    for asked in [Asked::Goodput, Asked::Delay] {
        let order = order(judged, asked);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            asked.name(),
            order.paths,
            order.best,
            order.worse,
            order.unchanged,
            order.unfit
        );
    }
    out
}

fn order(judged: &[Judged], asked: Asked) -> Order {
    let mut order = Order::default();
    for judged in judged {
        if judged.verdict == TwinVerdict::DoesNotFit {
            order.unfit += 1;
            continue;
        }
        // The number of flows is no remedy.
        let remedies = judged.asked.iter();
        let remedies = remedies.filter(|p| p.question != Question::EightFlows);
        let answers: Vec<&Prediction> = remedies.collect();
        let Some(unchanged) = answers.iter().find(|p| p.question == Question::Unchanged) else {
            continue;
        };
        let chosen = choose(&answers, unchanged, asked);
        let beaten = |other: &&Prediction| asked.is_better(other.truth, chosen.truth, NEAR);
        order.paths += 1;
        order.best += usize::from(!answers.iter().copied().any(|p| beaten(&p)));
        order.worse += usize::from(asked.is_better(unchanged.truth, chosen.truth, TIES.0));
        order.unchanged += usize::from(chosen.question == Question::Unchanged);
    }
    order
}

/// The best answer on the twin; no change, unless it is clearly worse.
fn choose<'a>(
    answers: &[&'a Prediction],
    unchanged: &'a Prediction,
    asked: Asked,
) -> &'a Prediction {
    let better = |best: &'a Prediction, next: &&'a Prediction| {
        if asked.is_better(next.twin, best.twin, TIES.0) {
            next
        } else {
            best
        }
    };
    answers.iter().fold(unchanged, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prediction(question: Question, truth: f64, twin: f64) -> Prediction {
        let of = |goodput_bps| Answer {
            goodput_bps,
            added_us: 0.0,
        };
        Prediction {
            question,
            truth: of(truth),
            twin: of(twin),
            stated: Vec::new(),
        }
    }

    fn judged(asked: Vec<Prediction>) -> Judged {
        Judged {
            name: "a".to_owned(),
            feature: None,
            verdict: TwinVerdict::FitForAdvising,
            same_queue: true,
            fitted: Vec::new(),
            asked,
        }
    }

    #[test]
    fn the_choice_of_the_twin_is_judged_by_the_path() {
        let asked = judged(vec![
            prediction(Question::Unchanged, 10.0, 10.0),
            prediction(Question::Bbr, 20.0, 12.0),
            prediction(Question::Cake, 9.0, 15.0),
        ]);
        let order = order(&[asked], Asked::Goodput);
        assert_eq!((order.paths, order.best, order.worse), (1, 0, 1));
    }

    #[test]
    fn a_twin_that_does_not_fit_chooses_nothing() {
        let mut asked = judged(vec![
            prediction(Question::Unchanged, 10.0, 10.0),
            prediction(Question::Bbr, 5.0, 20.0),
        ]);
        asked.verdict = TwinVerdict::DoesNotFit;
        let order = order(&[asked], Asked::Goodput);
        assert_eq!((order.paths, order.worse, order.unfit), (0, 0, 1));
    }

    #[test]
    fn no_change_wins_a_tie() {
        let asked = judged(vec![
            prediction(Question::Unchanged, 10.0, 10.0),
            prediction(Question::Bbr, 10.1, 10.1),
        ]);
        let order = order(&[asked], Asked::Goodput);
        assert_eq!((order.best, order.worse, order.unchanged), (1, 0, 1));
    }
}
