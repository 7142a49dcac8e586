//! A page of another crate in a single file, in the style of reports: head, content security
//! policy, navigation, data for its script.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use super::frame::{STYLE, head, json};

/// Content of a page. Its script finds the data as JSON in the element `data`.
#[derive(Clone, Copy, Debug)]
pub struct Alone<'a, D> {
    /// Title of the window.
    pub title: &'a str,
    /// Rules beyond the style of reports.
    pub style: &'a str,
    /// The script.
    pub script: &'a str,
    /// Its data.
    pub data: &'a D,
    /// Sections: anchor, name in the navigation.
    pub sections: &'a [(&'a str, &'a str)],
    /// The sections and what is above them.
    pub body: &'a Markup,
    /// Version of the writing program.
    pub program: &'a str,
}

impl<D: Serialize> Alone<'_, D> {
    /// The page, in English.
    pub fn html(&self) -> String {
        let style = format!("{STYLE}\n{}", self.style);
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title, self.script, &style, self.program))
                body {
                    a.skip href="#main" { "Skip to the content" }
                    header { nav aria-label="Contents" {
                        span.brand { "pathtwin" }
                        ul { @for (id, name) in self.sections { li { a href={ "#" (id) } { (name) } } } }
                    } }
                    main id="main" tabindex="-1" { (self.body) }
                    footer { p { "pathtwin " (self.program) } }
                    script type="application/json" id="data" { (PreEscaped(json(self.data))) }
                    script { (PreEscaped(self.script)) }
                }
            }
        };
        markup.into_string()
    }
}
