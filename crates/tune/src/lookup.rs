//! A change by the beginning of its id, and the lock of its folder.

use model::change::Change;

use crate::{Env, LOCK_LIMIT, error::TuneError};

/// Takes the lock of the folder.
pub(crate) fn lock(env: &Env<'_>) -> Result<sys::lock::Lock, TuneError> {
    env.folder.lock(LOCK_LIMIT)?.ok_or(TuneError::Busy)
}

/// The only change with this id prefix.
pub(crate) fn find(env: &Env<'_>, prefix: &str) -> Result<Change, TuneError> {
    let all = env.folder.list()?;
    let mut fit = all
        .into_iter()
        .filter(|listed| !prefix.is_empty() && listed.id.as_str().starts_with(prefix));
    match (fit.next(), fit.next()) {
        (Some(one), None) => Ok(one.change?),
        (None, _) => Err(TuneError::Unknown(prefix.to_owned())),
        (Some(_), Some(_)) => Err(TuneError::Ambiguous(prefix.to_owned())),
    }
}
