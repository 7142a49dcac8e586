//! Kept changes that somebody has overridden.

use std::collections::BTreeMap;

use model::{change::ChangeId, text::Text};
use tune::{Drift, Folder, Live, TuneError};

use super::journal::path;
use crate::cli::tune::Journal;

/// The kept changes of this host that somebody has overridden, by id, with their settings; none
/// where the journals may not be read, or a setting cannot.
pub(crate) fn drifted() -> BTreeMap<String, Vec<Text>> {
    let path = path(&Journal::default());
    if !path.try_exists().unwrap_or(false) {
        return BTreeMap::new();
    }
    let found = Folder::open(&path).map_err(TuneError::from);
    let found = found.and_then(|folder| {
        let mut host = Live::open().map_err(TuneError::from)?;
        tune::drifted(&folder, &mut host)
    });
    let texts = |(id, drift): (ChangeId, Vec<Drift>)| {
        let settings = drift.iter().map(Drift::text);
        (id.to_string(), settings.collect())
    };
    found.map_or_else(
        |_| BTreeMap::new(),
        |all| all.into_iter().map(texts).collect(),
    )
}
