//! Arguments for documents that may be in the history.

use clap::Args;

/// Location of documents that are not files.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[cfg(feature = "history")]
    #[command(flatten)]
    pub(crate) history: super::history::StoreArgs,
}
