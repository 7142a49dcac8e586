#![no_main]
//! Arbitrary bytes as data of the kernel: messages and attributes of netlink, `TCP_INFO`, control
//! data, ring buffers. Other kernel versions have other layouts.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sys::fuzzing::read_all(bytes));
