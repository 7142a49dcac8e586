#![no_main]
//! Any bytes as the file of a segment, and any text as K/N: read or refused, never a panic.

use lab::segment::{Segment, file::Contents};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(contents) = Contents::parse("segment".as_ref(), bytes) {
        let _ = contents.header.part.file_name();
    }
    if let Ok(segment) = String::from_utf8_lossy(bytes).parse::<Segment>() {
        assert_eq!(segment.to_string().parse(), Ok(segment));
    }
});
