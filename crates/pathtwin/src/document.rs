//! Documents by name: files, standard input, and those of the history.

use std::{io::Read, path::Path};

use anyhow::Context;
use clap::Args;

use crate::exit::{Failure, code};

/// What a file holds, or standard input (`-`); `None` if the name is not that of a file.
pub(crate) fn file(name: &str) -> Option<Result<Vec<u8>, Failure>> {
    let text = if name == "-" {
        let mut text = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut text);
        read.map(|_| text).context("read standard input")
    } else if Path::new(name).exists() || name.contains(['/', '.']) {
        std::fs::read(name).with_context(|| format!("read {name}"))
    } else {
        return None;
    };
    Some(text.map_err(|e| Failure::new(code::USE, e)))
}

/// Where documents are that are no files.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[cfg(feature = "history")]
    #[command(flatten)]
    history: crate::commands::history::Where,
}

impl Place {
    /// A file, or else the run in the history whose id begins so.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<u8>, Failure> {
        file(name).unwrap_or_else(|| self.kept(name))
    }

    #[cfg(feature = "history")]
    fn kept(&self, name: &str) -> Result<Vec<u8>, Failure> {
        Ok(self.history.open()?.body(store::Kind::Run, name)?)
    }

    #[cfg(not(feature = "history"))]
    fn kept(&self, name: &str) -> Result<Vec<u8>, Failure> {
        let why =
            anyhow::anyhow!("{name}: no such file, and this pathtwin was built without a history");
        Err(Failure::new(code::USE, why))
    }
}
