//! Newest run of each path and host, with its facts and figures, for overviews.

use std::collections::BTreeMap;

use model::history::{FigureName, StepName};

use crate::{Store, StoreError, sql::Row};

/// The newest run of a path by one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Latest {
    /// The path.
    pub path: String,
    /// The host that measured it, by the label `host`; absent if it has none.
    pub host: Option<String>,
    /// The run.
    pub run: String,
    /// Start time, µs since 1970.
    pub created_us: u64,
    /// Facts about both hosts by their dotted names.
    pub facts: BTreeMap<String, String>,
    /// Its figures: step, kind and median.
    pub figures: Vec<(StepName, FigureName, f64)>,
}

impl Store {
    /// The newest run of each path and host, by path and host.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn latest(&mut self) -> Result<Vec<Latest>, StoreError> {
        let newest = "SELECT d.path, l.value, MAX(d.created_us) FROM document d
            LEFT JOIN label l ON l.document = d.seq AND l.name = 'host'
            WHERE d.kind = 'run' GROUP BY d.path, l.value ORDER BY d.path, l.value";
        let mut found = Vec::new();
        for mut row in self.read(newest, &[])? {
            let (Some(path), host) = (row.text(0), row.text(1)) else {
                continue;
            };
            let created_us = row.int(2);
            found.extend(self.newest_of(path, host, created_us)?);
        }
        Ok(found)
    }

    fn newest_of(
        &mut self,
        path: String,
        host: Option<String>,
        created_us: i64,
    ) -> Result<Option<Latest>, StoreError> {
        let run = "SELECT d.seq, d.id, l.value FROM document d
            LEFT JOIN label l ON l.document = d.seq AND l.name = 'host'
            WHERE d.kind = 'run' AND d.path = $1 AND d.created_us = $2 ORDER BY d.seq DESC";
        let rows = self.read(run, &[(&path).into(), created_us.into()])?;
        let same = |mut row: Row| (row.text(2) == host).then(|| Some((row.int(0), row.text(1)?)));
        let Some((seq, run)) = rows.into_iter().filter_map(same).flatten().next() else {
            return Ok(None);
        };
        let figures = "SELECT s.step, s.figure, f.median FROM series s
            JOIN figure f ON f.series = s.id
            WHERE s.path = $1 AND f.created_us = $2 AND f.document = $3
            ORDER BY s.step, s.figure";
        let figures = self.read(figures, &[(&path).into(), created_us.into(), seq.into()])?;
        let figure = |mut row: Row| Some((row.text(0)?.into(), row.text(1)?.into(), row.real(2)?));
        Ok(Some(Latest {
            facts: self.facts(&run)?,
            figures: figures.into_iter().filter_map(figure).collect(),
            path,
            host,
            run,
            created_us: created_us as u64,
        }))
    }
}
