//! Page of the speed test, which a browser runs against the far end of its path.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, html};

use super::words::{Lang, Words};

/// The style sheet.
pub const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    include_str!("assets/dashboard.css")
);
/// The script.
pub const SCRIPT: &str = include_str!("assets/speedtest.js");

/// Texts of the script: the parts of the test, and its verdicts.
const SCRIPT_WORDS: [(&str, &str); 16] = [
    ("idle", "speed-idle"),
    ("down-bbr", "speed-down-bbr"),
    ("down-cubic", "speed-down-cubic"),
    ("down-many", "speed-down-many"),
    ("up-one", "speed-up-single"),
    ("up-many", "speed-up-many"),
    ("done", "speed-done"),
    ("refused", "speed-refused"),
    ("verdict-browser", "speed-verdict-browser"),
    ("verdict-control", "speed-verdict-control"),
    ("verdict-receiver", "speed-verdict-receiver"),
    ("verdict-buffer", "speed-verdict-buffer"),
    ("verdict-wireless", "speed-verdict-wireless"),
    ("verdict-single", "speed-verdict-single"),
    ("verdict-none", "speed-verdict-none"),
    ("verdict-lacks", "speed-verdict-lacks"),
];

/// Rows of the table: goodput and loaded RTT, by the ids that the script fills in.
const ROWS: [(&str, &str); 5] = [
    ("down-bbr", "speed-down-bbr"),
    ("down-cubic", "speed-down-cubic"),
    ("down-many", "speed-down-many"),
    ("up-one", "speed-up-single"),
    ("up-many", "speed-up-many"),
];

/// The page.
pub fn html(lang: Lang, program: &str) -> String {
    let words = Words::new(lang);
    let texts = SCRIPT_WORDS.map(|(key, id)| (key, words.label(id)));
    let texts: BTreeMap<&str, String> = texts.into_iter().collect();
    let texts = serde_json::to_string(&texts).unwrap_or_default();
    let body = html! {
        main id="words" data-words=(texts) {
            h1 { (words.label("speed-title")) }
            p { (words.label("speed-what")) }
            p { button id="start" type="button" { (words.label("speed-start")) } }
            p id="status" role="status" { }
            p { (words.label("speed-idle-rtt")) ": " output id="idle" { "–" } }
            div.wide tabindex="0" role="group" aria-label=(words.label("speed-title")) { table {
                thead { tr {
                    th scope="col" { (words.label("what")) }
                    th.number scope="col" { (words.label("panel-goodput")) }
                    th.number scope="col" { (words.label("speed-rtt")) }
                } }
                tbody { @for (id, label) in ROWS { tr {
                    th scope="row" { (words.label(label)) }
                    td.number { output id=(id) { "–" } }
                    td.number { output id={ (id) "-rtt" } { "–" } }
                } } }
            } }
            h2 { (words.label("speed-verdict")) }
            ul id="verdict" aria-live="polite" { li { (words.label("speed-not-yet")) } }
            p.note { (words.label("speed-note")) }
        }
    };
    framed(&words, program, true, &body)
}

/// The sign-in page. `wrong`: the submitted token was wrong.
pub fn sign_in(lang: Lang, wrong: bool, program: &str) -> String {
    let words = Words::new(lang);
    let body = html! {
        main {
            h1 { (words.label("dash-sign-in")) }
            p { (words.label("speed-token-where")) }
            @if wrong { p.warning role="alert" { (words.label("dash-token-wrong")) } }
            form.sign-in method="post" action="/token" {
                label for="token" { (words.label("dash-token")) }
                input id="token" name="token" type="password" autocomplete="current-password" required;
                button type="submit" { (words.label("dash-enter")) }
            }
        }
    };
    framed(&words, program, false, &body)
}

fn framed(words: &Words, program: &str, script: bool, body: &Markup) -> String {
    let (tag, name) = match words.lang {
        Lang::English => ("zh-CN", "中文"),
        Lang::SimplifiedChinese => ("en", "English"),
    };
    let markup = html! {
        (DOCTYPE)
        html lang=(words.lang.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (words.label("speed-title")) " · pathtwin" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                @if script { script src="/speedtest.js" defer {} }
            }
            body {
                header { nav aria-label=(words.label("contents")) {
                    span.brand { "pathtwin" }
                    ul { li { a href={ "?lang=" (tag) } lang=(tag) { (name) } } }
                } }
                (body)
                footer { p { "pathtwin " (program) } }
            }
        }
    };
    markup.into_string()
}
