//! Tickets, which show that data connections and datagrams belong to an agreement.
//!
//! Data is not encrypted, and an eavesdropper on its path sees which agreement it belongs to. So
//! the token is only an identifier. Its secret is sent over the control channel only, and the codes
//! sent in the clear are derived from it: a code over the number of a connection, which is valid
//! once, or over a challenge, which is valid from one address.

use std::{fmt, io};

use serde::{Deserialize, Serialize};

use super::{
    Token,
    greeting::Greeting,
    key::{CODE, hex, random, unhex},
};

/// Domain that separates the code of a connection from that of a challenge.
const CONNECTION: u8 = b'T';
const CHALLENGE: u8 = b'U';

/// Secret of the two ends of an agreement.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Secret([u8; 32]);

impl From<Secret> for String {
    fn from(secret: Secret) -> Self {
        hex(&secret.0)
    }
}

impl TryFrom<String> for Secret {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        unhex(&text).map(Self).ok_or("not a secret")
    }
}

/// A secret must not appear in logs.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The identifier of an agreement, and the secret that authenticates its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The name.
    pub token: Token,
    /// The secret.
    pub secret: Secret,
}

impl Ticket {
    /// A new random ticket.
    ///
    /// # Errors
    /// The kernel has no random numbers.
    pub fn generate() -> io::Result<Self> {
        Ok(Self {
            token: Token::generate()?,
            secret: Secret(random()?),
        })
    }

    /// The first bytes of the data connection with this number; each number is valid once.
    pub fn greeting(&self, number: u32) -> Greeting {
        Greeting::Data {
            token: self.token,
            number,
            code: self.connection_code(number),
        }
    }

    /// Proof that a connection with this number belongs to the agreement.
    pub fn connection_code(&self, number: u32) -> [u8; CODE] {
        self.code(CONNECTION, &number.to_be_bytes())
    }

    /// Proof that the receiver of a challenge belongs to the agreement.
    pub fn challenge_code(&self, challenge: &[u8; 16]) -> [u8; CODE] {
        self.code(CHALLENGE, challenge)
    }

    fn code(&self, what: u8, message: &[u8]) -> [u8; CODE] {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret.0);
        hasher.update(&[what]);
        hasher.update(&self.token.0);
        hasher.update(message);
        let mut code = [0; CODE];
        hasher.finalize_xof().fill(&mut code);
        code
    }
}

/// Compares two codes in constant time, so that one cannot be found byte by byte.
pub fn same(a: &[u8; CODE], b: &[u8; CODE]) -> bool {
    a.iter().zip(b).fold(0, |d, (a, b)| d | (a ^ b)) == 0
}

/// Used numbers among the latest 1024; all earlier ones count as used (RFC 6479, the same for
/// IPsec).
#[derive(Debug, Default)]
pub struct Used {
    /// The highest number used, plus one.
    next: u64,
    bits: [u64; WINDOW as usize / 64],
}

/// Maximum delay of a number.
const WINDOW: u64 = 1024;

impl Used {
    /// Uses a number; whether it was new.
    pub fn take(&mut self, number: u32) -> bool {
        let number = u64::from(number);
        if number + WINDOW < self.next {
            return false;
        }
        let clear = number.saturating_sub(self.next).min(WINDOW);
        for skipped in number - clear..number {
            if skipped >= self.next {
                *self.word(skipped) &= !bit(skipped);
            }
        }
        if number >= self.next {
            self.next = number + 1;
            *self.word(number) &= !bit(number);
        }
        let new = *self.word(number) & bit(number) == 0;
        *self.word(number) |= bit(number);
        new
    }

    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.bits[(number % WINDOW / 64) as usize]
    }
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_code_is_of_one_agreement_one_kind_and_one_number() {
        let ticket = Ticket::generate().unwrap();
        let code = ticket.connection_code(7);
        assert!(same(&code, &ticket.connection_code(7)));
        assert!(!same(&code, &ticket.connection_code(8)));
        let other = Ticket {
            secret: Ticket::generate().unwrap().secret,
            ..ticket
        };
        assert!(!same(&code, &other.connection_code(7)));
        let renamed = Ticket {
            token: other.token,
            ..Ticket::generate().unwrap()
        };
        assert!(!same(&code, &renamed.connection_code(7)));
        let challenge = [7; 16];
        assert!(!same(
            &ticket.challenge_code(&challenge),
            &other.challenge_code(&challenge)
        ));
    }

    #[test]
    fn a_secret_is_hidden_by_debug_and_round_trips_as_text() {
        let ticket = Ticket::generate().unwrap();
        let text = String::from(ticket.secret);
        assert!(!format!("{ticket:?}").contains(&text));
        assert_eq!(Secret::try_from(text), Ok(ticket.secret));
    }

    #[test]
    fn the_highest_number_is_one_like_any_other() {
        let mut used = Used::default();
        assert!(used.take(u32::MAX));
        assert!(!used.take(u32::MAX));
        assert!(!used.take(0), "too old to tell");
        assert!(used.take(u32::MAX - 1));
    }

    proptest! {
        /// Compared with a set, with numbers no further apart than the window.
        #[test]
        fn each_number_is_good_once(numbers in proptest::collection::vec(0u32..1000, 0..3000)) {
            let (mut used, mut seen) = (Used::default(), HashSet::new());
            for number in numbers {
                prop_assert_eq!(used.take(number), seen.insert(number), "{}", number);
            }
        }

        #[test]
        fn no_number_is_good_twice(numbers in any::<Vec<u32>>()) {
            let mut used = Used::default();
            let mut good = HashSet::new();
            for number in numbers {
                if used.take(number) {
                    prop_assert!(good.insert(number));
                }
            }
        }
    }
}
