//! Facts of the two hosts side by side, and their paths to each other.

use maud::{Markup, html};
use model::{
    net::Side,
    run::{End, Run},
    text::{Text, Value},
};

use super::words::{Words, label};
use crate::facts::{Line, lines};

/// A fact with the value of each host.
struct Pair {
    name: Value,
    near: Option<Value>,
    far: Option<Value>,
}

impl Pair {
    /// Returns true if both values are known and different.
    fn differs(&self) -> bool {
        matches!((&self.near, &self.far), (Some(near), Some(far)) if near != far)
    }
}

pub(super) fn html(run: &Run, words: &Words) -> Markup {
    let near = lines(&run.near.facts);
    let far = lines(&run.far.facts);
    let mut host = pairs(&near, &far, fact);
    let program = |end: &End| Some(Value::from(&end.program));
    host.insert(
        0,
        Pair {
            name: Value::from("pathtwin"),
            near: program(&run.near),
            far: program(&run.far),
        },
    );
    let parameters = pairs(&near, &far, parameter);
    html! {
        (addresses(run, words))
        (table(&host, words, label::hosts_table()))
        @if !parameters.is_empty() {
            details.more {
                summary { (words.label(label::hosts_parameters(
                    parameters.len(),
                    parameters.iter().filter(|p| p.differs()).count(),
                ))) }
                (table(&parameters, words, label::hosts_parameters_table()))
            }
        }
        @for (side, lines) in [(Side::Near, &near), (Side::Far, &far)] { (dir(side, lines, words)) }
    }
}

fn addresses(run: &Run, words: &Words) -> Markup {
    html! {
        @if !run.layers.is_empty() {
            ul.addresses {
                @for layer in &run.layers {
                    li { strong { (words.layer(layer.layer)) } " " code { (layer.near) } " → " code { (layer.far) } }
                }
            }
        }
    }
}

/// A fact of the host.
fn fact(line: &Line) -> Option<(Value, Value)> {
    match line {
        Line::Fact { name, value, .. } => Some((name.clone(), value.clone())),
        _ => None,
    }
}

/// A kernel parameter: they are numerous and shown in a collapsed section.
fn parameter(line: &Line) -> Option<(Value, Value)> {
    match line {
        Line::Parameter { name, value } => Some((name.into(), value.into())),
        _ => None,
    }
}

/// Facts of the hosts themselves, by name.
fn pairs(near: &[Line], far: &[Line], of: fn(&Line) -> Option<(Value, Value)>) -> Vec<Pair> {
    let own = |lines: &[Line]| -> Vec<(Value, Value)> {
        let until_head = lines.iter().take_while(|l| !matches!(l, Line::Head(_)));
        until_head.filter_map(of).collect()
    };
    let (near, mut far) = (own(near), own(far));
    let mut pairs: Vec<Pair> = near
        .into_iter()
        .map(|(name, value)| {
            let same = far.iter().position(|(other, _)| *other == name);
            Pair {
                far: same.map(|at| far.remove(at).1),
                near: Some(value),
                name,
            }
        })
        .collect();
    pairs.extend(far.into_iter().map(|(name, value)| Pair {
        name,
        near: None,
        far: Some(value),
    }));
    pairs
}

fn table(pairs: &[Pair], words: &Words, name: Text) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(name)) {
            table.hosts {
                thead { tr {
                    th scope="col" { (words.label(label::hosts_what())) }
                    th scope="col" { (words.side(Side::Near)) }
                    th scope="col" { (words.side(Side::Far)) }
                } }
                tbody { @for pair in pairs {
                    tr.differs[pair.differs()] {
                        th scope="row" { (words.heading(&pair.name))
                            @if pair.differs() { span.mark title=(words.label(label::hosts_differs())) {
                                "≠" span.hidden { " " (words.label(label::hosts_differs())) } } } }
                        td { (value(pair.near.as_ref(), words)) }
                        td { (value(pair.far.as_ref(), words)) }
                    }
                } }
            }
        }
    }
}

fn value(value: Option<&Value>, words: &Words) -> Markup {
    html! {
        @match value {
            Some(value) => (words.value(value)),
            None => span.unknown { (words.label(label::unknown())) },
        }
    }
}

/// Path from a host to the other: routes, devices, queues, tunnels.
fn dir(side: Side, lines: &[Line], words: &Words) -> Markup {
    let after = lines.iter().skip_while(|l| !matches!(l, Line::Head(_)));
    let after: Vec<&Line> = after.collect();
    html! {
        @if !after.is_empty() {
            details.more {
                summary { (words.label(label::hosts_path(side))) }
                div.dir { @for line in after {
                    @match line {
                        Line::Head(text) => { @let head = words.render(text); h3 lang=[head.lang] { (head.text) } },
                        Line::Fact { name, value, .. } => p { span.name { (words.value(name)) } " " span { (words.value(value)) } },
                        Line::Parameter { name, value } => p { span.name { (name) } " " span { (value) } },
                        Line::Note(text) => { @let note = words.render(text); p lang=[note.lang] { (note.text) } },
                    }
                } }
            }
        }
    }
}
