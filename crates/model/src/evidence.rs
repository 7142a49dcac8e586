//! What a host's counters say of a span of time.

use serde::{Deserialize, Serialize};

/// What the counters of a host say of a span of time. Unknown is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {}
