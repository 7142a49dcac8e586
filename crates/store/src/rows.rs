//! Database rows of a document: metadata, body, labels, figures and references.

use std::collections::BTreeMap;

use crate::{
    Document, FigureRow,
    body::{Unpack, decompress, same},
    sql::{Sql, SqlError, Value},
};

/// Rows in one statement; the databases allow some 32,000 parameters.
const AT_ONCE: usize = 500;

/// Result of saving a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Committed: it survives a crash or a power failure.
    Added,
    /// The same document was already stored.
    Known,
}

/// A document by its row.
pub(crate) struct Found {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) created_us: i64,
    pub(crate) path: String,
}

/// Adds a document with its body, compressed, unless one with its id exists.
pub(crate) fn insert(
    sql: &mut dyn Sql,
    document: &Document,
    body: &[u8],
) -> Result<Saved, SqlError> {
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

/// Returns true if the stored document with the id of this one is another. One that is larger than
/// the limit is not known to be.
pub(crate) fn is_another(
    sql: &mut dyn Sql,
    document: &Document,
    largest: u64,
) -> Result<bool, SqlError> {
    let statement = "SELECT b.data, d.size FROM body b JOIN document d ON d.seq = b.document
        WHERE d.kind = $1 AND d.id = $2";
    let values = [document.kind.name().into(), (&document.id).into()];
    let mut rows = sql.rows(statement, &values)?;
    let stored = rows.first_mut();
    let Some((data, size)) = stored.and_then(|row| Some((row.bytes(0)?, row.int(1)))) else {
        return Ok(false);
    };
    match decompress(&data, size, largest) {
        Ok(stored) => Ok(!same(&stored, &document.body)),
        Err(Unpack::TooLarge(_)) => Ok(false),
        Err(Unpack::Damaged(fault)) => Err(SqlError::Other(fault.text().into())),
    }
}

fn insert_figures(
    sql: &mut dyn Sql,
    seq: i64,
    created_us: i64,
    path: &str,
    figures: &[FigureRow],
) -> Result<(), SqlError> {
    // In the same order by all writers, to avoid deadlocks.
    let mut figures: Vec<&FigureRow> = figures.iter().collect();
    figures.sort_by_cached_key(|row| (row.step.to_string(), row.figure.to_string()));
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

/// The numbers of the series of figures; new series are added.
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
    let number = |row: &&FigureRow| {
        let name = (row.step.to_string(), row.figure.to_string());
        match known.get(&name) {
            Some(&number) => Ok(number),
            None => series_id(sql, path, &name.0, &name.1),
        }
    };
    figures.iter().map(number).collect()
}

/// The number of a series, made if it is new.
fn series_id(sql: &mut dyn Sql, path: &str, step: &str, figure: &str) -> Result<i64, SqlError> {
    let values = [path.into(), step.into(), figure.into()];
    let select = "SELECT id FROM series WHERE path = $1 AND step = $2 AND figure = $3";
    let insert =
        "INSERT INTO series (path, step, figure) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    number(sql, select, &values, insert, &values)
}

/// The number of a set of facts, added if it is new: most runs have the same facts as the last one.
fn facts_id(sql: &mut dyn Sql, facts: &BTreeMap<String, String>) -> Result<Option<i64>, SqlError> {
    if facts.is_empty() {
        return Ok(None);
    }
    let body = serde_json::to_string(facts).map_err(|e| SqlError::Other(e.into()))?;
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
pub(crate) fn move_to(sql: &mut dyn Sql, found: &Found, path: &str) -> Result<(), SqlError> {
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
                step: row.text(0)?.into(),
                figure: row.text(1)?.into(),
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
