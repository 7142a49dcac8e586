//! The atlas: a sweep of the lab over common paths and settings, as it is published in
//! `docs/atlas`.
//!
//! The rows of the sweep become a [`table`]; everything else that is published is computed from the
//! table and its [`source`] alone: [`finding`]s, [`heat`] maps, the [`page`] and the [`readme`].
//! [`publish`] writes all of it.

pub mod cell;
pub mod compare;
pub mod finding;
pub mod heat;
mod number;
pub mod page;
pub mod publish;
pub mod readme;
pub mod rules;
pub mod source;
pub mod table;
