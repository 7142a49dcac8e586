#![no_main]
//! Any bytes as a record stream: read to the end, never a panic.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut stream = model::record::MAGIC.to_vec();
    stream.extend(bytes);
    if let Ok(records) = model::record::records(&stream) {
        records.for_each(drop);
    }
});
