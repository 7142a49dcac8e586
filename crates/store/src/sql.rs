//! Common interface of both databases.
//!
//! Statements number their parameters `$1`, `$2`, … in the order in which they first occur: SQLite
//! treats these as names, and numbers names in that order.

use model::history::Named;

/// Cause of an error of the history: an error of the system, of a database or of a format, or one
/// detected by the history.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A value in a row or for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

/// Names of measurements and figures are text on the disk.
impl<T: std::fmt::Display> From<&Named<T>> for Value {
    fn from(name: &Named<T>) -> Self {
        Self::Text(name.to_string())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row; columns by their place.
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> i64 {
        match self.0.get(at) {
            Some(Value::Int(value)) => *value,
            _ => 0,
        }
    }

    pub(crate) fn real(&self, at: usize) -> Option<f64> {
        match self.0.get(at) {
            Some(Value::Real(value)) => Some(*value),
            Some(Value::Int(value)) => Some(*value as f64),
            _ => None,
        }
    }

    pub(crate) fn text(&mut self, at: usize) -> Option<String> {
        match self.0.get_mut(at) {
            Some(Value::Text(value)) => Some(std::mem::take(value)),
            _ => None,
        }
    }

    pub(crate) fn bytes(&mut self, at: usize) -> Option<Vec<u8>> {
        match self.0.get_mut(at) {
            Some(Value::Bytes(value)) => Some(std::mem::take(value)),
            _ => None,
        }
    }
}

/// Error of a database operation.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// No space left.
    Full,
    /// Others hold it.
    Busy,
    /// The transaction was rolled back for another writer: a retry may succeed.
    Again,
    /// Anything else.
    Other(Cause),
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full => f.write_str("no room is left"),
            Self::Busy | Self::Again => f.write_str("others use it"),
            Self::Other(why) => why.fmt(f),
        }
    }
}

/// A connection to a database.
pub(crate) trait Sql: Send {
    /// Runs one statement; how many rows it changed.
    fn run(&mut self, statement: &str, values: &[Value]) -> Result<u64, SqlError>;

    /// The rows of one statement.
    fn rows(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, SqlError>;

    /// Runs several statements, which have no parameters.
    fn batch(&mut self, statements: &str) -> Result<(), SqlError>;

    /// Begins a transaction that will write.
    fn begin(&mut self) -> Result<(), SqlError>;

    /// Returns true if this table exists.
    fn has_table(&mut self, name: &str) -> Result<bool, SqlError>;

    /// Locks the schema against others until the transaction ends.
    fn lock_schema(&mut self) -> Result<(), SqlError>;

    /// The statements of a migration in this database's dialect.
    fn dialect(&self, statements: &str) -> String;

    /// Returns space of deleted documents to the system, if the database does not do so itself.
    fn shrink(&mut self) -> Result<(), SqlError>;
}
