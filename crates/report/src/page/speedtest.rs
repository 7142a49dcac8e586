//! Page of the speed test, which a browser runs against the far end of its path.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, html};
use model::text::Text;

use super::words::{
    Lang, Words,
    label::{self, dashboard, speedtest},
};

/// The style sheet.
pub const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    include_str!("assets/dashboard.css")
);
/// The script.
pub const SCRIPT: &str = include_str!("assets/speedtest.js");

/// The loads, by the ids of their goodput and loaded RTT in the table, which the script fills in.
fn loads() -> [(&'static str, Text); 5] {
    [
        ("down-bbr", speedtest::down_bbr()),
        ("down-cubic", speedtest::down_cubic()),
        ("down-many", speedtest::down_many()),
        ("up-one", speedtest::up_single()),
        ("up-many", speedtest::up_many()),
    ]
}

/// Texts of the script: the parts of the test, and its verdicts, by the names that it uses.
fn script_words() -> impl Iterator<Item = (&'static str, Text)> {
    let others = [
        ("idle", speedtest::idle()),
        ("done", speedtest::done()),
        ("refused", speedtest::refused()),
        ("verdict-browser", speedtest::verdict_browser()),
        ("verdict-control", speedtest::verdict_control()),
        ("verdict-receiver", speedtest::verdict_receiver()),
        ("verdict-buffer", speedtest::verdict_buffer()),
        ("verdict-wireless", speedtest::verdict_wireless()),
        ("verdict-single", speedtest::verdict_single()),
        ("verdict-none", speedtest::verdict_none()),
        ("verdict-lacks", speedtest::verdict_lacks()),
    ];
    loads().into_iter().chain(others)
}

/// The page.
pub fn html(lang: Lang, program: &str) -> String {
    let words = Words::new(lang);
    let texts = script_words().map(|(name, text)| (name, words.label(text)));
    let texts: BTreeMap<&str, String> = texts.collect();
    let texts = serde_json::to_string(&texts).unwrap_or_default();
    let body = html! {
        main id="words" data-words=(texts) {
            h1 { (words.label(speedtest::title())) }
            p { (words.label(speedtest::what())) }
            p { button id="start" type="button" { (words.label(speedtest::start())) } }
            p id="status" role="status" { }
            p { (words.label(speedtest::idle_rtt())) ": " output id="idle" { "–" } }
            div.wide tabindex="0" role="group" aria-label=(words.label(speedtest::title())) { table {
                thead { tr {
                    th scope="col" { (words.label(label::what())) }
                    th.number scope="col" { (words.label(label::panel_goodput())) }
                    th.number scope="col" { (words.label(speedtest::rtt())) }
                } }
                tbody { @for (id, name) in loads() { tr {
                    th scope="row" { (words.label(name)) }
                    td.number { output id=(id) { "–" } }
                    td.number { output id={ (id) "-rtt" } { "–" } }
                } } }
            } }
            h2 { (words.label(speedtest::verdict())) }
            ul id="verdict" aria-live="polite" { li { (words.label(speedtest::not_yet())) } }
            p.note { (words.label(speedtest::note())) }
        }
    };
    framed(&words, program, true, &body)
}

/// The sign-in page. `wrong`: the submitted token was wrong.
pub fn sign_in(lang: Lang, wrong: bool, program: &str) -> String {
    let words = Words::new(lang);
    let body = html! {
        main {
            h1 { (words.label(dashboard::sign_in())) }
            p { (words.label(speedtest::token_where())) }
            @if wrong { p.warning role="alert" { (words.label(dashboard::token_wrong())) } }
            form.sign-in method="post" action="/token" {
                label for="token" { (words.label(dashboard::token())) }
                input id="token" name="token" type="password" autocomplete="current-password" required;
                button type="submit" { (words.label(dashboard::enter())) }
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
                title { (words.label(speedtest::title())) " · pathtwin" }
                link rel="stylesheet" href="/style.css";
                link rel="icon" href="data:,";
                @if script { script src="/speedtest.js" defer {} }
            }
            body {
                header { nav aria-label=(words.label(label::contents())) {
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
