//! HTTP for browsers: a small server of pages on blocking threads, and the rules for who may read
//! them.
//!
//! [`server`] accepts and bounds connections, [`request`] reads what they ask for, [`access`]
//! decides whether they may, and a [`Service`] answers. All responses carry the headers of
//! [`response`], which forbid a browser everything that a page does not need.

pub mod access;
pub mod request;
pub mod response;
pub mod server;
mod token;

pub use access::Access;
pub use request::Request;
pub use response::Response;
pub use server::{Connection, Options, Service, serve};
pub use token::{Token, TokenError};
