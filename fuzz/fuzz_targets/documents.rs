#![no_main]
//! Arbitrary bytes as a document or a small value from the user: accepted or rejected without a
//! panic.

use libfuzzer_sys::fuzz_target;
use model::{facts::HostFacts, figures::Figures, job::Job, prefix::Prefix};
use traffic::wire::Key;

fuzz_target!(|bytes: &[u8]| {
    let _ = serde_json::from_slice::<Job>(bytes);
    if let Ok(facts) = serde_json::from_slice::<HostFacts>(bytes) {
        let _ = (facts.settled(), facts.sysctl_triple("net.ipv4.tcp_rmem"));
    }
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let _ = Figures::parse(text);
    let _ = text.parse::<Prefix>();
    let _ = text.parse::<Key>();
});
