#![no_main]
//! Any bytes as an action of a cache over HTTP: read or refused, never a panic.

use lab::action::{decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(digest) = decode(bytes) {
        assert_eq!(decode(&encode(&digest)), Some(digest));
    }
});
