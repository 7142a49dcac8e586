//! Stored documents.

use std::collections::BTreeMap;

use model::{
    facts::named,
    history::{FigureName, Kind, Named, StepName},
    run::{RUN_SCHEMA, Run, RunError},
    safe, text,
    text::Text,
};

use crate::StoreError;

/// A document to store.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Kind.
    pub kind: Kind,
    /// Its id: letters, digits, `-` and `_`, at most 64.
    pub id: String,
    /// Version of its shape.
    pub schema: u32,
    /// Creation time, µs since 1970.
    pub created_us: u64,
    /// The path it is of: runs of one path make a series.
    pub path: String,
    /// Labels by name.
    pub labels: BTreeMap<String, String>,
    /// The document as it was written, JSON.
    pub body: Vec<u8>,
    /// Facts about the hosts, by name.
    pub facts: BTreeMap<String, String>,
    /// The figures of a run.
    pub figures: Vec<FigureRow>,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureRow {
    /// Step that was run.
    pub step: StepName,
    /// Kind of the figure.
    pub figure: FigureName,
    /// Number of samples.
    pub n: u64,
    /// Their median.
    pub median: f64,
    /// The 95 % interval.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl Document {
    /// Its kind and id, for errors. The id is not checked yet: it may contain line breaks.
    pub(crate) fn text(&self) -> Text {
        text!(
            "the {kind} {id}",
            kind = self.kind.text(),
            id = safe::line(&self.id).into_owned()
        )
    }

    /// A document whose content is not read.
    pub fn new(kind: Kind, id: &str, created_us: u64, path: &str, body: Vec<u8>) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            schema: 1,
            created_us,
            path: path.to_owned(),
            labels: BTreeMap::new(),
            body,
            facts: BTreeMap::new(),
            figures: Vec::new(),
        }
    }

    /// A Run, from its JSON text. `name`: its origin, for errors.
    ///
    /// # Errors
    ///
    /// It is not a Run, or from a newer program.
    pub fn of_run(body: Vec<u8>, name: &str) -> Result<Self, StoreError> {
        let run = Run::parse(&body).map_err(|e: RunError| StoreError::Format {
            what: Text::name(name),
            why: e.into(),
        })?;
        let mut document = Self::new(Kind::Run, &run.id, run.started_us, &run.path(), body);
        document.schema = run.schema.min(RUN_SCHEMA);
        document.facts = named(&run);
        if let Some(kernel) = &run.near.facts.kernel {
            document.labels.insert("kernel".to_owned(), kernel.clone());
        }
        document.figures = figures(&run);
        Ok(document)
    }

    /// Sets a label. The label `path` is the path itself.
    pub fn label(&mut self, name: &str, value: &str) {
        if name == "path" {
            value.clone_into(&mut self.path);
        } else {
            self.labels.insert(name.to_owned(), value.to_owned());
        }
    }
}

fn figures(run: &Run) -> Vec<FigureRow> {
    let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
    let rows = run.figures.iter().filter(|f| f.spread.median.is_finite());
    rows.map(|figure| FigureRow {
        step: Named::Known(figure.key.clone()),
        figure: Named::Known(figure.kind),
        n: figure.spread.n as u64,
        median: figure.spread.median,
        low: finite(figure.spread.low),
        high: finite(figure.spread.high),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_with_line_breaks_forges_no_line_of_an_error() {
        let document = Document::new(Kind::Run, "r\r\npathtwin: forged", 0, "p", Vec::new());
        let text = document.text().to_string();
        assert_eq!(text.lines().count(), 1, "{text}");
        let damaged = crate::StoreError::Damaged {
            id: "r\npathtwin: forged".to_owned(),
            why: "cut".into(),
        };
        for text in [damaged.to_string(), damaged.text().to_string()] {
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
}
