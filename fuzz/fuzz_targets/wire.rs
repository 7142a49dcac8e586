#![no_main]
//! Arbitrary bytes as the start of a connection, a reply to it and a datagram: accepted or rejected
//! without a panic, and never a request for more than the longest greeting. Accepted input is
//! written as the same bytes.

use libfuzzer_sys::fuzz_target;
use traffic::wire::{
    Refusal,
    datagram::Datagram,
    greeting::{CONTROL, Parsed, parse},
};

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Parsed::Whole(greeting) => assert!(bytes.starts_with(&greeting.bytes())),
        Parsed::More(wanted) => assert!(bytes.len() < wanted && wanted <= CONTROL),
        Parsed::Version(_) | Parsed::Foreign => {}
    }
    if let Some(refusal) = bytes.first_chunk().and_then(|two| Refusal::parse(*two)) {
        assert!(Refusal::parse(refusal.bytes()).is_some());
    }
    if let Some(datagram) = Datagram::parse(bytes) {
        let mut again = bytes.to_vec();
        datagram.write(&mut again);
        assert_eq!(again, bytes);
    }
});
