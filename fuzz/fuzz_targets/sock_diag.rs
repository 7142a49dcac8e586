#![no_main]
//! Any bytes as a message of a socket dump: read or refused, never a panic.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sys::sock_diag::TcpSocket::parse(bytes);
});
