//! A comparison as JUnit XML, the form that CI servers read: one test case for each figure.

use std::fmt::Write as _;

use model::comparison::{Compared, Comparison, Verdict};

use super::{chance, change, side, title};

/// The document. What is worse fails; of what nothing can be told is skipped.
pub fn junit(comparison: &Comparison) -> String {
    let count = |verdict| comparison.with(verdict).count();
    let numbers = format!(
        "tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\"",
        comparison.lines.len(),
        count(Verdict::Worse),
        count(Verdict::CannotTell)
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"pathtwin compare\" {numbers}>");
    let name = escape(&title(comparison));
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {numbers}>");
    for line in &comparison.lines {
        case(&mut out, line);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, line: &Compared) {
    let (class, name) = (escape(&line.key.to_string()), escape(&line.kind));
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"");
    let chance = match chance(line) {
        p if p.is_empty() => p,
        p => format!(", p {p}"),
    };
    let text = escape(&format!(
        "{}: {} to {}, {}{chance}",
        line.verdict,
        side(&line.kind, line.before),
        side(&line.kind, line.after),
        change(line)
    ));
    let _ = match line.verdict {
        Verdict::Worse => writeln!(
            out,
            ">\n      <failure type=\"regression\" message=\"{text}\"/>\n    </testcase>"
        ),
        Verdict::CannotTell => writeln!(
            out,
            ">\n      <skipped message=\"{text}\"/>\n    </testcase>"
        ),
        Verdict::Better | Verdict::Same => writeln!(
            out,
            ">\n      <system-out>{text}</system-out>\n    </testcase>"
        ),
    };
}

/// Text in XML. Characters that XML 1.0 does not have are left out.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..'\x20' | '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_end_the_attribute() {
        assert_eq!(escape("a\"b<c>&\u{1}d\ne"), "a&quot;b&lt;c&gt;&amp;d e");
    }
}
