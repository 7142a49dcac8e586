//! A file of SQLite.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, params_from_iter, types::ValueRef};
use sys::files::{Existing, Readers};

use crate::{
    StoreError,
    error::Work,
    sql::{Cause, Row, Sql, SqlError, Value},
};

/// Timeout for other writers.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An open file.
pub(crate) struct Sqlite(Connection);

impl Sqlite {
    /// Opens a file, and creates it and its folder if they do not exist. `check` reads it before
    /// anything is written.
    pub(crate) fn open(
        path: &Path,
        check: impl FnOnce(&mut dyn Sql) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let cannot = |why: Cause| StoreError::Open {
            place: path.display().to_string(),
            why,
        };
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            sys::files::make_private_folder(folder).map_err(|e| {
                cannot(format!("cannot make the folder {}: {e}", folder.display()).into())
            })?;
        }
        make_private(path).map_err(|e| cannot(e.into()))?;
        let connection = Connection::open(path).map_err(|e| cannot(cause(e)))?;
        connection
            .busy_timeout(TIMEOUT)
            .map_err(|e| cannot(cause(e)))?;
        let mut this = Self(connection);
        check(&mut this)?;
        this.prepare().map_err(|e| match e {
            SqlError::Full => {
                StoreError::sql(Work::Begin, &path.display().to_string(), SqlError::Full)
            }
            SqlError::Other(why) => cannot(why),
            other => cannot(other.to_string().into()),
        })?;
        Ok(this)
    }

    /// Makes saved data survive a loss of power, and readers not wait for writers.
    fn prepare(&mut self) -> Result<(), SqlError> {
        self.batch("PRAGMA auto_vacuum = INCREMENTAL")?;
        // Two processes that open a new file concurrently may conflict here, where SQLite does not
        // wait.
        let mut tries = 0;
        while let Err(e) = self.batch("PRAGMA journal_mode = WAL") {
            tries += 1;
            if tries > 100 || !matches!(e, SqlError::Busy) {
                return Err(e);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    }
}

/// Makes an empty file, which is an empty database, unless there is a file already. SQLite creates
/// its additional files with the same mode (findCreateFileMode, os_unix.c of SQLite 3.46).
fn make_private(path: &Path) -> io::Result<()> {
    let named = path.as_os_str().as_encoded_bytes();
    // Names that SQLite does not treat as file names (sqlite3_open_v2).
    if path.exists() || named == b":memory:" || named.starts_with(b"file:") {
        return Ok(());
    }
    match sys::files::write(path, Readers::Owner, Existing::Keep, b"") {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// The database's error, or a clearer one.
fn cause(error: rusqlite::Error) -> Cause {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is not a file of SQLite".into(),
        Some(ErrorCode::ReadOnly) => format!("it cannot be written to ({error})").into(),
        _ => error.into(),
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Other(cause(error)),
        }
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        Ok(rusqlite::types::ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(value) => Self::Int(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(value) => Self::Text(String::from_utf8_lossy(value).into_owned()),
            ValueRef::Blob(value) => Self::Bytes(value.to_vec()),
        }
    }
}

impl Sql for Sqlite {
    fn run(&mut self, statement: &str, values: &[Value]) -> Result<u64, SqlError> {
        Ok(self.0.execute(statement, params_from_iter(values))? as u64)
    }

    fn rows(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, SqlError> {
        let mut statement = self.0.prepare(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next()? {
            let values: Result<Vec<Value>, rusqlite::Error> =
                (0..columns).map(|at| Ok(row.get_ref(at)?.into())).collect();
            out.push(Row(values?));
        }
        Ok(out)
    }

    fn batch(&mut self, statements: &str) -> Result<(), SqlError> {
        Ok(self.0.execute_batch(statements)?)
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        // Starts as a writer: a transaction that starts as a reader cannot wait for the write lock.
        self.batch("BEGIN IMMEDIATE")
    }

    fn has_table(&mut self, name: &str) -> Result<bool, SqlError> {
        let statement = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1";
        Ok(!self.rows(statement, &[name.into()])?.is_empty())
    }

    fn lock_schema(&mut self) -> Result<(), SqlError> {
        Ok(()) // a writing transaction is alone
    }

    fn dialect(&self, statements: &str) -> String {
        statements
            .replace("SERIAL_KEY", "INTEGER PRIMARY KEY")
            .replace("BYTES", "BLOB")
            .replace("REAL8", "REAL")
            .replace("CLUSTERED", "WITHOUT ROWID")
    }

    fn shrink(&mut self) -> Result<(), SqlError> {
        self.rows("PRAGMA incremental_vacuum", &[])?;
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)", &[])
            .map(|_| ())
    }
}
