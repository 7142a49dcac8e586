//! Which document, where it may be one of the history.

use clap::Args;

/// Where documents are that are no files.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) history: super::history::Where,
}
