//! Conversion of TOML text into checked entries, one for each dotted key, with its line.

use std::{collections::BTreeMap, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    error::Problems,
    keys::{self, dotted},
    place::Place,
    reason::Reason,
    value::{Scalar, Switch, Value},
};

/// A checked value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// Entries by dotted key.
pub(super) type Entries = BTreeMap<String, Entry>;

/// Checks a value for a key.
pub(super) fn check(
    name: &str,
    scalar: &Scalar,
    place: Place,
    crosses: usize,
) -> Result<Entry, Reason> {
    let key = keys::find(name).ok_or_else(|| keys::unknown(name))?;
    if keys::cross_index(name).is_some_and(|index| index >= crosses) {
        return Err(Reason::NoCross(crosses));
    }
    Ok(Entry {
        value: key.kind.check(scalar)?,
        place,
    })
}

/// Walker of TOML tables.
pub(super) struct Reader<'a> {
    pub(super) lines: Lines,
    pub(super) crosses: usize,
    pub(super) problems: &'a mut Problems,
}

impl Reader<'_> {
    /// Reads all keys of a table, except for `skip`, into `entries`.
    pub(super) fn table(
        &mut self,
        name: &str,
        table: &DeTable<'_>,
        skip: &str,
        entries: &mut Entries,
    ) {
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != skip) {
            let name = dotted(name, key.get_ref());
            let place = self.lines.place(key.span());
            match value.get_ref() {
                DeValue::Table(inner) => self.inner_table(&name, inner, place, entries),
                DeValue::Array(array) if name == "cross" => self.crosses(array, entries),
                other => self.scalar(&name, &scalar(other), place, entries),
            }
        }
    }

    /// Checks one value and stores it.
    pub(super) fn scalar(
        &mut self,
        name: &str,
        scalar: &Scalar,
        place: Place,
        entries: &mut Entries,
    ) {
        let entry = match check(name, scalar, place, self.crosses) {
            Ok(entry) => entry,
            Err(reason) => return self.problems.add(place, name, reason),
        };
        if let Some(first) = entries.insert(name.to_owned(), entry) {
            self.problems
                .add(place, name, Reason::SetTwice(first.place));
        }
    }

    fn inner_table(
        &mut self,
        name: &str,
        table: &DeTable<'_>,
        place: Place,
        entries: &mut Entries,
    ) {
        if keys::is_table(name) {
            mark(name, place, entries);
            return self.table(name, table, "", entries);
        }
        let reason = match keys::find(name) {
            Some(_) => Reason::Table,
            None => keys::unknown(name),
        };
        self.problems.add(place, name, reason);
    }

    fn crosses(&mut self, array: &[Spanned<DeValue<'_>>], entries: &mut Entries) {
        for (i, element) in array.iter().enumerate() {
            let name = format!("cross.{i}");
            match element.get_ref() {
                DeValue::Table(table) => self.table(&name, table, "", entries),
                _ => {
                    let place = self.lines.place(element.span());
                    self.problems
                        .add(place, &name, Reason::NoTable("[[cross]]"));
                }
            }
        }
    }
}

/// Records that there is a tunnel if this table is the tunnel's.
pub(super) fn mark(table: &str, place: Place, entries: &mut Entries) {
    if table == "tunnel" || table.starts_with("tunnel.") {
        let on = Entry {
            value: Value::Switch(Switch::On),
            place,
        };
        entries.entry("tunnel".to_owned()).or_insert(on);
    }
}

/// A TOML value other than a table as a scalar.
pub(super) fn scalar(value: &DeValue<'_>) -> Scalar {
    match value {
        DeValue::String(text) => Scalar::Text(text.clone().into_owned()),
        DeValue::Boolean(b) => Scalar::Bool(*b),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Scalar::Integer(n),
            Err(_) => Scalar::Other("integer beyond 64 bits"),
        },
        DeValue::Float(x) => match x.as_str().parse() {
            Ok(x) => Scalar::Float(x),
            Err(_) => Scalar::Other("float"),
        },
        other => Scalar::Other(other.type_str()),
    }
}

/// The value of a key of a table.
pub(super) fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<&'t DeValue<'i>> {
    table
        .iter()
        .find(|(key, _)| key.get_ref() == name)
        .map(|(_, value)| value.get_ref())
}

/// Offsets of line ends.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line on which a span starts.
    pub(super) fn place(&self, span: Range<usize>) -> Place {
        Place::Line(self.0.partition_point(|end| *end < span.start) + 1)
    }
}
