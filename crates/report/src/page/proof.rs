//! Changes of hosts with their proofs: the settings, and each figure before and after.

use maud::{Markup, html};
use model::{
    change::Change,
    comparison::Verdict,
    job::ProveOutput,
    proof::{Proof, Proved, Role},
    text::Text,
};

use super::words::{Words, label};
use crate::{number::short, printed::shown};

pub(super) fn html(changes: &[ProveOutput], words: &Words) -> Markup {
    html! { @for done in changes {
        @if let Some(proof) = &done.proof {
            @let text = words.render(&proof.text);
            p { strong lang=[text.lang] { (text.capital()) (text.stop()) } }
            (table(proof, words))
        }
        @for not in &done.not_applied {
            @let not = words.render(not);
            p.warning { (words.label(label::change_not())) " " span lang=[not.lang] { (not.text) } }
        }
        @for elsewhere in &done.elsewhere {
            @let elsewhere = words.render(elsewhere);
            p { (words.label(label::change_elsewhere())) " " span lang=[elsewhere.lang] { (elsewhere.text) } }
        }
        @if let Some(error) = &done.error {
            @let error = words.render(error);
            p.warning { (words.label(label::change_error())) " " span lang=[error.lang] { (error.text) } }
        }
        @for left in &done.left_changed {
            @let left = words.render(left);
            p.warning { (words.label(label::change_left())) " " span lang=[left.lang] { (left.text) } }
        }
        @for change in &done.changes { (settings(change, words)) }
        @if let Some(proof) = &done.proof { (evidence(proof, words)) }
    } }
}

/// The figures that decide, without the change and with it.
fn table(proof: &Proof, words: &Words) -> Markup {
    let of = proof.turns.len() / 2;
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::change_table())) { table.figures {
            caption { (words.label(label::change_turns(of))) }
            thead { tr {
                th scope="col" { (words.label(label::change_figure())) }
                th.number scope="col" { (words.label(label::change_without())) }
                th.number scope="col" { (words.label(label::change_with())) }
                th.number scope="col" { (words.label(label::change_ratio())) }
                th.number scope="col" { (words.label(label::change_predicted())) }
                th scope="col" { (words.label(label::change_verdict())) }
            } }
            tbody { @for figure in &proof.figures { (row(figure, words)) } }
        } }
    }
}

fn row(figure: &Proved, words: &Words) -> Markup {
    let (unit, scale) = shown(figure.figure.unit());
    let name = format!(
        "{} {}, {unit}",
        words.render(&figure.figure.words()).capital(),
        words.direction(figure.direction)
    );
    let estimate =
        |e: model::comparison::Estimate| format!("{:.2} [{:.2}, {:.2}]", e.value, e.low, e.high);
    html! { tr {
        th scope="row" {
            @if figure.role == Role::Target { strong { (name) } } @else { (name) }
        }
        td.number { (short(figure.without / scale)) }
        td.number { (short(figure.with / scale)) }
        td.number { (figure.ratio.map(estimate).unwrap_or_default()) }
        td.number { (figure.predicted.map(estimate).unwrap_or_default()) }
        td { (words.label(verdict(figure.verdict))) }
    } }
}

fn verdict(verdict: Verdict) -> Text {
    match verdict {
        Verdict::Better => label::change_better(),
        Verdict::Worse => label::change_worse(),
        Verdict::Same => label::change_same(),
        Verdict::CannotTell => label::change_unclear(),
    }
}

/// Settings of a host, the commands for them, and their states.
fn settings(change: &Change, words: &Words) -> Markup {
    let commands: Vec<String> = change
        .steps
        .iter()
        .flat_map(|step| step.setting.commands())
        .collect();
    html! {
        @let state = words.render(&change.state.text());
        p {
            (change.scope.host) " · " code { (change.id.short()) } ": "
            span lang=[state.lang] { (state.text) }
            @if let Some(why) = &change.undone_because {
                @let why = words.render(why);
                " · " span lang=[why.lang] { (why.text) }
            }
        }
        ul { @for step in &change.steps {
            @let setting = words.render(&step.setting.text());
            li lang=[setting.lang] { (setting.text) }
        } }
        @if !commands.is_empty() {
            details.more {
                summary { (words.label(label::advice_commands())) }
                pre tabindex="0" aria-label=(words.label(label::advice_commands())) { code { (commands.join("\n")) } }
            }
        }
    }
}

fn evidence(proof: &Proof, words: &Words) -> Markup {
    html! { @for acted in &proof.acted {
        @let text = words.render(&acted.evidence);
        @let setting = words.render(&acted.name());
        p.note {
            span lang=[setting.lang] { (setting.text) } ": "
            span lang=[text.lang] { (text.text) }
        }
    } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use model::advice::AdviceFigure;

    use super::*;
    use crate::page::Lang;

    /// Bug: the row of the share of retransmitted bytes was called the 99th percentile of the RTT.
    #[test]
    fn every_figure_has_a_row_with_its_own_name() {
        for lang in [Lang::English, Lang::SimplifiedChinese] {
            let words = Words::new(lang);
            for figure in AdviceFigure::ALL {
                let proved: Proved = serde_json::from_value(serde_json::json!({
                    "direction": "down", "figure": figure.name(), "role": "guard",
                    "without": 0.5, "with": 0.25, "verdict": "better",
                }))
                .unwrap();
                let row = row(&proved, &words).into_string();
                let name = words.render(&figure.words()).capital().into_owned();
                assert!(row.contains(&format!("<th scope=\"row\">{name} ")), "{row}");
            }
        }
    }
}
