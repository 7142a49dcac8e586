//! This host: what it is, what its counters do, and what its sockets show.
//!
//! Nothing here generates load or changes a setting.

pub mod evidence;
pub mod facts;
pub mod observe;
pub mod state;
