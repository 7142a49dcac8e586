#![no_main]
//! Any bytes as what the kernel sends: messages and attributes of netlink, `TCP_INFO`, control
//! data, ring buffers. Nobody but the kernel writes them, but a newer or older kernel writes other
//! ones.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sys::fuzzing::read_all(bytes));
