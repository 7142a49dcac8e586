//! Section of a twin: the measured figures, those of the twin, and its predictions.

mod marks;
mod series;

use maud::{Markup, html};
use model::{
    path::{Line, Nanos, Parameter},
    text::{Text, Value},
    twin::{HeldOut, Twin},
};

use super::{
    charts::Charts,
    words::{Words, label},
};
use crate::parameter::{buffer, loss, rate};

use marks::Pair;

pub(super) fn html(twin: &Twin, words: &Words, charts: &mut Charts) -> Markup {
    let text = words.render(&twin.text);
    html! {
        p { strong lang=[text.lang] { (text.capital()) (text.stop()) } }
        @if let Some(settle) = &twin.settle {
            p.note { (words.label(label::twin_settle(settle.clone()))) }
        }
        (path(twin, words))
        @if !twin.fitted.is_empty() { (fitted(twin, words)) }
        @if let Some(one) = &twin.series { (series::html(one, words, charts)) }
        @if !twin.held_out.is_empty() { (held_out(&twin.held_out, words)) }
        @for note in &twin.notes {
            @let note = words.render(note);
            p.note lang=[note.lang] { (note.text) }
        }
    }
}

/// The parameters of the best path, with a column per direction.
fn path(twin: &Twin, words: &Words) -> Markup {
    let (down, up) = (&twin.path.underlay.down, &twin.path.underlay.up);
    let row = |key: Text, of: &dyn Fn(&Line) -> Option<Value>| {
        html! { tr {
            th scope="row" { (words.label(key)) }
            @for line in [down, up] {
                td.number { @if let Some(value) = of(line) { (words.value(&value)) } }
            }
        } }
    };
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::twin_path())) { table.figures {
            caption { (words.label(label::twin_path())) }
            thead { tr {
                th scope="col" { span.hidden { (words.label(label::what())) } }
                th.number scope="col" { (words.label(label::direction_down())) }
                th.number scope="col" { (words.label(label::direction_up())) }
            } }
            tbody {
                (row(label::twin_rate(), &|l| Some(rate(l.rate_bps.as_ref()?).into())))
                (row(label::twin_queue(), &|l| Some(l.queue.as_ref()?.value.to_string().into())))
                (row(label::twin_buffer(), &|l| Some(buffer(l.buffer.as_ref()?)?.into())))
                (row(label::twin_delay(), &|l| Some(Value::Us(us(l.delay_ns.as_ref()?)))))
                (row(label::twin_loss(), &|l| Some(loss(l.loss.as_ref()?).into())))
            }
        } }
    }
}

fn us(span: &Parameter<Nanos>) -> f64 {
    span.value.0 as f64 / 1e3
}

/// Each figure that was fitted: measured, twin, and both on a common scale.
fn fitted(twin: &Twin, words: &Words) -> Markup {
    let pairs: Vec<Pair<'_>> = twin.fitted.iter().map(Pair::from).collect();
    html! {
        p.note { (words.label(label::twin_fitted_note())) }
        (table(&pairs, label::twin_fitted(), words))
    }
}

/// Lists the figures left out, worst first.
fn held_out(all: &[HeldOut], words: &Words) -> Markup {
    let mut worst: Vec<&HeldOut> = all.iter().collect();
    worst.sort_by(|a, b| b.excess.total_cmp(&a.excess));
    let pairs: Vec<Pair<'_>> = worst.into_iter().map(Pair::from).collect();
    html! {
        p.note { (words.label(label::twin_held_note())) }
        (table(&pairs, label::twin_held(), words))
    }
}

fn table(pairs: &[Pair<'_>], caption: Text, words: &Words) -> Markup {
    let caption = words.label(caption);
    html! {
        div.wide tabindex="0" role="group" aria-label=(caption) { table.figures {
            caption { (caption) }
            (head(words))
            tbody { @for pair in pairs { tr {
                th scope="row" { (words.key(pair.key, false)) " · " (words.render(&pair.figure.words()).text) }
                td.number { (pair.measured(words)) }
                td.number { (pair.twin(words)) }
                td.drawn { (pair.marks()) }
            } } }
        } }
    }
}

fn head(words: &Words) -> Markup {
    html! { thead { tr {
        th scope="col" { (words.label(label::what())) }
        th.number scope="col" { (words.label(label::twin_measured())) }
        th.number scope="col" { (words.label(label::twin_twin())) }
        th.drawn scope="col" { span.hidden { (words.label(label::drawn())) } }
    } } }
}
