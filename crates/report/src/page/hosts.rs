//! What the two hosts are, side by side, and how each reaches the other.

use maud::{Markup, html};
use model::{net::Side, run::Run};

use super::words::Words;
use crate::facts::{Line, lines};

/// A name with what each host has.
struct Pair {
    name: String,
    near: Option<String>,
    far: Option<String>,
}

impl Pair {
    /// Whether both are known and not the same.
    fn differs(&self) -> bool {
        matches!((&self.near, &self.far), (Some(near), Some(far)) if near != far)
    }

    /// Parameters of the kernel are many: they are folded.
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
        @for (side, lines) in [(Side::Near, &near), (Side::Far, &far)] { (way(side, lines, words)) }
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

/// Lines of the hosts themselves, by name.
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
        div.wide tabindex="0" role="group" aria-label=(words.say(label)) {
            table.hosts {
                thead { tr {
                    th scope="col" { (words.say("hosts-what")) }
                    th scope="col" { (words.side(Side::Near)) }
                    th scope="col" { (words.side(Side::Far)) }
                } }
                tbody { @for pair in pairs {
                    tr.differs[pair.differs()] {
                        th scope="row" { (name(&pair.name, words))
                            @if pair.differs() { span.mark title=(words.say("hosts-differs")) {
                                "≠" span.hidden { " " (words.say("hosts-differs")) } } } }
                        td { (value(pair.near.as_ref(), words)) }
                        td { (value(pair.far.as_ref(), words)) }
                    }
                } }
            }
        }
    }
}

/// Names of the kernel stay as they are; the program's own have a word in each language.
fn name(name: &str, words: &Words) -> String {
    let id = format!("fact-{}", name.replace(' ', "-"));
    let said = words.say(&id);
    if said == id { name.to_owned() } else { said }
}

fn value(value: Option<&String>, words: &Words) -> Markup {
    html! {
        @match value {
            Some(text) => (text),
            None => span.unknown { (words.say("unknown")) },
        }
    }
}

/// How a host reaches the other: routes, devices, queues, tunnels.
fn way(side: Side, lines: &[Line], words: &Words) -> Markup {
    let mut after: Vec<&Line> = lines
        .iter()
        .skip_while(|l| !matches!(l, Line::Head(_)))
        .collect();
    after.retain(|l| !matches!(l, Line::Value(_, text) if text.is_empty()));
    html! {
        @if !after.is_empty() {
            details.more {
                summary { (words.fill("hosts-way", &[("host", words.side(side).into())])) }
                div.way { @for line in after {
                    @match line {
                        Line::Head(text) => h3 lang="en" { (text) },
                        Line::Value(name, value) => p { span.name { (name.trim()) } " " span { (value) } },
                        Line::Note(text) => p lang="en" { (text) },
                    }
                } }
            }
        }
    }
}
