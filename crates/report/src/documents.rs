//! Input documents of reports.

use model::{
    findings::Findings,
    row::{Rows, RowsError},
    run::{Run, RunError},
};

use crate::{findings, run, terminal};

/// A document that a report can be made of.
#[derive(Clone, Debug)]
pub enum Document {
    /// A run.
    Run(Box<Run>),
    /// Rows of the lab.
    Rows(Rows),
}

/// The documents of one report, at least one.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// A run with its findings.
    pub run: Option<(Run, Findings)>,
    /// Results of the lab.
    pub matrices: Vec<Rows>,
}

/// Error of reading a document for a report.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Neither a run nor rows.
    #[error("neither a run of `measure` nor rows of `lab run`: {0}")]
    Format(serde_json::Error),
    /// An unreadable run.
    #[error(transparent)]
    Run(RunError),
    /// Unreadable rows.
    #[error(transparent)]
    Rows(RowsError),
    /// More than one run.
    #[error("a report takes one run, and this is a second one (use pathtwin compare for two)")]
    TwoRuns,
}

impl Document {
    /// Reads a run or rows.
    ///
    /// # Errors
    /// The text is neither, or cannot be read.
    pub fn parse(text: &[u8]) -> Result<Self, DocumentError> {
        // Rows may be one per line: the first value determines the kind.
        let first = serde_json::Deserializer::from_slice(text)
            .into_iter::<serde_json::Value>()
            .next();
        let first = match first {
            Some(value) => value.map_err(DocumentError::Format)?,
            None => serde_json::Value::Null,
        };
        if first.get("factors").is_some() || first.get("rows").is_some() {
            return Rows::parse(text)
                .map(Self::Rows)
                .map_err(DocumentError::Rows);
        }
        let run = Run::parse(text).map_err(|e| match e {
            RunError::Format(e) if first.get("samples").is_none() => DocumentError::Format(e),
            e => DocumentError::Run(e),
        })?;
        Ok(Self::Run(Box::new(run)))
    }
}

impl Documents {
    /// Adds a document; findings of a run are computed.
    ///
    /// # Errors
    /// A run has already been added.
    pub fn add(&mut self, document: Document) -> Result<(), DocumentError> {
        match document {
            Document::Run(_) if self.run.is_some() => return Err(DocumentError::TwoRuns),
            Document::Run(run) => {
                let findings = explain::judge(&run);
                self.run = Some((*run, findings));
            }
            Document::Rows(rows) => self.matrices.push(rows),
        }
        Ok(())
    }
}

/// All documents as tables for a terminal.
pub fn text(documents: &Documents) -> String {
    let mut parts = Vec::new();
    if let Some((run, found)) = &documents.run {
        parts.push(run::text(run));
        parts.push(findings::text(found, false));
    }
    for rows in &documents.matrices {
        parts.push(format!(
            "{}\n{}",
            rows.name,
            terminal::table(&rows.rows, None)
        ));
    }
    parts.join("\n")
}
