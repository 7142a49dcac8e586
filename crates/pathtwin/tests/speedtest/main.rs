//! `pathtwin serve --web`: clients of others, a real browser, and the limits of the server.

#![cfg(feature = "page")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../browser/mod.rs"]
mod browser;
mod clients;
#[path = "../common/mod.rs"]
mod common;
mod line;
mod page;
mod served;
