//! Input documents of reports.

use std::collections::BTreeMap;

use model::{
    advice::{Advice, AdviceError},
    findings::Findings,
    job::ProveOutput,
    row::{Rows, RowsError},
    run::{Run, RunError},
    twin::{Twin, TwinDocumentError},
};

use crate::{advice, findings, proof, run, terminal, twin};

/// A document that can be reported.
#[derive(Clone, Debug)]
pub enum Document {
    /// A run.
    Run(Box<Run>),
    /// Rows of the lab.
    Rows(Rows),
    /// A twin.
    Twin(Box<Twin>),
    /// An advice.
    Advice(Box<Advice>),
}

/// Titles of causes by their codes. Findings name causes ruled out or left open by their code only.
pub type CauseTitles = BTreeMap<&'static str, &'static str>;

/// The documents of one report, at least one.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// A run with its findings.
    pub run: Option<(Run, Findings)>,
    /// Titles of the causes in the findings; one without a title is named by its code.
    pub causes: CauseTitles,
    /// Results of the lab.
    pub matrices: Vec<Rows>,
    /// A twin of the run.
    pub twin: Option<Twin>,
    /// Remedies tried on it.
    pub advice: Option<Advice>,
    /// Changes applied to the hosts, with their proofs.
    pub changes: Vec<ProveOutput>,
}

/// Error of reading a document for a report.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// None of the known documents.
    #[error("neither a run of `measure`, rows of `lab run`, a twin nor an advice: {0}")]
    Format(serde_json::Error),
    /// An unreadable run.
    #[error(transparent)]
    Run(RunError),
    /// Unreadable rows.
    #[error(transparent)]
    Rows(RowsError),
    /// An unreadable twin.
    #[error(transparent)]
    Twin(TwinDocumentError),
    /// An unreadable advice.
    #[error(transparent)]
    Advice(AdviceError),
    /// More than one twin or advice.
    #[error("a report takes one twin and one advice, and this is a second one")]
    TwoTwins,
    /// More than one run.
    #[error("a report takes one run, and this is a second one (use pathtwin compare for two)")]
    TwoRuns,
}

impl Document {
    /// Reads a run, rows, a twin or an advice.
    ///
    /// # Errors
    /// The text is not such a document, or cannot be read.
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
        if first.get("held_out").is_some() || first.get("effort").is_some() {
            let twin = Twin::parse(text).map_err(DocumentError::Twin)?;
            return Ok(Self::Twin(Box::new(twin)));
        }
        if first.get("tried").is_some() {
            let advice = Advice::parse(text).map_err(DocumentError::Advice)?;
            return Ok(Self::Advice(Box::new(advice)));
        }
        let run = Run::parse(text).map_err(|e| match e {
            RunError::Format(e) if first.get("samples").is_none() => DocumentError::Format(e),
            e => DocumentError::Run(e),
        })?;
        Ok(Self::Run(Box::new(run)))
    }
}

impl Documents {
    /// Adds a document. The findings of a run come from `judge`: a report does not judge.
    ///
    /// # Errors
    /// A run, a twin or an advice has already been added.
    pub fn add(
        &mut self,
        document: Document,
        judge: impl FnOnce(&Run) -> Findings,
    ) -> Result<(), DocumentError> {
        match document {
            Document::Run(_) if self.run.is_some() => return Err(DocumentError::TwoRuns),
            Document::Run(run) => {
                let findings = judge(&run);
                self.run = Some((*run, findings));
            }
            Document::Rows(rows) => self.matrices.push(rows),
            Document::Twin(_) if self.twin.is_some() => return Err(DocumentError::TwoTwins),
            Document::Twin(twin) => self.twin = Some(*twin),
            Document::Advice(_) if self.advice.is_some() => return Err(DocumentError::TwoTwins),
            Document::Advice(advice) => self.advice = Some(*advice),
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
            terminal::table(&rows.rows, None, None)
        ));
    }
    parts.extend(documents.twin.as_ref().map(twin::text));
    parts.extend(documents.advice.as_ref().map(advice::text));
    parts.extend(documents.changes.iter().map(proof::text));
    parts.join("\n")
}
