//! The history: every document that is kept, in a file of SQLite or a database of PostgreSQL.
//!
//! A document is stored unchanged, compressed, together with the data for lists and series: its
//! creation time, the path it belongs to, labels, the figures of a run, and the facts about the
//! hosts. Both databases have the same tables and are used through the same statements.

mod archive;
mod body;
mod document;
mod error;
mod latest;
mod place;
mod postgres;
mod prune;
mod query;
mod rows;
mod schema;
mod sql;
mod sqlite;
mod store;
mod trend;

pub use archive::Imported;
pub use document::{Document, FigureRow};
pub use error::{DocumentError, PlaceError, StoreError, TlsError, UrlError, Work};
pub use latest::Latest;
pub use place::Place;
pub use postgres::Address;
pub use prune::{Pruned, Retention};
pub use query::Filter;
pub use rows::Saved;
pub use schema::SCHEMA;
pub use sql::Cause;
pub use store::{LARGEST_DOCUMENT, Store};
