//! A server and its clients over loopback.

#![allow(clippy::unwrap_used)]

mod answers;
mod common;
mod loads;
mod paths;
mod relay;
mod runs;
mod strangers;
