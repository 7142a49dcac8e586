//! Rendering of texts and values in a language.

use std::fmt;

use super::{
    catalogue::Catalogue,
    template::{Text, Value},
};

/// Maximum number of values in one text, including nested texts. It bounds the rendering of hostile
/// documents; texts of this program are far below it.
const MAX_VALUES: u32 = 1000;

/// English templates of units that are words.
const BYTES: &str = "{n} bytes";
const TIMES: &str = "{n} times";

impl Text {
    /// The text in the language of a catalogue; `None` if any of its templates is missing there, so
    /// that no text is translated partially.
    pub fn render(&self, catalogue: &Catalogue) -> Option<String> {
        let mut out = Rendering::new(Some(catalogue));
        out.text(self).then_some(out.text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Rendering::new(None);
        match out.text(self) {
            true => f.write_str(&out.text),
            // Only reached with documents of other programs.
            false => f.write_str(&self.template),
        }
    }
}

/// State of rendering a text.
struct Rendering<'a> {
    catalogue: Option<&'a Catalogue>,
    text: String,
    left: u32,
}

impl<'a> Rendering<'a> {
    fn new(catalogue: Option<&'a Catalogue>) -> Self {
        Self {
            catalogue,
            text: String::new(),
            left: MAX_VALUES,
        }
    }

    /// Adds a text; false if a template or a value is missing.
    fn text(&mut self, text: &Text) -> bool {
        let template = match self.catalogue {
            None => Some(&*text.template),
            Some(catalogue) => catalogue.get(&text.template),
        };
        let Some(mut rest) = template else {
            return false;
        };
        // Braces in a text without values are literal.
        while let Some((before, after)) = rest.split_once('{').filter(|_| !text.values.is_empty()) {
            let Some((name, left)) = after.split_once('}') else {
                return false;
            };
            self.text.push_str(before);
            if !self.value(name, text) {
                return false;
            }
            rest = left;
        }
        self.text.push_str(rest);
        true
    }

    /// Adds the value of a name. A capitalised name begins a sentence.
    fn value(&mut self, name: &str, text: &Text) -> bool {
        let Some(value) = text.values.get(name) else {
            return false;
        };
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        let start = self.text.len();
        let done = match value {
            Value::Text(text) => self.text(text),
            value => {
                self.text.push_str(&value.words(self.catalogue));
                true
            }
        };
        let capitals = self.catalogue.is_none_or(Catalogue::has_capitals);
        if capitals && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            let capital = capital(&self.text[start..]);
            self.text.replace_range(start.., &capital);
        }
        done
    }
}

/// A text with its first letter capitalised.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

impl Value {
    /// Formats the value; texts missing in the catalogue are English.
    fn words(&self, catalogue: Option<&Catalogue>) -> String {
        let unit = |template: &str, number: String| {
            let own = catalogue.and_then(|c| c.get(template));
            own.unwrap_or(template).replacen("{n}", &number, 1)
        };
        match self {
            Self::Bps(v) => format!("{} Mbit/s", digits(v / 1e6)),
            Self::Us(v) => format!("{} ms", digits(v / 1e3)),
            Self::Share(v) if *v > 0.0 && *v < 1e-4 => format!("{:.4} %", v * 100.0),
            Self::Share(v) => format!("{} %", digits(v * 100.0)),
            Self::Bytes(v) if *v >= 1e6 => format!("{} MB", digits(v / 1e6)),
            Self::Bytes(v) if *v >= 1e4 => format!("{} kB", digits(v / 1e3)),
            Self::Bytes(v) => unit(BYTES, format!("{v:.0}")),
            Self::Count(v) => digits(*v),
            Self::Ratio(v) => unit(TIMES, digits(*v)),
            Self::Dbm(v) => format!("{} dBm", digits(*v)),
            Self::Name(name) => name.clone(),
            Self::Text(text) => {
                let own = catalogue.and_then(|c| text.render(c));
                own.unwrap_or_else(|| text.to_string())
            }
        }
    }

    /// The value in the language of a catalogue; texts missing there are English.
    pub fn render(&self, catalogue: &Catalogue) -> String {
        self.words(Some(catalogue))
    }

    /// Templates of units that are words.
    pub fn units() -> [&'static str; 2] {
        [BYTES, TIMES]
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(None))
    }
}

/// Three significant digits, without trailing zeros of a fraction.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        _ => 3,
    };
    // Zero has no sign.
    let value = if value.abs() < 0.0005 { 0.0 } else { value };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits() {
        assert_eq!(Value::Bps(37_840_000.0).to_string(), "37.8 Mbit/s");
        assert_eq!(Value::Bps(947_100_000.0).to_string(), "947 Mbit/s");
        assert_eq!(Value::Us(24_000.0).to_string(), "24 ms");
        assert_eq!(Value::Share(0.0002).to_string(), "0.02 %");
        assert_eq!(Value::Share(0.00002).to_string(), "0.0020 %");
        assert_eq!(Value::Bytes(430_000.0).to_string(), "430 kB");
        assert_eq!(Value::Bytes(1240.0).to_string(), "1240 bytes");
        assert_eq!(Value::Count(7546.0).to_string(), "7546");
        assert_eq!(Value::Dbm(-67.0).to_string(), "-67 dBm");
    }

    #[test]
    fn nothing_is_not_minus_nothing() {
        assert_eq!(Value::Us(-0.3).to_string(), "0 ms");
        assert_eq!(Value::Us(-6.0).to_string(), "-0.006 ms");
    }
}
