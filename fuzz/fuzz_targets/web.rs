//! Arbitrary bytes as requests of browsers and frames of their WebSockets: accepted or rejected,
//! without reading beyond the input.

#![no_main]

use libfuzzer_sys::fuzz_target;
use web::{Access, frame::Head, request};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some((request, length))) = request::parse(bytes) {
        assert!(length <= bytes.len());
        let _ = Access::default().admits(&request);
        let _ = web::frame::handshake(&request, Some("net.measurementlab.ndt.v7"));
        let _ = (request.form("token"), request.cookie("pathtwin"));
    }
    if let Ok(Some((_, length))) = Head::parse(bytes) {
        assert!(length <= bytes.len());
    }
});
