#![no_main]
//! Arbitrary bytes as the head of an HTTP request or response: accepted, rejected or incomplete,
//! without a panic; the parsed length never exceeds the input, and incomplete input is bounded.

use libfuzzer_sys::fuzz_target;
use traffic::wire::http::{LONGEST, Parsed, request, response};

fuzz_target!(|bytes: &[u8]| {
    match request(bytes) {
        Parsed::Whole(_, length) => assert!(length <= bytes.len() && length <= LONGEST),
        Parsed::More => assert!(bytes.len() < LONGEST),
        Parsed::Bad(_) => {}
    }
    match response(bytes) {
        Parsed::Whole(_, length) => assert!(length <= bytes.len() && length <= LONGEST),
        Parsed::More => assert!(bytes.len() < LONGEST),
        Parsed::Bad(_) => {}
    }
});
