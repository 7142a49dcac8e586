//! Twins of paths that no twin can be equal to: their verdicts, and the predictions of those that
//! are trusted.

use std::fmt::Write as _;

use model::{advice::AdviceFigure, twin::TwinVerdict};

use super::{Feature, Judged, Stated};

/// The verdicts and stated changes for each feature, as a table.
pub fn markdown_beyond(all: &[Judged]) -> String {
    let mut out = String::from(
        "| path | n | fit for advising | order only | does not fit | untested | of twins that fit: 90 % interval of the \
         goodput's ratio holds | of the loaded RTT's | the same, order only | | wrong and confident, of all predictions |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for feature in Feature::ALL {
        let own: Vec<&Judged> = all.iter().filter(|j| j.feature == Some(feature)).collect();
        if !own.is_empty() {
            row(&mut out, feature.name(), &own);
        }
    }
    row(&mut out, "all", &all.iter().collect::<Vec<_>>());
    out
}

fn row(out: &mut String, name: &str, judged: &[&Judged]) {
    let of = |verdict| judged.iter().filter(|j| j.verdict == verdict).count();
    let stated = |verdict, figure| {
        let own = judged.iter().filter(|j| j.verdict == verdict);
        let own = own.flat_map(|j| &j.asked).flat_map(|p| &p.stated);
        Held::of(own.filter(|s| s.change.figure == figure))
    };
    let (fit, order) = (TwinVerdict::FitForAdvising, TwinVerdict::OrderOnly);
    let (goodput, rtt) = (AdviceFigure::Goodput, AdviceFigure::LoadedP50);
    let every = judged.iter().flat_map(|j| &j.asked).flat_map(|p| &p.stated);
    let wrong: usize = [fit, TwinVerdict::Untested]
        .into_iter()
        .flat_map(|verdict| [stated(verdict, goodput), stated(verdict, rtt)])
        .map(|held| held.of - held.held)
        .sum();
    let all = every.count();
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {wrong} of {all} ({:.1} %) |",
        judged.len(),
        of(fit),
        of(order),
        of(TwinVerdict::DoesNotFit),
        of(TwinVerdict::Untested),
        stated(fit, goodput),
        stated(fit, rtt),
        stated(order, goodput),
        stated(order, rtt),
        100.0 * wrong as f64 / all.max(1) as f64,
    );
}

/// Intervals that hold, of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    held: usize,
    of: usize,
}

impl Held {
    fn of<'a>(all: impl Iterator<Item = &'a Stated>) -> Self {
        let all: Vec<bool> = all.map(Stated::holds).collect();
        Self {
            held: all.iter().filter(|holds| **holds).count(),
            of: all.len(),
        }
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.held, self.of)
    }
}

#[cfg(test)]
mod tests {
    use model::{advice::Change, net::Direction};

    use super::{
        super::{Answer, Prediction, Question},
        *,
    };

    fn judged(verdict: TwinVerdict, came: f64) -> Judged {
        let change = Change {
            direction: Direction::Down,
            figure: AdviceFigure::Goodput,
            ratio: 1.0,
            low: 0.9,
            high: 1.1,
        };
        let answer = Answer {
            goodput_bps: 1e7,
            added_us: 0.0,
        };
        Judged {
            name: "a".to_owned(),
            feature: Some(Feature::Rate),
            verdict,
            same_queue: true,
            fitted: Vec::new(),
            asked: vec![Prediction {
                question: Question::Bbr,
                truth: answer,
                twin: answer,
                stated: vec![Stated { change, came }],
            }],
        }
    }

    #[test]
    fn only_a_trusted_prediction_is_wrong_and_confident() {
        let all = [
            judged(TwinVerdict::FitForAdvising, 2.0),
            judged(TwinVerdict::FitForAdvising, 1.05),
            judged(TwinVerdict::OrderOnly, 2.0),
            judged(TwinVerdict::DoesNotFit, 2.0),
        ];
        let table = markdown_beyond(&all);
        assert!(table.contains("| 1 of 4 (25.0 %) |"), "{table}");
    }
}
