#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;

/// A half that requests this many calls of ten bytes.
struct Calls {
    left: usize,
    moved: Vec<(usize, usize)>,
    goes_on: bool,
}

impl Calls {
    fn new(left: usize) -> Self {
        Self {
            left,
            moved: Vec::new(),
            goes_on: true,
        }
    }
}

impl Flow for Calls {
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        // Every other time nothing is due.
        Some(if self.left.is_multiple_of(2) { 10 } else { 0 })
    }

    fn moved(&mut self, most: usize, bytes: usize) {
        self.moved.push((most, bytes));
    }

    fn pause(&mut self, _: Instant) {}

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match error.kind() {
            io::ErrorKind::WouldBlock => Ok(self.goes_on),
            _ => Err(error),
        }
    }
}

fn lease(bytes: u64) -> Lease {
    Lease::own(Duration::from_secs(1), Some(bytes), None)
}

#[test]
fn unsent_bytes_are_returned() {
    let lease = lease(100);
    let mut calls = Calls::new(4);
    send(&lease, &mut calls, |most| Ok(most - 3)).unwrap();
    assert_eq!(calls.moved, [(10, 7), (10, 7)]);
    assert_eq!(lease.bytes_left(), Some(86));
}

/// The bytes of a call that failed were lost for the session.
#[test]
fn a_call_that_failed_costs_nothing() {
    let lease = lease(100);
    let mut calls = Calls::new(2);
    let error = send(
        &lease,
        &mut calls,
        |_| Err(io::ErrorKind::BrokenPipe.into()),
    )
    .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(lease.bytes_left(), Some(100));
}

#[test]
fn nothing_is_sent_or_received_beyond_the_lease() {
    let lease = lease(15);
    let mut calls = Calls::new(100);
    assert!(send(&lease, &mut calls, Ok).is_err());
    assert_eq!(calls.moved, [(10, 10), (10, 5)]);
    assert!(receive(&lease, &mut Calls::new(2), Ok).is_err());
}

#[test]
fn a_receiver_ends_with_its_peer_and_with_its_half() {
    let lease = lease(100);
    let mut calls = Calls::new(100);
    let mut given = [4, 0, 9].into_iter();
    receive(&lease, &mut calls, |_| Ok(given.next().unwrap())).unwrap();
    assert_eq!(calls.moved.iter().map(|(_, n)| n).sum::<usize>(), 4);
    calls.goes_on = false;
    receive(
        &lease,
        &mut calls,
        |_| Err(io::ErrorKind::WouldBlock.into()),
    )
    .unwrap();
    assert!(calls.left > 90);
}
