//! How we know that the rest is right: checks of the lab, of `measure` and `compare` where the
//! truth is known, and of what `explain` says on scenarios whose causes are known.

pub mod accuracy;
pub mod validate;
