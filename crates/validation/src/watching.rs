//! Accuracy of `watch`: the real daemon and a real far end in the lab's virtual time, for weeks, on
//! drawn paths of which some change once.
//!
//! Each path is one guest. In it run `pathtwin serve` on the server under a program that may boot
//! another kernel ([`far`]), `pathtwin watch` on the client under a program that samples its memory
//! ([`daemon`]), and on each router a program that makes the line vary as real lines do, and change
//! at its time ([`mod@line`]). All figures are what real
//! TCP flows and probes measured; only the variation of the line is drawn ([`weather`]).

pub mod daemon;
pub mod draw;
pub mod far;
pub mod job;
pub mod line;
pub mod planted;
pub mod score;
pub mod table;
pub mod weather;
