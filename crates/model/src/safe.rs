//! Escaping of text from far ends and documents for each output.
//!
//! A far end, or the author of a document, controls names, reasons and notes. On a terminal, escape
//! sequences in them can move the cursor or send input (ECMA-48), and bidirectional controls can
//! display a different text (Unicode Standard Annex 9). In a log a line break forges a line, in a
//! spreadsheet a leading `=` starts a formula, in Markdown a backquote or `<` is markup. Each
//! output has one function here that all its text passes through.

use std::{borrow::Cow, fmt::Write as _};

/// Returns true if a character controls an output instead of being displayed: controls (C0, DEL,
/// C1), line and paragraph separators, and invisible format characters (general category Cf of
/// Unicode 16: marks, embeddings, overrides and isolates of direction, joiners, tags and the like).
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes control characters, for example as `\u{1b}`, except those that `keep` allows.
fn shown(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !acts(c) || keep(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// Text within a line of a terminal or log; line breaks are escaped as well.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Several lines for a terminal; line breaks are kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    shown(text, |c| c == '\n')
}

/// JSON for a terminal: an equivalent document with control characters in strings escaped. Outside
/// of strings JSON contains no such characters except line breaks and tabs (RFC 8259, section 2).
pub fn json(text: &str) -> Cow<'_, str> {
    let raw = |c: char| acts(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.chars().any(raw) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if raw(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A text field of CSV (RFC 4180): quoted if needed, with a leading apostrophe if a spreadsheet
/// would interpret it as a formula. Not for numbers, which may begin with a minus.
pub fn csv(text: &str) -> String {
    let text = line(text);
    let formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '|', '%']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.into_owned()
    };
    if text.contains([',', '"', ';', '\'']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// Text in Markdown, without markup, HTML, or new cells and lines. A backslash escapes any ASCII
/// punctuation (CommonMark 0.31.2, 2.4); `<` and `&` become entities (2.5), because older dialects
/// do not support a backslash there.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if "\\`*_[]|#~!$".contains(c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Text within backquotes in Markdown, where backslashes are literal: without characters that end
/// the code span or a table cell.
pub fn markdown_code(text: &str) -> String {
    line(text)
        .chars()
        .filter(|c| !matches!(c, '`' | '|'))
        .collect()
}

/// Text in an attribute or element of XML 1.0.
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // Not allowed in XML (production 2).
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A label value in Prometheus' text format.
pub fn label(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // The format has its own escape for line breaks; line() would double the backslash.
    for part in text.split_inclusive('\n') {
        let body = part.strip_suffix('\n');
        let shown = line(body.unwrap_or(part));
        out.push_str(&shown.replace('\\', "\\\\").replace('"', "\\\""));
        if body.is_some() {
            out.push_str("\\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any text, with a high share of harmful characters.
    fn hostile() -> impl Strategy<Value = String> {
        let parts = prop_oneof![
            any::<String>(),
            Just("\u{1b}]0;title\u{7}".to_owned()),
            Just("\u{9b}31m".to_owned()),
            Just("\r\npathtwin: 192.0.2.1 left".to_owned()),
            Just("=cmd|' /C calc'!A0".to_owned()),
            Just("`<img src=x onerror=1>`|".to_owned()),
            Just("\u{202e}txt.exe\u{2066}".to_owned()),
            Just("\u{7f}\0\t\u{2028}\u{feff}\u{e0041}".to_owned()),
        ];
        proptest::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
    }

    fn clean(text: &str, newlines: bool) -> bool {
        !text.chars().any(|c| acts(c) && !(newlines && c == '\n'))
    }

    /// The content of one field of CSV, as RFC 4180 (2.5 to 2.7) has it; `None` if the text is not
    /// exactly one field.
    fn field(text: &str) -> Option<String> {
        let Some(rest) = text.strip_prefix('"') else {
            return (!text.contains(['"', ','])).then(|| text.to_owned());
        };
        let inside = rest.strip_suffix('"')?;
        let content = inside.replace("\"\"", "\u{0}");
        (!content.contains('"')).then(|| content.replace('\u{0}', "\""))
    }

    /// A quotation mark before a percent sign is text in a spreadsheet; doubled by the quoting, it
    /// must not be taken for the quotation mark around the field.
    #[test]
    fn a_quotation_mark_before_a_formula_sign_is_text() {
        assert_eq!(csv("\"%"), "\"\"\"%\"");
        assert_eq!(field(&csv("\"%")).as_deref(), Some("\"%"));
    }

    proptest! {
        #[test]
        fn control_characters_are_always_escaped(text in hostile()) {
            for out in [
                line(&text).into_owned(), csv(&text), markdown(&text), markdown_code(&text), xml(&text), label(&text),
            ] {
                prop_assert!(clean(&out, false), "{out:?}");
            }
            prop_assert!(clean(&lines(&text), true));
        }

        #[test]
        fn harmless_text_is_unchanged(text in "[a-zA-Z0-9 .:/äöü中文]*") {
            prop_assert_eq!(line(&text), text.as_str());
            prop_assert_eq!(lines(&text), text.as_str());
            prop_assert_eq!(csv(&text), text.as_str());
            prop_assert_eq!(xml(&text), text.as_str());
            prop_assert_eq!(label(&text), text.as_str());
        }

        /// Escaping is idempotent, so that applying it twice does no harm.
        #[test]
        fn a_line_once_safe_is_not_changed_again(text in hostile()) {
            let once = line(&text).into_owned();
            prop_assert_eq!(line(&once), once.as_str());
        }

        #[test]
        fn json_stays_the_same_document(text in hostile()) {
            let document = serde_json::to_string_pretty(&serde_json::json!({ "note": text })).unwrap();
            let safe = json(&document);
            prop_assert!(clean(&safe, true), "{safe:?}");
            let read: serde_json::Value = serde_json::from_str(&safe).unwrap();
            prop_assert_eq!(&read["note"], &serde_json::Value::String(text));
        }

        #[test]
        fn no_field_of_csv_is_a_formula_and_every_one_is_a_field(text in hostile()) {
            let out = csv(&text);
            let field = field(&out);
            prop_assert!(field.is_some(), "{out:?}");
            let formula = field.unwrap().trim_start().starts_with(['=', '+', '-', '@', '|', '%']);
            prop_assert!(!formula, "{out:?}");
        }

        #[test]
        fn no_markup_is_left_in_markdown(text in hostile()) {
            let out = markdown(&text);
            let mut before = None;
            let mut escaped = false;
            for c in out.chars() {
                if "`<|".contains(c) {
                    prop_assert!(escaped, "{out:?}");
                }
                escaped = c == '\\' && !(before == Some('\\') && escaped);
                escaped &= c == '\\';
                before = Some(c);
            }
            let code = markdown_code(&text);
            prop_assert!(!code.contains(['`', '|']));
        }
    }

    #[test]
    fn control_characters_are_shown_escaped() {
        assert_eq!(line("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(line("one\ntwo"), "one\\ntwo");
        assert_eq!(lines("one\ntwo\u{9b}"), "one\ntwo\\u{9b}");
        assert_eq!(line("\u{202e}gpj.exe"), "\\u{202e}gpj.exe");
        assert_eq!(
            json("{\"a\":\"\u{9b}\u{e0041}\"}"),
            "{\"a\":\"\\u009b\\udb40\\udc41\"}"
        );
    }

    #[test]
    fn a_formula_becomes_text_and_a_backquote_ends_nothing() {
        assert_eq!(csv("=1+1"), "\"'=1+1\"");
        assert_eq!(csv("a,b"), "\"a,b\"");
        assert_eq!(csv("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(markdown_code("x`<img>"), "x<img>");
        assert_eq!(markdown("<b>|`x`&"), "&lt;b&gt;\\|\\`x\\`&amp;");
        assert_eq!(label("a\"b\\c\nd\u{1b}"), "a\\\"b\\\\c\\nd\\\\u{1b}");
    }
}
