//! Reference pages of the causes, generated from the registry.

use std::fmt::Write;

use model::remedy::{Action, Dialect};

use crate::cause::{Cause, CauseCode, On, Remedies, Test};

/// The page of a cause, `docs/causes/<code>.md`.
pub fn page(cause: &Cause) -> String {
    let mut text = format!("# {}\n\n", cause.code);
    text.push_str(MADE);
    let scope = match cause.test {
        Test::Direction(_) => "each direction",
        Test::Host(_) => "each host",
        Test::Path(_) => "the path as a whole",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "**{}.** Severity: {}, unless the finding has another. Judged for {scope}.\n\n{}\n\n",
        capital(cause.title),
        cause.severity,
        squeeze(cause.about)
    );
    text.push_str("## What to do\n\n");
    for action in cause.remedy.in_general() {
        remedy(&mut text, &cause.remedy, &action);
    }
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    let _ = write!(text, "Why there: {}.\n\n", squeeze(cause.remedy.why));
    if !cause.needs.is_empty() {
        text.push_str("## Required data\n\nWithout one of these the cause is undecided:\n\n");
        for need in cause.needs {
            let _ = writeln!(
                text,
                "- not if {}: measure {}",
                need.missing(),
                need.settle()
            );
        }
        text.push('\n');
    }
    list(&mut text, "Not judged together with", cause.masked_by);
    list(&mut text, "Only together with", cause.depends_on);
    text.push_str("## Sources\n\n");
    for source in cause.sources {
        let _ = writeln!(text, "- {}", squeeze(source));
    }
    text
}

/// One remedy: its place, its sentence and its commands. Values of a Run are absent.
fn remedy(text: &mut String, remedies: &Remedies, action: &Action) {
    let on = match remedies.host_of(action) {
        On::Sender => "On the host that sends the data: ",
        On::Receiver => "On the host that receives the data: ",
        On::Here => "On the host of the finding: ",
        On::Router | On::Elsewhere => "",
    };
    let sentence = action.sentence().to_string();
    let sentence = match on.is_empty() {
        true => capital(&sentence),
        false => sentence,
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "- {on}{sentence}.");
    let commands = action.commands(Dialect::Linux);
    if !commands.is_empty() {
        let lines: String = commands.iter().map(|c| format!("  {c}\n")).collect();
        let _ = write!(text, "\n  ```sh\n{lines}  ```\n\n");
    }
}

/// The list of all pages, `docs/causes/README.md`.
pub fn index(causes: &[&Cause]) -> String {
    let mut text = "# Causes\n\n".to_owned();
    text.push_str(MADE);
    text.push_str(
        "What `pathtwin explain` can find. Causes are evaluated in this order: a cause that can \
         imitate another comes first.\n\n| code | what | severity | remedy \
         |\n|---|---|---|---|\n",
    );
    for cause in causes {
        let _ = writeln!(
            text,
            "| [{0}]({0}.md) | {1} | {2} | {3} |",
            cause.code,
            cause.title,
            cause.severity,
            cause.remedy.class()
        );
    }
    text
}

const MADE: &str = "<!-- Made from the code; `UPDATE_DOCS=1 cargo test -p pathtwin-explain` regenerates it. -->\n\n";

fn list(text: &mut String, title: &str, codes: &[CauseCode]) {
    if codes.is_empty() {
        return;
    }
    let links: Vec<String> = codes.iter().map(|c| format!("[{c}]({c}.md)")).collect();
    let _ = write!(text, "## {title}\n\n{}\n\n", links.join(", "));
}

/// Joins the source lines of each paragraph.
fn squeeze(text: &str) -> String {
    let paragraphs = text.split("\n\n");
    let lines = paragraphs.map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n\n")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
