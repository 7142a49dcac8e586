//! The commands of this program, one file each.

pub(crate) mod accuracy;
pub(crate) mod corpus;
pub(crate) mod validate;
