//! HTTP for browsers: a small server of pages on blocking threads, and the rules for who may read
//! them.
//!
//! [`server`] accepts and limits connections, [`request`] parses requests, [`access`] decides
//! whether they are permitted, and a [`Service`] answers. [`speedtest`] is the speed test: loads
//! for browsers, within the admission of `traffic`.
//!
//! All responses carry the headers of
//! [`response`], which forbid a browser everything that a page does not need.

pub mod access;
pub mod frame;
mod language;
pub mod request;
pub mod response;
pub mod server;
pub mod speedtest;
mod token;

pub use access::Access;
pub use language::{chosen, preferred};
pub use request::Request;
pub use response::Response;
pub use server::{Connection, Options, Service, serve};
pub use token::{Token, TokenError};
