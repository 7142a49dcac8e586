//! Greetings that were answered, so that a copy of one costs nothing.
//!
//! Anyone with a recording of a greeting can replay it and the key fits, but they can send nothing
//! after it. This keeps copies out; here they are rejected before the handshake is computed for
//! them.

use std::{collections::HashSet, mem};

use traffic::wire::greeting::HANDSHAKE;

/// Greetings that are remembered at least; up to twice as many are, in 400 KiB.
const MOST: usize = 2048;

/// The latest greetings.
#[derive(Default)]
pub(super) struct Copies {
    new: HashSet<[u8; HANDSHAKE]>,
    old: HashSet<[u8; HANDSHAKE]>,
}

impl Copies {
    /// Remembers a greeting. Only holders of the key can make one that is answered, so strangers
    /// cannot fill this.
    pub(super) fn add(&mut self, first: &[u8; HANDSHAKE]) {
        if self.new.len() >= MOST {
            // Both keep their memory: the server's memory does not change with every greeting.
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
        for number in 0..10 * MOST {
            copies.add(&greeting(number));
            assert!(copies.has(&greeting(number.saturating_sub(MOST - 1))));
            assert!(copies.new.len() + copies.old.len() <= 2 * MOST);
        }
        assert!(!copies.has(&greeting(0)));
    }
}
