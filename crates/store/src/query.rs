//! Queries of a history: lists and series.

use std::collections::BTreeMap;

use model::history::{Entry, Kind, Point, SeriesName};

use crate::{
    Store, StoreError,
    error::Work,
    sql::{Row, Value},
};

/// Selection of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only of this path.
    pub path: Option<String>,
    /// Only with these labels.
    pub labels: Vec<(String, String)>,
    /// Only documents created at or after this time, µs since 1970.
    pub since_us: Option<u64>,
    /// Only documents created before this time.
    pub until_us: Option<u64>,
    /// Maximum number of documents, the newest ones.
    pub limit: Option<u64>,
}

/// Conditions on a document `d`, with their values.
struct Conditions {
    text: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn of(filter: &Filter) -> Self {
        let mut this = Self {
            text: Vec::new(),
            values: Vec::new(),
        };
        if let Some(kind) = filter.kind {
            this.add("d.kind = ?", [kind.name().into()]);
        }
        if let Some(path) = &filter.path {
            this.add("d.path = ?", [path.into()]);
        }
        for (name, value) in &filter.labels {
            let text = "EXISTS (SELECT 1 FROM label l
                WHERE l.document = d.seq AND l.name = ? AND l.value = ?)";
            this.add(text, [name.into(), value.into()]);
        }
        if let Some(since) = filter.since_us {
            this.add("d.created_us >= ?", [(since as i64).into()]);
        }
        if let Some(until) = filter.until_us {
            this.add("d.created_us < ?", [(until as i64).into()]);
        }
        this
    }

    /// Adds a condition; each `?` in it is replaced by one of the values.
    fn add<const N: usize>(&mut self, text: &str, values: [Value; N]) {
        let mut text = text.to_owned();
        for value in values {
            self.values.push(value);
            text = text.replacen('?', &format!("${}", self.values.len()), 1);
        }
        self.text.push(text);
    }

    fn clause(&self) -> String {
        if self.text.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", self.text.join(" AND "))
        }
    }
}

impl Store {
    pub(crate) fn read(
        &mut self,
        statement: &str,
        values: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.sql
            .rows(statement, values)
            .map_err(|e| StoreError::sql(Work::Query, &self.place, e))
    }

    /// Documents, the newest first.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn list(&mut self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        let conditions = Conditions::of(filter);
        let chosen = |columns: &str| {
            let limit = filter.limit.map_or(String::new(), |n| format!("LIMIT {n}"));
            let clause = conditions.clause();
            format!(
                "SELECT {columns} FROM document d {clause}
                 ORDER BY d.created_us DESC, d.seq DESC {limit}"
            )
        };
        let mut labels: BTreeMap<i64, BTreeMap<String, String>> = BTreeMap::new();
        let statement = format!(
            "SELECT l.document, l.name, l.value FROM ({}) c JOIN label l ON l.document = c.seq",
            chosen("d.seq")
        );
        for mut row in self.read(&statement, &conditions.values)? {
            if let (Some(name), Some(value)) = (row.text(1), row.text(2)) {
                labels.entry(row.int(0)).or_default().insert(name, value);
            }
        }
        let columns = "d.seq, d.kind, d.id, d.schema, d.created_us, d.path, d.size, d.stored";
        let rows = self.read(&chosen(columns), &conditions.values)?;
        let entry = |mut row: Row| {
            Some(Entry {
                kind: row.text(1)?.parse().ok()?,
                id: row.text(2)?,
                schema: row.int(3) as u32,
                created_us: row.int(4) as u64,
                path: row.text(5)?,
                labels: labels.remove(&row.int(0)).unwrap_or_default(),
                size_bytes: row.int(6) as u64,
                stored_bytes: row.int(7) as u64,
            })
        };
        Ok(rows.into_iter().filter_map(entry).collect())
    }

    /// The paths with runs, and the number of their runs.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn paths(&mut self) -> Result<Vec<(String, u64)>, StoreError> {
        let statement = "SELECT path, COUNT(*) FROM document WHERE kind = 'run'
            GROUP BY path ORDER BY path";
        let rows = self.read(statement, &[])?;
        let pair = |mut row: Row| Some((row.text(0)?, row.int(1) as u64));
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    /// The series of a path, or of all. Series whose runs were all deleted may still be included.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn series_names(&mut self, path: Option<&str>) -> Result<Vec<SeriesName>, StoreError> {
        let clause = path.map_or("", |_| "WHERE path = $1");
        let statement =
            format!("SELECT path, step, figure FROM series {clause} ORDER BY path, step, figure");
        let values: Vec<Value> = path.into_iter().map(Value::from).collect();
        let name = |mut row: Row| {
            Some(SeriesName {
                path: row.text(0)?,
                step: row.text(1)?.into(),
                figure: row.text(2)?.into(),
            })
        };
        let rows = self.read(&statement, &values)?;
        Ok(rows.into_iter().filter_map(name).collect())
    }

    /// The points of a series in chronological order: the last `limit` of those selected by the
    /// filter.
    ///
    /// # Errors
    ///
    /// The history cannot be read.
    pub fn series(&mut self, name: &SeriesName, filter: &Filter) -> Result<Vec<Point>, StoreError> {
        let series = "SELECT id FROM series WHERE path = $1 AND step = $2 AND figure = $3";
        let values = [
            (&name.path).into(),
            (&name.step).into(),
            (&name.figure).into(),
        ];
        let rows = self.read(series, &values)?;
        let Some(id) = rows.first().map(|row| row.int(0)) else {
            return Ok(Vec::new());
        };
        let mut conditions = Conditions::of(&Filter {
            path: None,
            kind: None,
            ..filter.clone()
        });
        conditions.add("f.series = ?", [id.into()]);
        let limit = filter.limit.map_or(String::new(), |n| format!("LIMIT {n}"));
        let statement = format!(
            "SELECT d.id, f.created_us, f.n, f.median, f.low, f.high
             FROM figure f JOIN document d ON d.seq = f.document {}
             ORDER BY f.created_us DESC, f.document DESC {limit}",
            conditions.clause()
        );
        let point = |mut row: Row| {
            Some(Point {
                run: row.text(0)?,
                created_us: row.int(1) as u64,
                n: row.int(2) as u64,
                median: row.real(3)?,
                low: row.real(4),
                high: row.real(5),
            })
        };
        let rows = self.read(&statement, &conditions.values)?;
        let mut points: Vec<Point> = rows.into_iter().filter_map(point).collect();
        points.reverse();
        Ok(points)
    }

    /// The facts about the hosts of a run, and its labels as `label.NAME`.
    pub(crate) fn facts(&mut self, run: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let statement = "SELECT f.body FROM document d JOIN facts f ON f.id = d.facts
            WHERE d.kind = 'run' AND d.id = $1";
        let mut rows = self.read(statement, &[run.into()])?;
        let body = rows.first_mut().and_then(|row| row.text(0));
        let mut facts: BTreeMap<String, String> = body
            .and_then(|body| serde_json::from_str(&body).ok())
            .unwrap_or_default();
        let labels = "SELECT l.name, l.value FROM label l JOIN document d ON d.seq = l.document
            WHERE d.kind = 'run' AND d.id = $1";
        for mut row in self.read(labels, &[run.into()])? {
            if let (Some(name), Some(value)) = (row.text(0), row.text(1)) {
                facts.insert(format!("label.{name}"), value);
            }
        }
        Ok(facts)
    }
}
