#![no_main]
//! Arbitrary bytes as a message of the control channel, deflated or not, at both ends: accepted or
//! rejected without a panic, and never longer than the limit. Accepted messages round-trip.

use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use measure::far::{
    load::{Echo, Http, Quic, Service, Short},
    outcome,
};
use traffic::wire::{
    channel::unpack,
    message::{Numbered, Reply, Request, TcpOrder, UdpOrder},
};

const LIMIT: usize = 1 << 20;

fn through<M: Serialize + DeserializeOwned>(deflated: bool, bytes: &[u8]) {
    if let Ok(message) = unpack::<M>(deflated, bytes, LIMIT) {
        let again = serde_json::to_vec(&message).expect("what was read can be written");
        assert!(unpack::<M>(false, &again, usize::MAX).is_ok());
    }
}

fn is_outcome<S: Service>(deflated: bool, bytes: &[u8]) -> bool {
    matches!(outcome::<S>(1, deflated, bytes, LIMIT), Ok(Some(_)))
}

fuzz_target!(|input: (bool, &[u8])| {
    let (deflated, bytes) = input;
    through::<Numbered<Request>>(deflated, bytes);
    through::<Numbered<Reply>>(deflated, bytes);
    // As the near end reads the end of each kind of load: an outcome is of one kind at most.
    let kinds = [
        is_outcome::<TcpOrder>(deflated, bytes),
        is_outcome::<UdpOrder>(deflated, bytes),
        is_outcome::<Quic>(deflated, bytes),
        is_outcome::<Echo>(deflated, bytes),
        is_outcome::<Short>(deflated, bytes),
        is_outcome::<Http>(deflated, bytes),
    ];
    assert!(kinds.into_iter().filter(|is| *is).count() <= 1);
});
