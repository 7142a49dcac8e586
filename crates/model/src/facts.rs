//! What a host is, as far as it bears on TCP.

use serde::{Deserialize, Serialize};

/// Facts of a host. Unknown is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Release of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}
