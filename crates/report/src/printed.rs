//! Formatting of figures with their units.

use model::{
    run::Unit,
    text,
    text::{Text, Value},
};

use crate::number::{percent, short};

/// Output format of a unit.
pub(crate) struct Printed {
    /// Its symbol, if it is not a part of the number.
    pub(crate) symbol: Option<Value>,
    /// The conversion of numbers.
    pub(crate) print: fn(f64) -> String,
}

impl Printed {
    /// A number with its unit, in English.
    pub(crate) fn with_unit(&self, value: f64) -> String {
        let number = (self.print)(value);
        match &self.symbol {
            Some(symbol) => format!("{number} {symbol}"),
            None => number,
        }
    }
}

/// Output format of numbers in a unit.
pub(crate) fn printed(unit: Unit) -> Printed {
    let with = |symbol: Value, print| Printed {
        symbol: Some(symbol),
        print,
    };
    let name = |symbol: &str, print| with(symbol.into(), print);
    let word = |symbol: Text, print| with(symbol.into(), print);
    let bare = |print| Printed {
        symbol: None,
        print,
    };
    match unit {
        Unit::BitsPerSecond => name("Mbit/s", |v| short(v / 1e6)),
        Unit::MegabitsPerSecond => name("Mbit/s", short),
        Unit::BytesPerSecond => name("MB/s", |v| short(v / 1e6)),
        Unit::Nanoseconds => name("ms", |v| short(v / 1e6)),
        Unit::Microseconds => name("ms", |v| short(v / 1e3)),
        Unit::Milliseconds => name("ms", short),
        Unit::Seconds => name("ms", |v| short(v * 1e3)),
        Unit::Bytes => word(text!("bytes"), |v| format!("{v:.0}")),
        Unit::SecondsPerGigabyte => name("s/GB", short),
        Unit::Share => bare(percent),
        Unit::Segments => word(text!("segments"), short),
        Unit::Packets => word(text!("packets"), short),
        Unit::Count | Unit::Flag | Unit::Code => bare(short),
    }
}

/// The unit for display, and its size in the given unit.
pub(crate) fn shown(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::BitsPerSecond => ("Mbit/s", 1e6),
        Unit::Microseconds => ("ms", 1e3),
        Unit::Share => ("%", 0.01),
        other => (other.symbol(), 1.0),
    }
}
