//! All paths at a glance.

use maud::html;

use super::{
    Card, Frame, card,
    frame::{page, to_path},
};
use crate::page::words::{Words, label::dashboard};

/// The page of all paths. `place`: where the history is.
pub fn overview(cards: &[Card], place: &str, frame: &Frame) -> String {
    let words = Words::new(frame.lang);
    let count = words.label(dashboard::count(cards.len()));
    let body = html! {
        h1 { (words.label(dashboard::paths())) }
        p.meta { span { (count) } span { (words.label(dashboard::history())) " " code { (place) } } }
        @if cards.is_empty() {
            p { (words.label(dashboard::empty())) }
            pre tabindex="0" { "pathtwin measure HOST\npathtwin watch --config FILE" }
        }
        div.cards { @for (number, one) in cards.iter().enumerate() {
            section.card id={ "path-" (number) } data-live aria-labelledby={ "name-" (number) } {
                h2 id={ "name-" (number) } { a href=(to_path(frame, &one.path)) { (one.path) } }
                (card::head(one, frame, &words))
                (card::live(&one.live, &words))
                (card::figures(one, frame, &words))
            }
        } }
    };
    let title = format!("{} · pathtwin", words.label(dashboard::paths()));
    page(frame, &title, "/", &body)
}
