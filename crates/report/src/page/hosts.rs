//! Facts of the two hosts side by side, and their paths to each other.

use maud::{Markup, html};
use model::{net::Side, run::Run};

use super::words::Words;
use crate::facts::{Line, lines};

/// A fact with the value of each host.
struct Pair {
    name: String,
    near: Option<String>,
    far: Option<String>,
}

impl Pair {
    /// Whether both values are known and different.
    fn differs(&self) -> bool {
        matches!((&self.near, &self.far), (Some(near), Some(far)) if near != far)
    }

    /// Kernel parameters are numerous and shown in a collapsed section.
    fn is_parameter(&self) -> bool {
        self.name.contains('.')
    }
}

pub(super) fn html(run: &Run, words: &Words) -> Markup {
    let near = lines(&run.near.facts);
    let far = lines(&run.far.facts);
    let mut pairs = pairs(&near, &far);
    pairs.insert(
        0,
        Pair {
            name: "pathtwin".to_owned(),
            near: Some(run.near.program.clone()),
            far: Some(run.far.program.clone()),
        },
    );
    let (parameters, host): (Vec<Pair>, Vec<Pair>) =
        pairs.into_iter().partition(Pair::is_parameter);
    html! {
        (addresses(run, words))
        (table(&host, words, "hosts-table"))
        @if !parameters.is_empty() {
            details.more {
                summary { (words.fill("hosts-parameters", &[
                    ("n", parameters.len().into()),
                    ("differ", parameters.iter().filter(|p| p.differs()).count().into()),
                ])) }
                (table(&parameters, words, "hosts-parameters-table"))
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

/// Facts of the hosts themselves, by name.
fn pairs(near: &[Line], far: &[Line]) -> Vec<Pair> {
    let own = |lines: &[Line]| -> Vec<(String, String)> {
        let until_head = lines.iter().take_while(|l| !matches!(l, Line::Head(_)));
        until_head
            .filter_map(|l| match l {
                Line::Value(name, value) => Some((name.trim().to_owned(), value.clone())),
                _ => None,
            })
            .collect()
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

fn table(pairs: &[Pair], words: &Words, label: &str) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label=(words.label(label)) {
            table.hosts {
                thead { tr {
                    th scope="col" { (words.label("hosts-what")) }
                    th scope="col" { (words.side(Side::Near)) }
                    th scope="col" { (words.side(Side::Far)) }
                } }
                tbody { @for pair in pairs {
                    tr.differs[pair.differs()] {
                        th scope="row" { (name(&pair.name, words))
                            @if pair.differs() { span.mark title=(words.label("hosts-differs")) {
                                "≠" span.hidden { " " (words.label("hosts-differs")) } } } }
                        td { (value(pair.near.as_ref(), words)) }
                        td { (value(pair.far.as_ref(), words)) }
                    }
                } }
            }
        }
    }
}

/// The kernel's names are not translated; the program's own are.
fn name(name: &str, words: &Words) -> String {
    let id = format!("fact-{}", name.replace(' ', "-"));
    let message = words.label(&id);
    if message == id {
        name.to_owned()
    } else {
        message
    }
}

fn value(value: Option<&String>, words: &Words) -> Markup {
    html! {
        @match value {
            Some(text) => (text),
            None => span.unknown { (words.label("unknown")) },
        }
    }
}

/// Path from a host to the other: routes, devices, queues, tunnels.
fn dir(side: Side, lines: &[Line], words: &Words) -> Markup {
    let mut after: Vec<&Line> = lines
        .iter()
        .skip_while(|l| !matches!(l, Line::Head(_)))
        .collect();
    after.retain(|l| !matches!(l, Line::Value(_, text) if text.is_empty()));
    html! {
        @if !after.is_empty() {
            details.more {
                summary { (words.fill("hosts-path", &[("host", words.side(side).into())])) }
                div.dir { @for line in after {
                    @match line {
                        Line::Head(text) => h3 lang="en" { (text) },
                        Line::Value(name, value) => p { span.name { (name.trim()) } " " span { (value) } },
                        Line::Note(text) => { @let note = words.render(text); p lang=[note.lang] { (note.text) } },
                    }
                } }
            }
        }
    }
}
