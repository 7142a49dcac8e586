//! No bytes make the readers of iperf3's control connection and datagrams panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use iperf3::{datagram::{Head, is_reply}, wire::{Cookie, MAX_PARAMS, read_json, read_message}};
use traffic::load::count::Counter;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while read_message(&mut rest).is_ok() {}
    let _ = read_json(&mut &bytes[..], MAX_PARAMS);
    let _ = Cookie::parse(bytes);
    let _ = is_reply(bytes);
    let mut counter = Counter::default();
    for datagram in bytes.chunks(16) {
        let narrow = Head::decode(false, datagram);
        for head in narrow.into_iter().chain(Head::decode(true, datagram)) {
            counter.count(head.number, head.sent_ns().wrapping_neg());
        }
    }
});
