//! The sign-in page, and pages with a single sentence.

use maud::html;
use model::text::Text;

use super::{
    Frame,
    frame::{page, page_without_script},
};
use crate::page::words::{Words, label::dashboard};

/// The sign-in page. `wrong`: the submitted token was wrong.
pub fn sign_in(wrong: bool, frame: &Frame) -> String {
    let words = Words::new(frame.lang);
    let body = html! {
        h1 { (words.label(dashboard::sign_in())) }
        p { (words.label(dashboard::token_where())) }
        @if wrong { p.warning role="alert" { (words.label(dashboard::token_wrong())) } }
        form.sign-in method="post" action="/token" {
            label for="token" { (words.label(dashboard::token())) }
            input id="token" name="token" type="password" autocomplete="current-password" required;
            button type="submit" { (words.label(dashboard::enter())) }
        }
    };
    page_without_script(frame, "pathtwin", &body)
}

/// A page of one sentence, such as an error.
pub fn message(text: &Text, frame: &Frame) -> String {
    let words = Words::new(frame.lang);
    let text = words.render(text);
    let body = html! {
        h1 lang=[text.lang] { (text.capital()) }
        p { a href=(super::frame::to(frame, "/", &[])) { (words.label(dashboard::paths())) } }
    };
    page(frame, "pathtwin", "", &body)
}
