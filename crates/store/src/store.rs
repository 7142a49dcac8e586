//! Histories: opening and writing.

use model::{history::Kind, safe, text};

use crate::{
    Document, Place, StoreError,
    body::{Unpack, compress, decompress},
    error::{DocumentError, Work},
    postgres::Postgres,
    rows::{Found, Saved, insert, is_another, move_to, remove},
    schema,
    sql::{Sql, SqlError, Value},
    sqlite::Sqlite,
};

/// Maximum number of attempts of a transaction that yields to others.
const TRIES: u32 = 10;

/// An open history.
pub struct Store {
    pub(crate) sql: Box<dyn Sql>,
    pub(crate) place: String,
    pub(crate) largest: u64,
}

/// Default maximum size of a document read from a history or an archive, bytes. A long plan over a
/// path and a tunnel produces some 100 MB.
pub const LARGEST_DOCUMENT: u64 = 256 << 20;

impl Store {
    /// Opens a history, creates it if it does not exist, and updates an older one. One of a newer
    /// program is refused and left unchanged.
    ///
    /// # Errors
    ///
    /// It cannot be opened or made, or a newer program has made it.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        let name = place.to_string();
        let mut sql: Box<dyn Sql> = match place {
            Place::File(path) => Box::new(Sqlite::open(path, |sql| {
                schema::check(sql, &name).map(|_| ())
            })?),
            Place::Server(address) => Box::new(Postgres::open(address)?),
        };
        schema::migrate(sql.as_mut(), &name)?;
        Ok(Self {
            sql,
            place: name,
            largest: LARGEST_DOCUMENT,
        })
    }

    /// Reads documents of up to this many bytes from now on; without this, [`LARGEST_DOCUMENT`].
    pub fn allow_documents_of(&mut self, bytes: u64) {
        self.largest = bytes;
    }

    /// Does `work` in one transaction.
    pub(crate) fn transaction<T>(
        &mut self,
        what: Work,
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
    ///
    /// # Errors
    ///
    /// As [`save_all`](Self::save_all).
    pub fn save(&mut self, document: &Document) -> Result<Saved, StoreError> {
        let saved = self.save_all(std::slice::from_ref(document))?;
        Ok(saved.first().copied().unwrap_or(Saved::Known))
    }

    /// Saves several documents, all or none.
    ///
    /// # Errors
    ///
    /// An id is invalid, another document has it, or the history cannot be written: no space is
    /// left, or others hold it.
    pub fn save_all(&mut self, documents: &[Document]) -> Result<Vec<Saved>, StoreError> {
        for document in documents {
            check_id(document)?;
        }
        let bodies: Vec<Vec<u8>> = documents.iter().map(compress).collect::<Result<_, _>>()?;
        let largest = self.largest;
        let mut twice = None;
        let saved = self.transaction(Work::Save, |sql| {
            let pairs = documents.iter().zip(&bodies);
            let one = |(document, body): (_, &Vec<u8>)| {
                let saved = insert(sql, document, body)?;
                if saved == Saved::Known && is_another(sql, document, largest)? {
                    twice = Some(document);
                    return Err(SqlError::Other(DocumentError::Twice.into()));
                }
                Ok(saved)
            };
            pairs.map(one).collect()
        });
        match twice {
            Some(document) => Err(StoreError::Format {
                what: document.text(),
                why: DocumentError::Twice.into(),
            }),
            None => saved,
        }
    }

    /// The document whose id begins with `prefix`, of a kind.
    pub(crate) fn find(&mut self, kind: Kind, prefix: &str) -> Result<Found, StoreError> {
        // An unset variable of a script must not mean the only document.
        if prefix.is_empty() {
            return Err(StoreError::Missing(String::new()));
        }
        let statement = "SELECT seq, id, created_us, path FROM document
            WHERE kind = $1 AND substr(id, 1, length(CAST($2 AS TEXT))) = $2 ORDER BY id";
        let mut rows = self
            .sql
            .rows(statement, &[kind.name().into(), prefix.into()])
            .map_err(|e| StoreError::sql(Work::Find, &self.place, e))?;
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
    ///
    /// # Errors
    ///
    /// No document or several have such an id, or it is damaged or larger than the limit.
    pub fn body(&mut self, kind: Kind, prefix: &str) -> Result<Vec<u8>, StoreError> {
        let found = self.find(kind, prefix)?;
        let statement = "SELECT b.data, d.size FROM body b JOIN document d ON d.seq = b.document
            WHERE b.document = $1";
        let mut rows = self
            .sql
            .rows(statement, &[found.seq.into()])
            .map_err(|e| StoreError::sql(Work::Read, &self.place, e))?;
        let row = rows.first_mut();
        let (data, size) = row
            .and_then(|row| Some((row.bytes(0)?, row.int(1))))
            .ok_or_else(|| StoreError::Missing(prefix.to_owned()))?;
        decompress(&data, size, self.largest).map_err(|fault| match fault {
            Unpack::TooLarge(bytes) => StoreError::TooLarge {
                what: text!(
                    "the {kind} {id} of {place}",
                    kind = kind.text(),
                    id = safe::line(&found.id).into_owned(),
                    place = &self.place
                ),
                bytes,
                largest: self.largest,
            },
            Unpack::Damaged(fault) => StoreError::Damaged {
                id: found.id,
                why: fault.text().into(),
            },
        })
    }

    /// The path that a document is of.
    ///
    /// # Errors
    ///
    /// No document or several have such an id, or the history cannot be read.
    pub fn path_of(&mut self, kind: Kind, prefix: &str) -> Result<String, StoreError> {
        Ok(self.find(kind, prefix)?.path)
    }

    /// Deletes a document.
    ///
    /// # Errors
    ///
    /// No document or several have such an id, or the history cannot be written.
    pub fn delete(&mut self, kind: Kind, prefix: &str) -> Result<String, StoreError> {
        let found = self.find(kind, prefix)?;
        self.transaction(Work::Delete, |sql| remove(sql, &found))?;
        Ok(found.id)
    }

    /// Sets or removes a label of a document; `path` is the path itself and cannot be removed.
    ///
    /// # Errors
    ///
    /// No document or several have such an id, or the history cannot be written.
    pub fn label(
        &mut self,
        kind: Kind,
        prefix: &str,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), StoreError> {
        let found = self.find(kind, prefix)?;
        self.transaction(Work::Label, |sql| {
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

fn check_id(document: &Document) -> Result<(), StoreError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=64).contains(&document.id.len()) && document.id.chars().all(fits) {
        return Ok(());
    }
    Err(StoreError::Format {
        what: document.text(),
        why: DocumentError::Id.into(),
    })
}
