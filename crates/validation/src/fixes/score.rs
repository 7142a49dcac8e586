//! Counts over scenarios.

use model::{
    cause::CauseCode,
    change::CONGESTION_CONTROL,
    comparison::Verdict,
    net::{Direction, Side},
    proof::{Decision, Proved, Role},
    remedy::{Action, Buffer, Flow, Location, Remedy},
};

use super::{Fixed, Try};
use crate::accuracy::count::Count;

/// Number of scenarios in which `fix` did as it should.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Healthy paths on which nothing was tried.
    pub untouched: Count,
    /// Healthy paths on which nothing was kept.
    pub left_alone: Count,
    /// Paths with a cause on which a change was kept.
    pub kept: Count,
    /// Kept changes with a remedy of a true cause.
    pub of_cause: Count,
    /// Kept changes whose settings are all on a host where they affect an improved figure.
    pub right_host: Count,
    /// Kept changes whose improved figures all lie in their predicted intervals.
    pub as_predicted: Count,
    /// Predicted figures of kept changes that lie in their intervals, guards included.
    pub figures_as_predicted: Count,
    /// Kept changes that improve their figure once more, with another seed.
    pub again: Count,
    /// Paths that are not worse afterwards: nothing was kept and the hosts are as before, or no
    /// figure is worse beyond its bound with another seed.
    pub not_worse: Count,
    /// Hosts that are unchanged because nothing was kept.
    pub undone: Count,
}

/// Counts over all scenarios.
pub fn score(all: &[Fixed]) -> Score {
    let mut score = Score::default();
    for fixed in all {
        let kept = fixed.kept();
        match fixed.is_healthy() {
            true => {
                score.untouched.add(fixed.tries.is_empty());
                score.left_alone.add(kept.is_none());
            }
            false => score.kept.add(kept.is_some()),
        }
        match kept {
            Some(kept) => {
                let cures =
                    |remedy: &Remedy| fixed.cause.iter().any(|c| is_cure(c, &remedy.action));
                score.of_cause.add(kept.remedies.iter().any(cures));
                count(&mut score, kept, fixed.again.as_ref());
            }
            None => {
                let undone = !fixed.tries.iter().any(|t| t.left_changed);
                score.undone.add(undone);
                score.not_worse.add(undone);
            }
        }
    }
    score
}

fn count(score: &mut Score, kept: &Try, again: Option<&Try>) {
    let figures = again.map_or(&kept.figures, |again| &again.figures);
    let right = kept.remedies.iter().all(|remedy| acts(remedy, figures));
    score.right_host.add(right);
    let predicted = |figure: &&Proved| figure.predicted.is_some();
    let of = |role| figures.iter().filter(move |f| f.role == role);
    let targets: Vec<bool> = of(Role::Target).filter_map(Proved::as_predicted).collect();
    if !targets.is_empty() {
        score.as_predicted.add(targets.iter().all(|holds| *holds));
    }
    for figure in figures.iter().filter(predicted) {
        if let Some(holds) = figure.as_predicted() {
            score.figures_as_predicted.add(holds);
        }
    }
    if let Some(again) = again {
        score
            .again
            .add(again.decision.is_some_and(Decision::is_kept));
        score.not_worse.add(again.beyond().next().is_none());
    }
}

/// Returns true if a setting is on a host where it affects a direction that improved: settings
/// affect sent data, windows and ingress shapers received data. On a router only a shaper does.
fn acts(remedy: &Remedy, figures: &[Proved]) -> bool {
    let improved = |direction| {
        let mut own = figures.iter().filter(|f| f.direction == direction);
        own.any(|f| f.verdict == Verdict::Better)
    };
    let Some(side) = remedy.on.side() else {
        let at_router = remedy.on == Location::Router;
        return match remedy.action {
            Action::Shaper { direction, .. } => at_router && improved(direction),
            _ => false,
        };
    };
    let all = [Direction::Down, Direction::Up].into_iter();
    let sends = all.clone().filter(|d| Side::sends(*d) == side);
    match &remedy.action {
        Action::CongestionControl { .. } | Action::Queue { .. } => sends.clone().any(improved),
        Action::Shaper {
            flow: Flow::Egress, ..
        } => sends.clone().any(improved),
        Action::Shaper { direction, .. } => improved(*direction),
        _ => all.clone().any(improved),
    }
}

/// Returns true if an action is a remedy of a cause, by the pages of the causes (docs/causes).
fn is_cure(cause: &CauseCode, action: &Action) -> bool {
    let is_cc = is_set(action, CONGESTION_CONTROL);
    let is_queue = matches!(action, Action::Shaper { .. } | Action::Queue { .. });
    let is = |codes: &[CauseCode]| codes.contains(cause);
    if is(&[
        CauseCode::RANDOM_LOSS,
        CauseCode::JITTER,
        CauseCode::REORDERING,
        CauseCode::CC_ON_WRONG_HOST,
    ]) {
        is_cc
    } else if is(&[CauseCode::BUFFERBLOAT_REMOTE, CauseCode::POLICER]) {
        // bbr does not fill a queue, and is not misled by the bucket of a policer.
        is_cc || is_queue
    } else if is(&[CauseCode::SHARED_LINE]) {
        is_queue
    } else if is(&[CauseCode::RECEIVE_WINDOW]) {
        is_set(action, Buffer::Receive.sysctl())
    } else if is(&[CauseCode::SEND_BUFFER]) {
        is_set(action, Buffer::Send.sysctl())
    } else if is(&[CauseCode::LEFTOVER_SHAPER]) {
        matches!(action, Action::RemoveShaper { .. })
    } else {
        let is_size = matches!(
            action,
            Action::TunnelMtu { .. } | Action::LinkMtu { .. } | Action::MssClamp { .. }
        );
        is(&[CauseCode::FRAGMENTATION]) && is_size
    }
}

/// Returns true if an action sets a kernel parameter, or what it is the default of.
fn is_set(action: &Action, parameter: &str) -> bool {
    match action {
        Action::CongestionControl { .. } => parameter == CONGESTION_CONTROL,
        Action::SocketBuffer { buffer, .. } | Action::FreeBuffer { buffer } => {
            parameter == buffer.sysctl()
        }
        Action::Sysctl { name, .. } => name == parameter,
        _ => false,
    }
}
