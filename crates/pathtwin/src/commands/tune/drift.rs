//! Kept changes that somebody has overridden.

use model::{change::ChangeId, text::Text};
use tune::{Drift, Live, TuneError};
use watch::{KeptChange, daemon::Drifts};

use super::journal::path;
use crate::cli::tune::Journal;

/// The kept changes of this host that somebody has overridden, or why that is not known.
pub(crate) fn drifted() -> Result<Drifts, Text> {
    let kept = tune::kept(&path(&Journal::default()));
    let kept = kept.map_err(|error| TuneError::from(error).text())?;
    if kept.is_empty() {
        return Ok(Drifts::default());
    }
    let compared = Live::open().and_then(|mut host| tune::drifted(kept, &mut host));
    let compared = compared.map_err(|error| error.text())?;
    let texts = |(id, drift): (ChangeId, Vec<Drift>)| {
        let settings = drift.iter().map(Drift::text);
        (id.to_string(), settings.collect())
    };
    let kept = |(id, at_s): (ChangeId, u64)| KeptChange {
        id,
        at_us: at_s.saturating_mul(1_000_000),
    };
    Ok(Drifts {
        found: compared.drifted.into_iter().map(texts).collect(),
        kept: compared.in_force.into_iter().map(kept).collect(),
        unread: compared.unread,
    })
}
