//! This host: facts, counters and evidence, and observation of its sockets.
//!
//! Nothing here generates load or changes a setting.

pub mod evidence;
pub mod facts;
pub mod observe;
pub mod state;
