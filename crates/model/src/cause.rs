//! Codes of causes.

use std::{
    borrow::{Borrow, Cow},
    fmt,
};

use serde::{Deserialize, Serialize};

/// Code of a cause, such as `receive-window`: stable, and with a page in `docs/causes/`.
///
/// The constants are the codes of this version. It is not an enumeration because the set is open:
/// Findings of a later version have codes unknown to this one, which are stored, compared, ordered
/// and shown like all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CauseCode(Cow<'static, str>);

/// The codes as constants, and all of them in [`CauseCode::KNOWN`].
macro_rules! codes {
    ($($name:ident $code:literal)*) => {
        impl CauseCode {
            $(
                #[doc = concat!("`", $code, "`.")]
                pub const $name: Self = Self(Cow::Borrowed($code));
            )*
            /// The codes of this version.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];
        }
    };
}

codes! {
    APPLICATION_LIMITED "application-limited"
    AQM_IDLE "aqm-idle"
    BEYOND "beyond"
    BUFFERBLOAT_LOCAL "bufferbloat-local"
    BUFFERBLOAT_REMOTE "bufferbloat-remote"
    CC_ON_WRONG_HOST "cc-on-wrong-host"
    CPU_CORE "cpu-core"
    CPU_SOFTIRQ "cpu-softirq"
    CPU_TUNNEL_THREAD "cpu-tunnel-thread"
    FAR_END_LIMIT "far-end-limit"
    FQ_FLOW_LIMIT "fq-flow-limit"
    FRAGMENTATION "fragmentation"
    HEALTHY "healthy"
    HOST_QUEUE_DROPS "host-queue-drops"
    HOST_SETTINGS "host-settings"
    JITTER "jitter"
    LEFTOVER_SHAPER "leftover-shaper"
    LOCAL_SEGMENT "local-segment"
    MTU_BLACK_HOLE "mtu-black-hole"
    OFFLOAD_FAULT "offload-fault"
    PER_FLOW_CAP "per-flow-cap"
    POLICER "policer"
    RANDOM_LOSS "random-loss"
    RECEIVE_WINDOW "receive-window"
    RELAYED_PATH "relayed-path"
    REORDERING "reordering"
    SEND_BUFFER "send-buffer"
    SHALLOW_QUEUE "shallow-queue"
    SHARED_LINE "shared-line"
    UDP_SOCKET_DROPS "udp-socket-drops"
    UDP_THROTTLED "udp-throttled"
    USERSPACE_TCP_STACK "userspace-tcp-stack"
    USERSPACE_TUNNEL "userspace-tunnel"
    WIFI_HOP "wifi-hop"
    WRONG_QUEUE "wrong-queue"
}

impl CauseCode {
    /// The stored form of the code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CauseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A map by code is also read by the code's text: both are equal, ordered and hashed alike.
impl Borrow<str> for CauseCode {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_a_later_version_is_read_and_written_unchanged() {
        let text = "\"solar-flare\"";
        let code: CauseCode = serde_json::from_str(text).unwrap();
        assert!(!CauseCode::KNOWN.contains(&code));
        assert_eq!(serde_json::to_string(&code).unwrap(), text);
    }

    #[test]
    fn a_code_that_was_read_equals_its_constant() {
        let code: CauseCode = serde_json::from_str("\"random-loss\"").unwrap();
        assert_eq!(code, CauseCode::RANDOM_LOSS);
    }
}
