//! The proof that an address receives, before anything worth the name is sent to it.

use std::net::SocketAddr;

use super::Token;

/// Makes challenges and checks their answers, and remembers none of them.
pub struct Prover(blake3::Hasher);

impl Prover {
    /// A prover with a secret of its own.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(blake3::Hasher::new_keyed(secret))
    }

    /// What only the holder of `address` is told.
    pub fn challenge(&self, token: Token, address: SocketAddr) -> [u8; 16] {
        let mut hasher = self.0.clone();
        hasher.update(&token.0);
        // Of one length for each family, so that no two addresses give the same bytes.
        hasher.update(&address.port().to_be_bytes());
        match address.ip().to_canonical() {
            std::net::IpAddr::V4(ip) => hasher.update(&ip.octets()),
            std::net::IpAddr::V6(ip) => hasher.update(&ip.octets()),
        };
        let mut secret = [0; 16];
        hasher.finalize_xof().fill(&mut secret);
        secret
    }

    /// Whether `answer` is what the holder of `address` was told.
    pub fn proves(&self, token: Token, address: SocketAddr, answer: &[u8; 16]) -> bool {
        let expected = self.challenge(token, address);
        // In constant time, so that an answer cannot be found byte by byte.
        let difference = expected.iter().zip(answer).fold(0, |d, (a, b)| d | (a ^ b));
        difference == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_proves_one_address_and_one_token() {
        let prover = Prover::new(&[1; 32]);
        let (a, b) = (Token([1; 16]), Token([2; 16]));
        let here: SocketAddr = "192.0.2.1:5000".parse().unwrap();
        let there: SocketAddr = "192.0.2.1:5001".parse().unwrap();
        let answer = prover.challenge(a, here);
        assert!(prover.proves(a, here, &answer));
        assert!(!prover.proves(a, there, &answer));
        assert!(!prover.proves(b, here, &answer));
        assert!(!Prover::new(&[2; 32]).proves(a, here, &answer));
        let mapped: SocketAddr = "[::ffff:192.0.2.1]:5000".parse().unwrap();
        assert!(prover.proves(a, mapped, &answer));
    }
}
