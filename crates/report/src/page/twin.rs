//! Section of a twin: the measured figures, those of the twin, and its predictions.

use maud::{Markup, html};
use model::{
    path::{Limit, Line, Nanos, Parameter},
    text::{Text, Value},
    twin::{HeldOut, Twin, TwinFigure},
};

use super::words::{Words, label};

/// Size of the inline chart of a row.
const WIDTH: f64 = 150.0;
const HEIGHT: f64 = 22.0;
const MARGIN: f64 = 6.0;

pub(super) fn html(twin: &Twin, words: &Words) -> Markup {
    let text = words.render(&twin.text);
    html! {
        p { strong lang=[text.lang] { (text.capital()) (text.stop()) } }
        @if let Some(settle) = &twin.settle {
            p.note { (words.label(label::twin_settle(settle.clone()))) }
        }
        (path(twin, words))
        @if !twin.fitted.is_empty() { (fitted(twin, words)) }
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
                (row(label::twin_rate(), &|l| rate(l.rate_bps.as_ref()?)))
                (row(label::twin_queue(), &|l| Some(l.queue.as_ref()?.value.to_string().into())))
                (row(label::twin_buffer(), &|l| buffer(&l.buffer.as_ref()?.value)))
                (row(label::twin_delay(), &|l| Some(Value::Us(us(l.delay_ns.as_ref()?)))))
                (row(label::twin_loss(), &|l| loss(l)))
            }
        } }
    }
}

fn us(span: &Parameter<Nanos>) -> f64 {
    span.value.0 as f64 / 1e3
}

fn rate(rate: &Parameter<Limit<model::units::Rate>>) -> Option<Value> {
    match &rate.value {
        Limit::At(rate) => Some(Value::Bps(rate.bps() as f64)),
        Limit::Unlimited => None,
    }
}

fn buffer(buffer: &model::cell::Buffer) -> Option<Value> {
    match buffer {
        model::cell::Buffer::Bytes(bytes) => Some(Value::Bytes(bytes.0 as f64)),
        _ => None,
    }
}

fn loss(line: &Line) -> Option<Value> {
    Some(Value::Share(line.loss.as_ref()?.average()))
}

/// Each figure that was fitted: measured, twin, and both on a common scale.
fn fitted(twin: &Twin, words: &Words) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label::twin_fitted())) { table.figures {
            caption { (words.label(label::twin_fitted())) }
            (head(words))
            tbody { @for one in &twin.fitted { tr {
                th scope="row" { (words.key(&one.key, false)) " · " (words.render(&one.figure.words()).text) }
                td.number { (words.value(&one.figure.value(one.measured))) }
                td.number { (words.value(&one.figure.value(one.twin))) }
                td.drawn { (marks(one.figure, one.measured, one.twin)) }
            } } }
        } }
    }
}

/// Lists the figures left out, worst first.
fn held_out(all: &[HeldOut], words: &Words) -> Markup {
    let mut worst: Vec<&HeldOut> = all.iter().collect();
    worst.sort_by(|a, b| b.excess.total_cmp(&a.excess));
    html! {
        p.note { (words.label(label::twin_held_note())) }
        div.wide tabindex="0" role="group" aria-label=(words.label(label::twin_held())) { table.figures {
            caption { (words.label(label::twin_held())) }
            (head(words))
            tbody { @for one in worst { tr {
                th scope="row" { (words.key(&one.key, false)) " · " (words.render(&one.figure.words()).text) }
                td.number { (words.value(&one.figure.value(one.measured))) }
                td.number { (words.value(&one.figure.value(one.predicted))) }
                td.drawn { (marks(one.figure, one.measured, one.predicted)) }
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

/// Measured as a disc and the twin as a diamond, from zero to a little above the larger.
fn marks(figure: TwinFigure, measured: f64, twin: f64) -> Markup {
    let least = match figure {
        TwinFigure::Retransmitted => 1e-3,
        _ => 1.0,
    };
    let most = (1.1 * measured.max(twin)).max(least);
    let x = |v: f64| MARGIN + (v / most).clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN);
    let (a, b, y) = (x(measured), x(twin), HEIGHT / 2.0);
    let diamond = format!(
        "M{:.1},{y} L{b:.1},{:.1} L{:.1},{y} L{b:.1},{:.1} Z",
        b - 5.0,
        y - 5.0,
        b + 5.0,
        y + 5.0
    );
    html! {
        svg aria-hidden="true" width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
            line x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(y) y2=(y) stroke="currentColor" stroke-opacity="0.25" {}
            circle cx=(format!("{a:.1}")) cy=(y) r="4.5" fill="#0072b2" {}
            path d=(diamond) fill="none" stroke="#d55e00" stroke-width="2" {}
        }
    }
}
