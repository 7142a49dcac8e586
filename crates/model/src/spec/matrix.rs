//! The matrix: factors, their levels, and the combinations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use toml::{
    Spanned,
    de::{DeString, DeTable, DeValue},
};

use super::{
    keys::{self, dotted},
    place::Place,
    reason::Reason,
    text::{Entries, Reader, entry, mark, scalar},
};

/// One key of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    /// The dotted key, or a custom name if every level has a label.
    pub(super) name: String,
    pub(super) levels: Vec<Level>,
    place: Place,
    offset: usize,
}

/// One value of a factor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    /// Value shown in rows.
    pub(super) shown: Json,
    /// Keys it sets.
    pub(super) entries: Entries,
    pub(super) place: Place,
}

impl Factor {
    /// Returns true if a level of this factor sets `key`.
    pub(super) fn sets(&self, key: &str) -> bool {
        self.levels
            .iter()
            .any(|level| level.entries.contains_key(key))
    }

    /// This factor with one level only.
    pub(super) fn fixed(&self, level: Level) -> Self {
        Self {
            levels: vec![level],
            ..self.clone()
        }
    }
}

/// Keys that are not allowed in a matrix.
pub(super) const FIXED: [&str; 3] = ["name", "seed", "repeats"];

impl Reader<'_> {
    /// Reads `[matrix]`: its factors in the order of the file.
    pub(super) fn matrix(
        &mut self,
        key: &Spanned<DeString<'_>>,
        matrix: &Spanned<DeValue<'_>>,
    ) -> Vec<Factor> {
        let mut factors = Vec::new();
        match matrix.get_ref() {
            DeValue::Table(table) => self.factors("", table, &mut factors),
            _ => self.problems.add(
                self.lines.place(key.span()),
                "matrix",
                Reason::NoTable("[matrix]"),
            ),
        }
        factors.sort_by_key(|f| f.offset);
        self.refuse_overlaps(&factors);
        factors
    }

    fn factors(&mut self, name: &str, table: &DeTable<'_>, factors: &mut Vec<Factor>) {
        for (key, value) in table {
            let name = dotted(name, key.get_ref());
            let place = self.lines.place(key.span());
            match value.get_ref() {
                DeValue::Array(levels) => {
                    let offset = key.span().start;
                    let levels = self.levels(&name, place, levels);
                    factors.push(Factor {
                        name,
                        levels,
                        place,
                        offset,
                    });
                }
                DeValue::Table(inner) if keys::is_table(&name) || name == "cross" => {
                    self.factors(&name, inner, factors);
                }
                _ => {
                    let reason = match keys::find(&name) {
                        Some(_) => Reason::NoArray,
                        None => keys::unknown(&name),
                    };
                    self.problems.add(place, &name, reason);
                }
            }
        }
    }

    fn levels(&mut self, name: &str, place: Place, array: &[Spanned<DeValue<'_>>]) -> Vec<Level> {
        let known = keys::find(name).is_some() || keys::is_table(name);
        let all_tables = !array.is_empty() && array.iter().all(|v| v.get_ref().is_table());
        let own_name = !name.contains('.') && all_tables;
        if !known && !own_name {
            self.problems.add(place, name, keys::unknown(name));
            return Vec::new();
        }
        if array.is_empty() {
            self.problems.add(place, name, Reason::NoLevels);
        }
        if FIXED.contains(&name) {
            self.problems.add(place, name, Reason::Fixed);
            return Vec::new();
        }
        let mut shown = BTreeSet::new();
        let mut levels: Vec<Level> = Vec::new();
        for element in array {
            let level = self.level(name, element);
            if !shown.insert(level.shown.to_string()) {
                self.problems.add(
                    level.place,
                    name,
                    Reason::LevelTwice(level.shown.to_string()),
                );
            }
            levels.push(level);
        }
        levels
    }

    fn level(&mut self, name: &str, element: &Spanned<DeValue<'_>>) -> Level {
        let place = self.lines.place(element.span());
        let mut entries = Entries::new();
        let shown = match element.get_ref() {
            DeValue::Table(table) => self.level_table(name, table, place, &mut entries),
            other => {
                let scalar = scalar(other);
                self.scalar(name, &scalar, place, &mut entries);
                scalar.json()
            }
        };
        for key in FIXED.iter().filter(|key| entries.contains_key(**key)) {
            self.problems.add(place, key, Reason::Fixed);
        }
        Level {
            shown,
            entries,
            place,
        }
    }

    /// A level that sets several keys: of the table the factor is named after, else of any table.
    fn level_table(
        &mut self,
        name: &str,
        table: &DeTable<'_>,
        place: Place,
        entries: &mut Entries,
    ) -> Json {
        let of_table = keys::is_table(name);
        if !of_table && keys::find(name).is_some() {
            self.problems.add(place, name, Reason::Table);
            return Json::Null;
        }
        let label = entry(table, "label").map(|value| match value {
            DeValue::String(text) if !text.is_empty() => Json::from(text.as_ref()),
            _ => {
                self.problems.add(place, name, Reason::Label);
                Json::Null
            }
        });
        if label.is_none() && !of_table {
            self.problems.add(place, name, Reason::NoLabel);
        }
        mark(name, place, entries);
        self.table(if of_table { name } else { "" }, table, "label", entries);
        label.unwrap_or_else(|| json(table))
    }

    /// Rejects two factors that set the same key, since the last would silently win.
    fn refuse_overlaps(&mut self, factors: &[Factor]) {
        let mut owners: BTreeMap<&str, &Factor> = BTreeMap::new();
        for factor in factors {
            let mut keys = BTreeMap::new();
            for level in &factor.levels {
                let own = level.entries.keys().filter(|key| *key != "tunnel");
                own.for_each(|key| _ = keys.entry(key.as_str()).or_insert(level.place));
            }
            for (key, place) in keys {
                let owner = owners.entry(key).or_insert(factor);
                if owner.offset != factor.offset {
                    let reason = Reason::Overlap {
                        factor: owner.name.clone(),
                        place: owner.place,
                    };
                    self.problems.add(place, key, reason);
                }
            }
        }
    }
}

fn json(table: &DeTable<'_>) -> Json {
    let pairs = table.iter().map(|(key, value)| {
        let value = match value.get_ref() {
            DeValue::Table(inner) => json(inner),
            other => scalar(other).json(),
        };
        (key.get_ref().to_string(), value)
    });
    Json::Object(pairs.collect())
}
