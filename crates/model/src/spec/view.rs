//! Values of one combination of the matrix.

use std::collections::BTreeSet;

use super::{
    error::Problems,
    keys,
    matrix::Level,
    place::Place,
    reason::Reason,
    text::{Entries, Entry},
    value::Value,
};

/// The values of one combination.
pub(super) struct View<'a> {
    pub(super) base: &'a Entries,
    pub(super) levels: &'a [&'a Level],
    /// Keys that were set and used by some cell.
    pub(super) used: &'a mut BTreeSet<String>,
    pub(super) problems: &'a mut Problems,
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Found<T> {
    pub(super) value: T,
    /// The dotted key of the value.
    pub(super) key: String,
    pub(super) place: Place,
}

impl View<'_> {
    /// The value of a key, or its default.
    pub(super) fn get<T: for<'v> TryFrom<&'v Value>>(&mut self, key: &str) -> Option<Found<T>> {
        self.first([key.to_owned()])
    }

    /// The value of the first of several keys that is set, or the default of the last.
    pub(super) fn first<T, const N: usize>(&mut self, names: [String; N]) -> Option<Found<T>>
    where
        T: for<'v> TryFrom<&'v Value>,
    {
        for name in &names {
            if let Some(Entry { value, place }) = self.entry(name) {
                let (value, place) = (T::try_from(value).ok()?, *place);
                if !self.used.contains(name) {
                    self.used.insert(name.clone());
                }
                return Some(Found {
                    value,
                    key: name.clone(),
                    place,
                });
            }
        }
        let last = names.last()?;
        let value = T::try_from(&keys::find(last)?.default_value()?).ok()?;
        Some(Found {
            value,
            key: last.clone(),
            place: Place::File,
        })
    }

    /// Like [`Self::get`], without the origin.
    pub(super) fn plain<T: for<'v> TryFrom<&'v Value>>(&mut self, key: &str) -> Option<T> {
        self.get(key).map(|found| found.value)
    }

    /// Rejects the value of the first of several keys that is set, or the default of the last.
    pub(super) fn refuse_first(&mut self, names: &[String], reason: impl Fn(&str) -> Reason) {
        let set = names
            .iter()
            .find_map(|name| Some((name, self.entry(name)?.place)));
        let last = || names.last().map(|name| (name, Place::File));
        if let Some((name, place)) = set.or_else(last) {
            self.problems.add(place, name, reason(name));
        }
    }

    /// Rejects the value of a key that must not be set.
    pub(super) fn refuse_set(&mut self, name: &str, reason: Reason) {
        if let Some(place) = self.entry(name).map(|entry| entry.place) {
            self.problems.add(place, name, reason);
        }
    }

    /// Rejects a value.
    pub(super) fn refuse<T>(&mut self, found: &Found<T>, reason: Reason) {
        self.problems.add(found.place, &found.key, reason);
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let varied = self
            .levels
            .iter()
            .rev()
            .find_map(|level| level.entries.get(name));
        varied.or_else(|| self.base.get(name))
    }
}
