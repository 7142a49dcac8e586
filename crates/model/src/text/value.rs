//! Values of texts: figures with units, names, nested texts.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use super::{Catalogue, Text};
use crate::{
    cause::CauseCode,
    net::{Direction, Layer, Side},
    text,
};

/// A value in a text, or of an item of evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bit/s.
    Bps(f64),
    /// Microseconds.
    Us(f64),
    /// A share, 0 to 1.
    Share(f64),
    /// Bytes.
    Bytes(f64),
    /// A count.
    Count(f64),
    /// A ratio.
    Ratio(f64),
    /// Power, dBm.
    Dbm(f64),
    /// A name or setting, the same in every language.
    Name(String),
    /// A nested text with its own translation.
    Text(Text),
}

/// English templates of units that are words.
const BYTES: &str = "{n} bytes";
const TIMES: &str = "{n} times";

impl Value {
    /// Formats the value; texts missing in the catalogue are English.
    pub(super) fn words(&self, catalogue: Option<&Catalogue>) -> String {
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

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<String> for Value {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<&str> for Value {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<&String> for Value {
    fn from(name: &String) -> Self {
        Self::Name(name.clone())
    }
}

impl From<&CauseCode> for Value {
    fn from(code: &CauseCode) -> Self {
        Self::Name(code.to_string())
    }
}

impl From<Direction> for Value {
    fn from(direction: Direction) -> Self {
        Self::Text(match direction {
            Direction::Down => text!("down"),
            Direction::Up => text!("up"),
        })
    }
}

impl From<Layer> for Value {
    fn from(layer: Layer) -> Self {
        Self::Text(match layer {
            Layer::Underlay => text!("underlay"),
            Layer::Tunnel => text!("tunnel"),
        })
    }
}

impl From<Side> for Value {
    fn from(side: Side) -> Self {
        Self::Text(match side {
            Side::Near => text!("near host"),
            Side::Far => text!("far host"),
        })
    }
}

/// An address is the same in every language.
impl From<IpAddr> for Value {
    fn from(address: IpAddr) -> Self {
        Self::Name(address.to_string())
    }
}

/// An address is the same in every language.
impl From<SocketAddr> for Value {
    fn from(address: SocketAddr) -> Self {
        Self::Name(address.to_string())
    }
}

/// A path is the same in every language.
impl From<&Path> for Value {
    fn from(path: &Path) -> Self {
        Self::Name(path.display().to_string())
    }
}

/// A path is the same in every language.
impl From<&PathBuf> for Value {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

/// The message of the parser is quoted.
impl From<&serde_json::Error> for Value {
    fn from(error: &serde_json::Error) -> Self {
        Self::Name(error.to_string())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Count(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Count(number as f64)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Count(number as f64)
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
