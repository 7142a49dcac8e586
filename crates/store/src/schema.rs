//! Tables, and their migration from older versions.

use crate::{
    StoreError,
    error::Work,
    sql::{Sql, SqlError},
};

/// The newest version of the tables supported by this program.
pub const SCHEMA: i64 = MIGRATIONS.len() as i64;

/// Statements that upgrade each version to the next. Once released, an entry never changes.
///
/// Capitalised words that are not SQL are placeholders for differences between the databases
/// ([`Sql::dialect`]).
const MIGRATIONS: [&str; 2] = [
    // A document is split into two tables, so that lists do not read bodies; figures are stored in
    // the order in which a series is read.
    "CREATE TABLE facts (
        id SERIAL_KEY,
        digest TEXT NOT NULL UNIQUE,
        body TEXT NOT NULL
    );
    CREATE TABLE document (
        seq SERIAL_KEY,
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        schema BIGINT NOT NULL,
        created_us BIGINT NOT NULL,
        path TEXT NOT NULL,
        facts BIGINT REFERENCES facts (id),
        size BIGINT NOT NULL,
        stored BIGINT NOT NULL,
        UNIQUE (kind, id)
    );
    CREATE INDEX document_time ON document (created_us);
    CREATE INDEX document_path ON document (path, created_us);
    CREATE TABLE body (
        document BIGINT PRIMARY KEY REFERENCES document (seq) ON DELETE CASCADE,
        data BYTES NOT NULL
    );
    CREATE TABLE label (
        document BIGINT NOT NULL REFERENCES document (seq) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (document, name)
    ) CLUSTERED;
    CREATE INDEX label_value ON label (name, value);
    CREATE TABLE series (
        id SERIAL_KEY,
        path TEXT NOT NULL,
        step TEXT NOT NULL,
        figure TEXT NOT NULL,
        UNIQUE (path, step, figure)
    );
    CREATE TABLE figure (
        series BIGINT NOT NULL REFERENCES series (id),
        created_us BIGINT NOT NULL,
        document BIGINT NOT NULL,
        n BIGINT NOT NULL,
        median REAL8 NOT NULL,
        low REAL8,
        high REAL8,
        PRIMARY KEY (series, created_us, document)
    ) CLUSTERED;",
    // A load in both directions was called opposed.
    "UPDATE series SET step = REPLACE(step, ' opposed', ' bidirectional')
        WHERE step LIKE '% opposed%';",
];

const TABLE: &str = "pathtwin_schema";

/// The version of the tables; 0 if they do not exist.
fn version(sql: &mut dyn Sql, place: &str) -> Result<i64, StoreError> {
    let cannot = |e| match e {
        SqlError::Other(why) => StoreError::Open {
            place: place.to_owned(),
            why,
        },
        e => StoreError::sql(Work::ReadSchema, place, e),
    };
    if !sql.has_table(TABLE).map_err(cannot)? {
        return Ok(0);
    }
    let rows = sql
        .rows("SELECT version FROM pathtwin_schema", &[])
        .map_err(cannot)?;
    Ok(rows.first().map_or(0, |row| row.int(0)))
}

/// Refuses the format of a later program.
pub(crate) fn check(sql: &mut dyn Sql, place: &str) -> Result<i64, StoreError> {
    let found = version(sql, place)?;
    if found > SCHEMA {
        return Err(StoreError::Newer {
            place: place.to_owned(),
            found,
            known: SCHEMA,
        });
    }
    Ok(found)
}

/// Updates the tables to the newest version, all at once or not at all.
pub(crate) fn migrate(sql: &mut dyn Sql, place: &str) -> Result<(), StoreError> {
    if check(sql, place)? == SCHEMA {
        return Ok(());
    }
    let result = (|| {
        let cannot = |e| StoreError::sql(Work::SetUpTables, place, e);
        sql.begin().map_err(cannot)?;
        sql.lock_schema().map_err(cannot)?;
        // Another may have been faster.
        let from = check(sql, place)?;
        for migration in MIGRATIONS.iter().skip(from as usize) {
            let statements = sql.dialect(migration);
            sql.batch(&statements).map_err(cannot)?;
        }
        let note = if from == 0 {
            "CREATE TABLE IF NOT EXISTS pathtwin_schema (version BIGINT NOT NULL);
             INSERT INTO pathtwin_schema (version) VALUES "
        } else {
            "DELETE FROM pathtwin_schema; INSERT INTO pathtwin_schema (version) VALUES "
        };
        if from < SCHEMA {
            sql.batch(&format!("{note} ({SCHEMA})")).map_err(cannot)?;
        }
        sql.batch("COMMIT").map_err(cannot)
    })();
    if result.is_err() {
        let _ = sql.batch("ROLLBACK");
    }
    result
}
