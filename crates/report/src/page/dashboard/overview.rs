//! All paths at a glance.

use maud::html;
use model::text::Value;

use super::{
    Card, Frame, card,
    frame::{page, to_path},
};
use crate::page::words::{Words, label::dashboard};

/// Bytes of a watch in this month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Charged so far.
    pub charged: u64,
    /// Charged at most.
    pub of: u64,
}

/// The page of all paths. `place`: where the history is; `budget`: that of a watch, if there is
/// one.
pub fn overview(cards: &[Card], place: &str, budget: Option<Budget>, frame: &Frame) -> String {
    let bytes = |bytes: u64| Value::Bytes(bytes as f64);
    let words = Words::new(frame.lang);
    let count = words.label(dashboard::count(cards.len()));
    let body = html! {
        h1 { (words.label(dashboard::paths())) }
        p.meta { span { (count) } span { (words.label(dashboard::history())) " " code { (place) } }
            @if let Some(Budget { charged, of }) = budget {
                span data-live id="budget" { (words.label(dashboard::budget(bytes(charged), bytes(of)))) }
            }
        }
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
