//! Address validation before data is sent.

use std::net::SocketAddr;

use super::{Ticket, Token, key::CODE, ticket::same};

/// Creates challenges and verifies replies to them, without storing any.
pub struct Prover(blake3::Hasher);

impl Prover {
    /// A prover with a separate secret.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::Hasher::new_keyed(secret))
    }

    /// Secret that only the holder of `address` receives.
    pub fn challenge(&self, token: Token, address: SocketAddr) -> [u8; 16] {
        let mut hasher = self.0.clone();
        hasher.update(&token.0);
        // Of fixed length per family, so that different addresses give different bytes.
        hasher.update(&address.port().to_be_bytes());
        match address.ip().to_canonical() {
            std::net::IpAddr::V4(ip) => hasher.update(&ip.octets()),
            std::net::IpAddr::V6(ip) => hasher.update(&ip.octets()),
        };
        let mut secret = [0; 16];
        hasher.finalize_xof().fill(&mut secret);
        secret
    }

    /// Returns true if `answer` is from a holder of `address` and the ticket.
    pub fn proves(&self, ticket: &Ticket, address: SocketAddr, answer: &[u8; CODE]) -> bool {
        let challenge = self.challenge(ticket.token, address);
        same(&ticket.challenge_code(&challenge), answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_proves_one_address_and_one_ticket() {
        let prover = Prover::new(&[1; 32]);
        let (a, b) = (Ticket::generate().unwrap(), Ticket::generate().unwrap());
        let here: SocketAddr = "192.0.2.1:5000".parse().unwrap();
        let there: SocketAddr = "192.0.2.1:5001".parse().unwrap();
        let challenge = prover.challenge(a.token, here);
        let answer = a.challenge_code(&challenge);
        assert!(prover.proves(&a, here, &answer));
        assert!(!prover.proves(&a, there, &answer));
        assert!(!prover.proves(&b, here, &answer));
        assert!(!Prover::new(&[2; 32]).proves(&a, here, &answer));
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:5000".parse().unwrap();
        assert!(prover.proves(&a, mapped, &answer));
        // An eavesdropper on the token who holds the address knows the challenge only.
        assert!(!prover.proves(&a, here, &challenge));
        let overheard = Ticket {
            token: a.token,
            ..b
        };
        assert!(!prover.proves(&a, here, &overheard.challenge_code(&challenge)));
    }
}
