#![no_main]
//! Any bytes as the head of an HTTP request and of an answer: read, refused or waited on, never a
//! panic; what is read is no longer than what was there, and no more is waited for than is held.

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
