//! A Proof as text for a terminal: the decision, the deciding figures, and the settings that had an
//! effect.

use std::fmt::Write;

use model::{
    change::Change,
    job::ProveOutput,
    proof::{Calibration, Proof, Proved, Role},
    safe,
    text::capital,
};

use crate::{printed::shown, wrap::wrap};

/// The settings that were applied and the measured effect, at most 80 columns wide.
pub fn text(done: &ProveOutput) -> String {
    let mut out = String::new();
    if let Some(proof) = &done.proof {
        out.push_str(&of_proof(proof));
    }
    for not in &done.not_applied {
        out.push_str(&wrap(&format!("Not applied: {not}."), ""));
    }
    for elsewhere in &done.elsewhere {
        out.push_str(&wrap(&format!("Not on {elsewhere}."), ""));
    }
    if done.changes.is_empty() && done.proof.is_none() {
        out.push_str("Nothing was changed.\n");
    }
    for change in &done.changes {
        let _ = writeln!(out, "change {}: {}", change.id.short(), change.state);
        settings(&mut out, change);
    }
    safe::lines(&out).into_owned()
}

/// A Proof for people, at most 80 columns wide.
pub fn of_proof(proof: &Proof) -> String {
    let mut out = wrap(&format!("{}.", capital(&proof.text.to_string())), "");
    let _ = writeln!(
        out,
        "\n{:<26}{:>10}{:>10}{:>22}{:>10}",
        "", "without", "with", "ratio", "predicted"
    );
    for figure in &proof.figures {
        row(&mut out, figure);
    }
    for acted in &proof.acted {
        let text = format!("{}: {}.", acted.name(), acted.evidence);
        out.push_str(&wrap(&text, "  "));
    }
    let of = proof.turns.len() / 2;
    let order = match is_switched_once(&proof.turns) {
        true => "one after the other: a path that changed meanwhile looks the same",
        false => "alternating",
    };
    let text = format!("Medians of {of} turns with the change and {of} without, {order}.");
    out.push_str(&wrap(&text, ""));
    out
}

fn is_switched_once(turns: &[bool]) -> bool {
    turns.windows(2).filter(|pair| pair[0] != pair[1]).count() == 1
}

fn settings(out: &mut String, change: &Change) {
    for step in &change.steps {
        let _ = writeln!(out, "  {}", step.setting);
    }
}

fn row(out: &mut String, figure: &Proved) {
    let mark = match figure.role {
        Role::Target => "* ",
        Role::Guard => "  ",
    };
    let (unit, scale) = shown(figure.figure.unit());
    let name = format!(
        "{mark}{} {}, {unit}",
        figure.figure.text(),
        figure.direction
    );
    let ratio = figure.ratio.map_or_else(String::new, |r| {
        format!("{:.2} [{:.2}, {:.2}]", r.value, r.low, r.high)
    });
    let predicted = figure
        .predicted
        .map_or_else(String::new, |p| format!("{:.2}", p.value));
    let _ = writeln!(
        out,
        "{name:<26}{:>10.1}{:>10.1}{ratio:>22}{predicted:>10}",
        figure.without / scale,
        figure.with / scale
    );
}

/// Returns the accuracy of past predictions, for people.
pub fn calibration(found: &Calibration) -> String {
    if found.proofs == 0 {
        return "no change that an advice predicted was proved yet: `pathtwin fix` does that\n"
            .to_owned();
    }
    let mut out = format!(
        "Proofs of changes that were predicted: {}, of which kept: {}\n\n{:<30}{:>8}{:>12}{:>12}\n",
        found.proofs, found.kept, "", "number", "as promised", "outcome"
    );
    for figure in &found.figures {
        let role = match figure.role {
            Role::Target => "to improve",
            Role::Guard => "guarded",
        };
        let _ = writeln!(
            out,
            "{:<30}{:>8}{:>10.0} %{:>9.2} x",
            format!("{}, {role}", figure.figure.text()),
            figure.count,
            100.0 * figure.hit_rate,
            figure.ratio
        );
    }
    out.push_str(
        "\nAs promised: the measured ratio lies in the predicted interval. Outcome: the median of what\n\
         was measured over what was predicted.\n",
    );
    out
}
