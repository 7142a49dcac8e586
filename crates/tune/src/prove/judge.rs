//! From the comparison of the turns to the decision.

use model::{
    advice::{
        self, AdviceFigure, Goal, Keep,
        guards::{self, GAIN},
    },
    comparison::{Compared, Comparison, Estimate, Verdict},
    net::Direction,
    proof::{Acted, Decision, Proved, Role},
    run::{FigureKind, StepKind},
    text,
    text::Text,
};

use super::criteria::Criteria;

/// The decision with its reasons.
pub(super) struct Judged {
    pub(super) decision: Decision,
    pub(super) text: Text,
    pub(super) figures: Vec<Proved>,
}

impl Judged {
    /// Returns true if a figure of the goal improved by more than counts, but not beyond chance:
    /// more turns can decide.
    pub(super) fn is_open(&self) -> bool {
        let gains = |f: &Proved| f.ratio.is_some_and(|r| f.figure.gain(r.value) > GAIN);
        let uncertain = |f: &Proved| f.role == Role::Target && f.verdict == Verdict::CannotTell;
        self.decision == Decision::NoGain && self.figures.iter().any(|f| uncertain(f) && gains(f))
    }
}

pub(super) fn judge(comparison: &Comparison, acted: &[Acted], criteria: &Criteria) -> Judged {
    let figures = figures(comparison, criteria);
    let (decision, text) = decide(&figures, acted, criteria);
    Judged {
        decision,
        text,
        figures,
    }
}

fn figures(comparison: &Comparison, criteria: &Criteria) -> Vec<Proved> {
    let predicted = |direction, figure| {
        let mut all = criteria.predicted.iter();
        all.find(|c| c.direction == direction && c.figure == figure)
    };
    let has_target = criteria
        .predicted
        .iter()
        .any(|c| is_target(c, criteria.goal));
    let mut all = Vec::new();
    for direction in [Direction::Down, Direction::Up] {
        for figure in AdviceFigure::ALL {
            let Some(line) = line(comparison, direction, figure.kind()) else {
                continue;
            };
            let predicted = predicted(direction, figure);
            let is_of_goal = match predicted {
                Some(change) if has_target => is_target(change, criteria.goal),
                _ => !has_target && is_of(figure, criteria.goal),
            };
            all.push(Proved {
                direction,
                figure,
                role: if is_of_goal {
                    Role::Target
                } else {
                    Role::Guard
                },
                without: line.before.median,
                with: line.after.median,
                ratio: line.ratio,
                verdict: line.verdict,
                predicted: predicted.map(Estimate::from),
            });
        }
    }
    all
}

fn line(comparison: &Comparison, direction: Direction, kind: FigureKind) -> Option<&Compared> {
    let ours = |line: &&Compared| {
        line.kind == kind
            && line.key.step == StepKind::Tcp
            && line.key.direction == Some(direction)
            && !line.key.bidirectional
    };
    comparison.lines.iter().find(ours)
}

/// Returns true if a figure is the subject of a goal. Retransmissions are a cost, and no goal.
fn is_of(figure: AdviceFigure, goal: Goal) -> bool {
    match figure {
        AdviceFigure::Goodput => goal != Goal::Latency,
        AdviceFigure::LoadedP50 | AdviceFigure::LoadedP99 => goal != Goal::Throughput,
        AdviceFigure::Retransmitted => false,
    }
}

/// Returns true if an Advice predicts that a figure of the goal improves.
fn is_target(change: &advice::Change, goal: Goal) -> bool {
    let figure = change.figure;
    let is_sure = [change.low, change.high]
        .iter()
        .all(|r| figure.gain(*r) > 0.0);
    is_sure && figure.gain(change.ratio) > GAIN && is_of(change.figure, goal)
}

fn decide(figures: &[Proved], acted: &[Acted], criteria: &Criteria) -> (Decision, Text) {
    let keep = &criteria.keep;
    let targets = || figures.iter().filter(|f| f.role == Role::Target);
    if targets().all(|f| f.ratio.is_none()) {
        let text = text!("undone: the figure to improve could not be measured");
        return (Decision::CannotTell, text);
    }
    if let Some(idle) = idle(acted) {
        let text = text!(
            "undone: {setting} did not act ({evidence})",
            setting = idle.name(),
            evidence = idle.evidence.clone()
        );
        return (Decision::DidNotAct, text);
    }
    let waived = |f: &Proved| criteria.at_a_cost && guards::is_for_others(f.figure);
    let worse = |f: &&Proved| f.is_beyond(figures) && !waived(f) || breaks(f, keep);
    if let Some(worse) = figures.iter().find(worse) {
        let text = text!(
            "undone: {figure}, which exceeds its bound",
            figure = went(worse)
        );
        return (Decision::Worse, text);
    }
    if let Some(text) = unknown(figures, keep) {
        return (Decision::CannotTell, text);
    }
    let better = |f: &&Proved| f.verdict == Verdict::Better;
    match best(targets().filter(better)) {
        Some(best) => (Decision::Kept, text!("kept: {figure}", figure = went(best))),
        None => {
            let text = match best(targets()) {
                Some(f) => text!(
                    "undone: {figure}, which is no significant gain",
                    figure = went(f)
                ),
                None => text!("undone: no significant improvement"),
            };
            (Decision::NoGain, text)
        }
    }
}

/// A setting that did not act, if none did.
fn idle(acted: &[Acted]) -> Option<&Acted> {
    let any = acted.iter().any(|a| a.acted == Some(true));
    acted.iter().find(|a| !any && a.acted == Some(false))
}

/// The figure that changed most for the better.
fn best<'a>(figures: impl Iterator<Item = &'a Proved>) -> Option<&'a Proved> {
    let gain = |f: &Proved| f.ratio.map_or(0.0, |r| f.figure.gain(r.value));
    figures.max_by(|a, b| gain(a).total_cmp(&gain(b)))
}

/// Returns true if a figure violates a bound of the user.
fn breaks(figure: &Proved, keep: &[Keep]) -> bool {
    keep.iter()
        .filter(|k| k.figure == figure.figure && k.is_of(figure.direction))
        .any(|k| k.is_kept(Some(figure.without), Some(figure.with)) == Some(false))
}

/// A bound of the user on a figure that was not measured. A bound on both directions applies to the
/// measured ones.
fn unknown(figures: &[Proved], keep: &[Keep]) -> Option<Text> {
    let has = |direction, figure: Option<AdviceFigure>| {
        let mut all = figures.iter().filter(|f| f.direction == direction);
        all.any(|f| figure.is_none_or(|figure| f.figure == figure))
    };
    let all = [Direction::Down, Direction::Up];
    let missing = |keep: &Keep, direction| {
        let is_due = keep.direction == Some(direction) || has(direction, None);
        keep.is_of(direction) && is_due && !has(direction, Some(keep.figure))
    };
    let pairs = keep
        .iter()
        .flat_map(|k| all.map(|direction| (k, direction)));
    let (keep, direction) = pairs.into_iter().find(|(k, d)| missing(k, *d))?;
    Some(text!(
        "undone: cannot tell whether {bound} holds ({direction}); {figure} was not measured",
        bound = keep.text(),
        direction = direction,
        figure = keep.figure.measured()
    ))
}

fn went(figure: &Proved) -> Text {
    text!(
        "{figure} ({direction}) went from {before} to {after}",
        figure = figure.figure.measured(),
        direction = figure.direction,
        before = figure.figure.value(figure.without),
        after = figure.figure.value(figure.with)
    )
}
