//! Formatting of figures with their units.

use model::run::Unit;

use crate::number::{percent, short};

/// Output format of a unit: its symbol with a leading space, and the conversion of numbers.
pub(crate) struct Printed {
    pub(crate) name: &'static str,
    pub(crate) print: fn(f64) -> String,
}

/// Output format of numbers in a unit.
pub(crate) fn printed(unit: Unit) -> Printed {
    let with = |name, print| Printed { name, print };
    match unit {
        Unit::BitsPerSecond => with(" Mbit/s", |v| short(v / 1e6)),
        Unit::MegabitsPerSecond => with(" Mbit/s", short),
        Unit::BytesPerSecond => with(" MB/s", |v| short(v / 1e6)),
        Unit::Nanoseconds => with(" ms", |v| short(v / 1e6)),
        Unit::Microseconds => with(" ms", |v| short(v / 1e3)),
        Unit::Milliseconds => with(" ms", short),
        Unit::Seconds => with(" ms", |v| short(v * 1e3)),
        Unit::Bytes => with(" bytes", |v| format!("{v:.0}")),
        Unit::SecondsPerGigabyte => with(" s/GB", short),
        Unit::Share => with("", percent),
        Unit::Segments => with(" segments", short),
        Unit::Packets => with(" packets", short),
        Unit::Count | Unit::Flag | Unit::Code => with("", short),
    }
}

/// The unit in which people read numbers of a unit, and how many of the unit it is.
pub(crate) fn shown(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::BitsPerSecond => ("Mbit/s", 1e6),
        Unit::Microseconds => ("ms", 1e3),
        Unit::Share => ("%", 0.01),
        other => (other.symbol(), 1.0),
    }
}
