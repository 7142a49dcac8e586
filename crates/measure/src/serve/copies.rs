//! Store of answered greetings, so that replays are cheap to reject.
//!
//! Anyone with a recording of a greeting can replay it, and its key is valid, but they cannot
//! continue the handshake. Here copies are rejected before the handshake is computed.

use std::{collections::HashSet, mem};

use traffic::wire::greeting::HANDSHAKE;

/// Greetings that are remembered at least; up to twice as many are, in 400 KiB.
const MAX: usize = 2048;

/// The latest greetings.
#[derive(Default)]
pub(super) struct Copies {
    new: HashSet<[u8; HANDSHAKE]>,
    old: HashSet<[u8; HANDSHAKE]>,
}

impl Copies {
    /// Stores a greeting. Only holders of the key can create a valid one, so strangers cannot fill
    /// the store.
    pub(super) fn add(&mut self, first: &[u8; HANDSHAKE]) {
        if self.new.len() >= MAX {
            // Both keep their capacity, so that the server's memory use is constant.
            mem::swap(&mut self.old, &mut self.new);
            self.new.clear();
        }
        self.new.insert(*first);
    }

    /// Returns true if this one was answered before.
    pub(super) fn has(&self, first: &[u8; HANDSHAKE]) -> bool {
        self.new.contains(first) || self.old.contains(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known_and_their_number_is_bounded() {
        let mut copies = Copies::default();
        let greeting = |number: usize| {
            let mut first = [0; HANDSHAKE];
            first[..8].copy_from_slice(&number.to_be_bytes());
            first
        };
        for number in 0..10 * MAX {
            copies.add(&greeting(number));
            assert!(copies.has(&greeting(number.saturating_sub(MAX - 1))));
            assert!(copies.new.len() + copies.old.len() <= 2 * MAX);
        }
        assert!(!copies.has(&greeting(0)));
    }
}
