//! A database of PostgreSQL.

mod address;
mod error;
mod message;
mod refusal;
mod tls;
mod trust;

use std::{error::Error, time::Duration};

use postgres::{
    Client, NoTls,
    config::SslMode,
    error::SqlState,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

pub use address::Address;
use message::message;

use crate::{
    StoreError,
    sql::{Cause, Row, Sql, SqlError, Value},
};

/// Timeout of a TCP connection to the server.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Time after which a connection whose packets nobody acknowledges has failed; by itself, TCP tries
/// for a quarter of an hour, and an idle connection is examined after two hours.
const SILENT: Duration = Duration::from_secs(30);

/// A limit for each statement, unless the server, the user or the URL has one: the longest is that
/// of deleting old runs.
const STATEMENTS: &str = "
    SET client_min_messages = warning;
    SET lock_timeout = '30s';
    SELECT set_config('statement_timeout', '600s', false)
        WHERE current_setting('statement_timeout') = '0'";

/// Key of the advisory lock on the schema: "pathtwin" in ASCII.
const LOCK: i64 = 0x7061_7468_7477_696e;

/// A connection to a server.
pub(crate) struct Postgres(Client);

impl Postgres {
    pub(crate) fn open(address: &Address) -> Result<Self, StoreError> {
        let cannot = |why: Cause| StoreError::Open {
            place: address.to_string(),
            why,
        };
        let mut config = address.config().map_err(|e| cannot(message(&e).into()))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENT);
        }
        // Two hours is the default of the client, too.
        if config.get_keepalives_idle() >= Duration::from_secs(7200) {
            config
                .keepalives_idle(SILENT)
                .keepalives_interval(SILENT / 3);
        }
        config.application_name("pathtwin");
        let tls = address.tls();
        let client = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls),
            _ => config.connect(trust::connector(tls).map_err(|e| cannot(e.text().into()))?),
        };
        let mut client = client.map_err(|e| cannot(refusal::why(&e, tls).into()))?;
        client
            .batch_execute(STATEMENTS)
            .map_err(|e| cannot(message(&e).into()))?;
        Ok(Self(client))
    }
}

impl From<postgres::Error> for SqlError {
    fn from(error: postgres::Error) -> Self {
        match error.code() {
            Some(code) if *code == SqlState::DISK_FULL => Self::Full,
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Self::Busy,
            Some(code)
                if *code == SqlState::T_R_DEADLOCK_DETECTED
                    || *code == SqlState::T_R_SERIALIZATION_FAILURE =>
            {
                Self::Again
            }
            _ => Self::Other(message(&error).into()),
        }
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(value) => value.to_sql(kind, out),
            Self::Real(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Bytes(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::FLOAT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

fn values(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|v| v as &(dyn ToSql + Sync)).collect()
}

fn value(row: &postgres::Row, at: usize) -> Result<Value, SqlError> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at)?.into(),
        Type::BYTEA => row
            .try_get::<_, Option<Vec<u8>>>(at)?
            .map_or(Value::Null, Value::Bytes),
        _ => row
            .try_get::<_, Option<String>>(at)?
            .map_or(Value::Null, Value::Text),
    })
}

impl Sql for Postgres {
    fn run(&mut self, statement: &str, with: &[Value]) -> Result<u64, SqlError> {
        Ok(self.0.execute(statement, &values(with))?)
    }

    fn rows(&mut self, statement: &str, with: &[Value]) -> Result<Vec<Row>, SqlError> {
        let rows = self.0.query(statement, &values(with))?;
        rows.iter()
            .map(|row| {
                let row: Result<Vec<Value>, SqlError> =
                    (0..row.len()).map(|at| value(row, at)).collect();
                row.map(Row)
            })
            .collect()
    }

    fn batch(&mut self, statements: &str) -> Result<(), SqlError> {
        Ok(self.0.batch_execute(statements)?)
    }

    fn begin(&mut self) -> Result<(), SqlError> {
        self.batch("BEGIN")
    }

    fn has_table(&mut self, name: &str) -> Result<bool, SqlError> {
        let statement = "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
            WHERE table_schema = current_schema() AND CAST(table_name AS TEXT) = $1";
        Ok(!self.rows(statement, &[name.into()])?.is_empty())
    }

    fn lock_schema(&mut self) -> Result<(), SqlError> {
        self.batch(&format!("SELECT pg_advisory_xact_lock({LOCK})"))
    }

    fn dialect(&self, statements: &str) -> String {
        statements
            .replace("SERIAL_KEY", "BIGSERIAL PRIMARY KEY")
            .replace("BYTES", "BYTEA")
            .replace("REAL8", "DOUBLE PRECISION")
            .replace("CLUSTERED", "")
    }

    fn shrink(&mut self) -> Result<(), SqlError> {
        Ok(()) // the server's autovacuum does it
    }
}
