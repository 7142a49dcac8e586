//! A server, and what clients do with it, over loopback.

#![allow(clippy::unwrap_used)]

mod answers;
mod common;
mod loads;
mod runs;
mod strangers;
