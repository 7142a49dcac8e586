//! Deletion of old and surplus documents.

use model::history::Kind;

use crate::{
    Store, StoreError,
    error::Work,
    rows::{Found, remove},
    sql::{Sql, SqlError, Value},
};

/// Retention rules. Documents with the label `keep` are never deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Documents made before this time go, µs since 1970.
    pub before_us: Option<u64>,
    /// Deletes the oldest until the rest takes at most this many bytes.
    pub most_bytes: Option<u64>,
}

/// Documents deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Kinds and ids of the documents, the oldest first.
    pub documents: Vec<(Kind, String)>,
    /// Their approximate size in bytes.
    pub bytes: u64,
}

impl Store {
    /// Deletes documents outside of the retention rules; with `dry_run` nothing is deleted.
    ///
    /// # Errors
    ///
    /// The history cannot be read or written, or is locked by other processes.
    pub fn prune(&mut self, keep: &Retention, dry_run: bool) -> Result<Pruned, StoreError> {
        let pruned = self.transaction(Work::Prune, |sql| {
            let expired = expired(sql, keep)?;
            if !dry_run {
                for (_, found, _) in &expired {
                    remove(sql, found)?;
                }
                tidy(sql)?;
            }
            Ok(Pruned {
                bytes: expired.iter().map(|(_, _, bytes)| bytes).sum(),
                documents: expired
                    .into_iter()
                    .filter_map(|(kind, found, _)| Some((kind.parse().ok()?, found.id)))
                    .collect(),
            })
        })?;
        if !dry_run && !pruned.documents.is_empty() {
            match self.sql.shrink() {
                // A later run does it, when there is space and no other user.
                Ok(()) | Err(SqlError::Full | SqlError::Busy) => {}
                Err(e) => return Err(StoreError::sql(Work::GiveBackRoom, &self.place, e)),
            }
        }
        Ok(pruned)
    }
}

/// The documents to delete, the oldest first, with the bytes they take.
fn expired(sql: &mut dyn Sql, keep: &Retention) -> Result<Vec<(String, Found, u64)>, SqlError> {
    let total = sql.rows("SELECT CAST(SUM(stored) AS BIGINT) FROM document", &[])?;
    let mut total = total.first().map_or(0, |row| row.int(0)) as u64;
    let statement = "SELECT d.seq, d.kind, d.id, d.created_us, d.path, d.stored FROM document d
        WHERE NOT EXISTS (SELECT 1 FROM label l WHERE l.document = d.seq AND l.name = 'keep')
        ORDER BY d.created_us, d.seq";
    let mut expired = Vec::new();
    for mut row in sql.rows(statement, &[])? {
        let created_us = row.int(3);
        let old = keep
            .before_us
            .is_some_and(|before| created_us < before as i64);
        let much = keep.most_bytes.is_some_and(|most| total > most);
        if !old && !much {
            break;
        }
        let stored = row.int(5) as u64;
        total = total.saturating_sub(stored);
        let kind = row.text(1).unwrap_or_default();
        let found = Found {
            seq: row.int(0),
            id: row.text(2).unwrap_or_default(),
            created_us,
            path: row.text(4).unwrap_or_default(),
        };
        expired.push((kind, found, stored));
    }
    Ok(expired)
}

/// Removes series and facts that are no longer referenced.
fn tidy(sql: &mut dyn Sql) -> Result<(), SqlError> {
    let none: [Value; 0] = [];
    sql.run(
        "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM figure f WHERE f.series = series.id)",
        &none,
    )?;
    sql.run(
        "DELETE FROM facts WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.facts = facts.id)",
        &none,
    )?;
    Ok(())
}
