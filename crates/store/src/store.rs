//! Opening a history, and writing to it.

use std::collections::BTreeMap;

use crate::{
    Document, FigureRow, Place, StoreError,
    document::Kind,
    postgres::Postgres,
    schema,
    sql::{Sql, SqlError, Value},
    sqlite::Sqlite,
};

/// How often a transaction that gave way to another is tried again.
const TRIES: u32 = 10;

/// Rows in one statement; the databases allow some 32,000 parameters.
const AT_ONCE: usize = 500;

/// Largest document that is read back, bytes.
const LARGEST: i64 = 1 << 30;

/// An open history.
pub struct Store {
    pub(crate) sql: Box<dyn Sql>,
    pub(crate) place: String,
}

/// What became of a document that was to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is saved: it will be there whatever happens to this process or to the power.
    Added,
    /// The same one was there already.
    Known,
}

/// A document by its row.
pub(crate) struct Found {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) created_us: i64,
    pub(crate) path: String,
}

impl Store {
    /// Opens a history, makes it if it is not there, and brings an older one up to date. One of a
    /// newer program is refused and left as it is.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        let name = place.to_string();
        let mut sql: Box<dyn Sql> = match place {
            Place::File(path) => Box::new(Sqlite::open(path, |sql| {
                schema::check(sql, &name).map(|_| ())
            })?),
            Place::Server(address) => Box::new(Postgres::open(address)?),
        };
        schema::migrate(sql.as_mut(), &name)?;
        Ok(Self { sql, place: name })
    }

    /// Does `work` in one transaction.
    pub(crate) fn transaction<T>(
        &mut self,
        what: &'static str,
        mut work: impl FnMut(&mut dyn Sql) -> Result<T, SqlError>,
    ) -> Result<T, StoreError> {
        let mut tries = 0;
        loop {
            let sql = self.sql.as_mut();
            let result = sql.begin().and_then(|()| {
                let value = work(sql)?;
                sql.batch("COMMIT")?;
                Ok(value)
            });
            match result {
                Ok(value) => return Ok(value),
                Err(error) => {
                    let _ = self.sql.batch("ROLLBACK");
                    tries += 1;
                    if tries < TRIES && matches!(error, SqlError::Again) {
                        continue;
                    }
                    return Err(StoreError::sql(what, &self.place, error));
                }
            }
        }
    }

    /// Saves a document. When this returns, it is on the disk.
    pub fn save(&mut self, document: &Document) -> Result<Saved, StoreError> {
        let saved = self.save_all(std::slice::from_ref(document))?;
        Ok(saved.first().copied().unwrap_or(Saved::Known))
    }

    /// Saves several documents, all or none.
    pub fn save_all(&mut self, documents: &[Document]) -> Result<Vec<Saved>, StoreError> {
        for document in documents {
            check_id(document)?;
        }
        let bodies: Vec<Vec<u8>> = documents.iter().map(compress).collect::<Result<_, _>>()?;
        let saved = self.transaction("save a document", |sql| {
            let pairs = documents.iter().zip(&bodies);
            pairs
                .map(|(document, body)| insert(sql, document, body))
                .collect()
        });
        let saved: Vec<Saved> = saved?;
        for (document, saved) in documents.iter().zip(&saved) {
            if *saved == Saved::Known
                && !same(&self.body(document.kind, &document.id)?, &document.body)
            {
                return Err(StoreError::Format {
                    what: format!("the {} {}", document.kind, document.id),
                    why: "another document with this id is in the history; that one was kept"
                        .to_owned(),
                });
            }
        }
        Ok(saved)
    }

    /// The document whose id begins with `prefix`, of a kind.
    pub(crate) fn find(&mut self, kind: Kind, prefix: &str) -> Result<Found, StoreError> {
        let pattern = prefix
            .replace('\\', "\\\\")
            .replace('_', "\\_")
            .replace('%', "\\%")
            + "%";
        let statement = "SELECT seq, id, created_us, path FROM document
            WHERE kind = $1 AND id LIKE $2 ESCAPE '\\' ORDER BY id";
        let mut rows = self
            .sql
            .rows(statement, &[kind.name().into(), (&pattern).into()])
            .map_err(|e| StoreError::sql("look for a document", &self.place, e))?;
        let exact = rows
            .iter_mut()
            .position(|row| matches!(row.0.get(1), Some(Value::Text(id)) if id == prefix));
        let count = rows.len();
        let row = match (exact, count) {
            (Some(at), _) => rows.get_mut(at),
            (None, 1) => rows.first_mut(),
            (None, 0) => None,
            (None, _) => {
                return Err(StoreError::Ambiguous {
                    prefix: prefix.to_owned(),
                    count,
                });
            }
        };
        let row = row.ok_or_else(|| StoreError::Missing(prefix.to_owned()))?;
        Ok(Found {
            seq: row.int(0),
            id: row.text(1).unwrap_or_default(),
            created_us: row.int(2),
            path: row.text(3).unwrap_or_default(),
        })
    }

    /// A document as it was written, by the beginning of its id.
    pub fn body(&mut self, kind: Kind, prefix: &str) -> Result<Vec<u8>, StoreError> {
        let found = self.find(kind, prefix)?;
        let statement = "SELECT b.data, d.size FROM body b JOIN document d ON d.seq = b.document
            WHERE b.document = $1";
        let mut rows = self
            .sql
            .rows(statement, &[found.seq.into()])
            .map_err(|e| StoreError::sql("read a document", &self.place, e))?;
        let row = rows.first_mut();
        let (data, size) = row
            .and_then(|row| Some((row.bytes(0)?, row.int(1))))
            .ok_or_else(|| StoreError::Missing(prefix.to_owned()))?;
        decompress(&data, size).map_err(|why| StoreError::Damaged { id: found.id, why })
    }

    /// The path that a document is of.
    pub fn path_of(&mut self, kind: Kind, prefix: &str) -> Result<String, StoreError> {
        Ok(self.find(kind, prefix)?.path)
    }

    /// Deletes a document.
    pub fn delete(&mut self, kind: Kind, prefix: &str) -> Result<String, StoreError> {
        let found = self.find(kind, prefix)?;
        self.transaction("delete a document", |sql| remove(sql, &found))?;
        Ok(found.id)
    }

    /// Puts a label on a document, or takes it away; `path` is the path itself and stays.
    pub fn label(
        &mut self,
        kind: Kind,
        prefix: &str,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), StoreError> {
        let found = self.find(kind, prefix)?;
        self.transaction("label a document", |sql| {
            if name == "path" {
                return value.map_or(Ok(()), |path| move_to(sql, &found, path));
            }
            let seq = Value::from(found.seq);
            let delete = "DELETE FROM label WHERE document = $1 AND name = $2";
            sql.run(delete, &[seq.clone(), name.into()])?;
            if let Some(value) = value {
                let insert = "INSERT INTO label (document, name, value) VALUES ($1, $2, $3)";
                sql.run(insert, &[seq, name.into(), value.into()])?;
            }
            Ok(())
        })
    }
}

/// Whether two bodies say the same; an archive has other blanks than the file it was made of.
fn same(a: &[u8], b: &[u8]) -> bool {
    let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
    a == b || value(a).is_some_and(|a| Some(a) == value(b))
}

fn check_id(document: &Document) -> Result<(), StoreError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=64).contains(&document.id.len()) && document.id.chars().all(fits) {
        return Ok(());
    }
    Err(StoreError::Format {
        what: format!("the {} {:?}", document.kind, document.id),
        why: "an id has 1 to 64 letters, digits, - and _".to_owned(),
    })
}

fn compress(document: &Document) -> Result<Vec<u8>, StoreError> {
    zstd::encode_all(document.body.as_slice(), 6).map_err(|e| StoreError::Format {
        what: format!("the {} {}", document.kind, document.id),
        why: e.to_string(),
    })
}

fn decompress(data: &[u8], size: i64) -> Result<Vec<u8>, String> {
    if !(0..=LARGEST).contains(&size) {
        return Err(format!("its size of {size} bytes cannot be"));
    }
    let body = zstd::bulk::decompress(data, size as usize).map_err(|e| e.to_string())?;
    if body.len() as i64 == size {
        Ok(body)
    } else {
        Err(format!("it has {} bytes in place of {size}", body.len()))
    }
}

fn insert(sql: &mut dyn Sql, document: &Document, body: &[u8]) -> Result<Saved, SqlError> {
    let facts = facts_id(sql, &document.facts)?;
    let stored = body.len() + 64 * document.figures.len();
    let statement = "INSERT INTO document (kind, id, schema, created_us, path, facts, size, stored)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING seq";
    let values = [
        document.kind.name().into(),
        (&document.id).into(),
        i64::from(document.schema).into(),
        (document.created_us as i64).into(),
        (&document.path).into(),
        facts.into(),
        (document.body.len() as i64).into(),
        (stored as i64).into(),
    ];
    let rows = sql.rows(statement, &values)?;
    let Some(seq) = rows.first().map(|row| row.int(0)) else {
        return Ok(Saved::Known);
    };
    let statement = "INSERT INTO body (document, data) VALUES ($1, $2)";
    sql.run(statement, &[seq.into(), Value::Bytes(body.to_vec())])?;
    for (name, value) in &document.labels {
        let statement = "INSERT INTO label (document, name, value) VALUES ($1, $2, $3)";
        sql.run(statement, &[seq.into(), name.into(), value.into()])?;
    }
    insert_figures(
        sql,
        seq,
        document.created_us as i64,
        &document.path,
        &document.figures,
    )?;
    Ok(Saved::Added)
}

fn insert_figures(
    sql: &mut dyn Sql,
    seq: i64,
    created_us: i64,
    path: &str,
    figures: &[FigureRow],
) -> Result<(), SqlError> {
    // In one order by all writers, so that none waits for another in a circle.
    let mut figures: Vec<&FigureRow> = figures.iter().collect();
    figures.sort_by(|a, b| (&a.step, &a.figure).cmp(&(&b.step, &b.figure)));
    figures.dedup_by(|a, b| a.step == b.step && a.figure == b.figure);
    let numbers = series_numbers(sql, path, &figures)?;
    for (figures, numbers) in figures.chunks(AT_ONCE).zip(numbers.chunks(AT_ONCE)) {
        let mut values: Vec<Value> = Vec::with_capacity(7 * figures.len());
        for (row, series) in figures.iter().zip(numbers) {
            values.extend([
                (*series).into(),
                created_us.into(),
                seq.into(),
                (row.n as i64).into(),
                row.median.into(),
                row.low.into(),
                row.high.into(),
            ]);
        }
        let rows: Vec<String> = (0..figures.len())
            .map(|row| {
                let names: Vec<String> = (1..=7).map(|at| format!("${}", 7 * row + at)).collect();
                format!("({})", names.join(", "))
            })
            .collect();
        let statement = format!(
            "INSERT INTO figure (series, created_us, document, n, median, low, high) VALUES {}",
            rows.join(", ")
        );
        sql.run(&statement, &values)?;
    }
    Ok(())
}

/// The numbers of the series of figures, those that are new made.
fn series_numbers(
    sql: &mut dyn Sql,
    path: &str,
    figures: &[&FigureRow],
) -> Result<Vec<i64>, SqlError> {
    let select = "SELECT id, step, figure FROM series WHERE path = $1";
    let mut rows = sql.rows(select, &[path.into()])?;
    let known: BTreeMap<(String, String), i64> = rows
        .iter_mut()
        .filter_map(|row| Some(((row.text(1)?, row.text(2)?), row.int(0))))
        .collect();
    figures
        .iter()
        .map(
            |row| match known.get(&(row.step.clone(), row.figure.clone())) {
                Some(&number) => Ok(number),
                None => series_id(sql, path, &row.step, &row.figure),
            },
        )
        .collect()
}

/// The number of a series, made if it is new.
fn series_id(sql: &mut dyn Sql, path: &str, step: &str, figure: &str) -> Result<i64, SqlError> {
    let values = [path.into(), step.into(), figure.into()];
    let select = "SELECT id FROM series WHERE path = $1 AND step = $2 AND figure = $3";
    let insert =
        "INSERT INTO series (path, step, figure) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    number(sql, select, &values, insert, &values)
}

/// The number of a set of facts, made if it is new: most runs find the hosts as the last one did.
fn facts_id(sql: &mut dyn Sql, facts: &BTreeMap<String, String>) -> Result<Option<i64>, SqlError> {
    if facts.is_empty() {
        return Ok(None);
    }
    let body = serde_json::to_string(facts).map_err(|e| SqlError::Other(e.to_string()))?;
    let digest = blake3::hash(body.as_bytes()).to_hex().to_string();
    let select = "SELECT id FROM facts WHERE digest = $1";
    let insert = "INSERT INTO facts (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let values = [Value::from(&digest), (&body).into()];
    number(sql, select, &values[..1], insert, &values).map(Some)
}

fn number(
    sql: &mut dyn Sql,
    select: &str,
    by: &[Value],
    insert: &str,
    values: &[Value],
) -> Result<i64, SqlError> {
    if let Some(row) = sql.rows(select, by)?.first() {
        return Ok(row.int(0));
    }
    sql.run(insert, values)?;
    let rows = sql.rows(select, by)?;
    let row = rows.first();
    row.map(|row| row.int(0)).ok_or(SqlError::Again)
}

/// Removes a document and its figures.
pub(crate) fn remove(sql: &mut dyn Sql, found: &Found) -> Result<(), SqlError> {
    let key = [
        Value::from(&found.path),
        found.created_us.into(),
        found.seq.into(),
    ];
    let statement = "DELETE FROM figure WHERE series IN (SELECT id FROM series WHERE path = $1)
        AND created_us = $2 AND document = $3";
    sql.run(statement, &key)?;
    sql.run("DELETE FROM document WHERE seq = $1", &key[2..])?;
    Ok(())
}

/// Moves a document and its figures to another path.
fn move_to(sql: &mut dyn Sql, found: &Found, path: &str) -> Result<(), SqlError> {
    let key = [
        Value::from(&found.path),
        found.created_us.into(),
        found.seq.into(),
    ];
    let statement = "SELECT s.step, s.figure, f.n, f.median, f.low, f.high
        FROM figure f JOIN series s ON s.id = f.series
        WHERE s.path = $1 AND f.created_us = $2 AND f.document = $3";
    let mut rows = sql.rows(statement, &key)?;
    let figures: Vec<FigureRow> = rows
        .iter_mut()
        .filter_map(|row| {
            Some(FigureRow {
                step: row.text(0)?,
                figure: row.text(1)?,
                n: row.int(2) as u64,
                median: row.real(3)?,
                low: row.real(4),
                high: row.real(5),
            })
        })
        .collect();
    let statement = "DELETE FROM figure WHERE series IN (SELECT id FROM series WHERE path = $1)
        AND created_us = $2 AND document = $3";
    sql.run(statement, &key)?;
    insert_figures(sql, found.seq, found.created_us, path, &figures)?;
    let statement = "UPDATE document SET path = $1 WHERE seq = $2";
    sql.run(statement, &[path.into(), found.seq.into()])?;
    Ok(())
}
