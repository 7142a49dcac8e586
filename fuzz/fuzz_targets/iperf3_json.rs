//! Arbitrary text as iperf3's parameters and results: accepted or rejected without a panic;
//! accepted values round-trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use iperf3::{params::Params, results::Results};

fuzz_target!(|text: &[u8]| {
    let Ok(value) = serde_json::from_slice(text) else {
        return;
    };
    if let Ok(params) = Params::parse(&value) {
        assert_eq!(Params::parse(&params.to_json()), Ok(params));
    }
    if let Ok(results) = Results::parse(&value) {
        assert!(Results::parse(&results.to_json()).is_ok());
    }
});
