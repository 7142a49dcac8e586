//! Messages about the cache.

use super::entry::Damage;

/// Messages about the cache for the user.
#[derive(Debug, thiserror::Error)]
pub enum CacheNote {
    /// A result was damaged; it was not used, and removed if it was the user's own.
    #[error("the cached result {place} was discarded: {why}")]
    Damaged {
        /// Its location.
        place: String,
        /// Its fault.
        #[source]
        why: Damage,
    },
    /// The remote cache violates the protocol, and is not used again.
    #[error("the cache {url} is not used any more: {why}")]
    Remote {
        /// The cache.
        url: String,
        /// Its error.
        #[source]
        why: RemoteError,
    },
    /// The remote cache rejects results, and no more are sent to it.
    #[error("the cache {url} accepts no results: {why} (PATHTWIN_CACHE_UPLOAD=no stops trying)")]
    Upload {
        /// The cache.
        url: String,
        /// Its error.
        #[source]
        why: RemoteError,
    },
}

/// Error of a remote cache.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The connection, or the data received over it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It refused.
    #[error("it responded with HTTP status {0}")]
    Status(u16),
}
