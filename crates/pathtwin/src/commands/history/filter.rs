//! Filters of documents by the arguments.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::history::Kind;
use store::Filter;

use crate::cli::history::{KindFilter, Selection};

impl KindFilter {
    pub(super) fn filter(&self, kind: Option<Kind>) -> Filter {
        Filter {
            kind,
            path: self.path.clone(),
            labels: self.label.clone(),
            since_us: self.since.map(ago_us),
            until_us: None,
            limit: self.last,
        }
    }
}

impl Selection {
    pub(super) fn filter(&self) -> Filter {
        self.which.filter(self.kind)
    }
}

/// The time this long ago, µs since 1970.
pub(super) fn ago_us(age: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().saturating_sub(age).as_micros() as u64
}
