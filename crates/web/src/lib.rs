//! HTTP for browsers: a small server of pages on blocking threads, with access control.
//!
//! [`server`] accepts and limits connections, [`request`] parses requests, [`access`] decides
//! whether they are permitted, and a [`Service`] answers. [`speedtest`] is the speed test: loads
//! for browsers, within the admission of `traffic`.
//!
//! All responses have the headers of [`response`], which deny a page everything it does not need.

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
