//! The ciphers of TLS 1.3 for QUIC (RFC 9001 section 5.3): one suite in pure Rust, so that it
//! builds for every target without a C compiler.

mod packets;

use std::sync::Arc;

use curve25519_dalek::MontgomeryPoint;
use hmac::Mac;
use rustls::{
    CipherSuite, ConnectionTrafficSecrets, Error, NamedGroup, PeerMisbehaved, SupportedCipherSuite,
    Tls13CipherSuite,
    crypto::{
        ActiveKeyExchange, CipherSuiteCommon, CryptoProvider, GetRandomFailed, KeyProvider,
        SecureRandom, SharedSecret, SupportedKxGroup, WebPkiSupportedAlgorithms,
        cipher::{
            AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter,
            MessageEncrypter, OutboundOpaqueMessage, OutboundPlainMessage, Tls13AeadAlgorithm,
            UnsupportedOperationError,
        },
        hash,
        hmac::{self as tls_hmac},
        tls13::HkdfUsingHmac,
    },
    ffdhe_groups::FfdheGroup,
    pki_types::PrivateKeyDer,
    sign::SigningKey,
};
use sha2::{Digest, Sha256};

pub(super) use packets::PACKETS;

/// The one suite, which QUIC cannot do without (RFC 9001 section 5.2).
pub(super) static SUITE: Tls13CipherSuite = Tls13CipherSuite {
    common: CipherSuiteCommon {
        suite: CipherSuite::TLS13_AES_128_GCM_SHA256,
        hash_provider: &Sha,
        confidentiality_limit: 1 << 24,
    },
    hkdf_provider: &HkdfUsingHmac(&HmacSha),
    aead_alg: &NoRecords,
    quic: Some(PACKETS),
};

/// All that TLS needs.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: vec![SupportedCipherSuite::Tls13(&SUITE)],
        kx_groups: vec![&X25519],
        // Certificates are not used: keys are pinned.
        signature_verification_algorithms: WebPkiSupportedAlgorithms {
            all: &[],
            mapping: &[],
        },
        secure_random: &Kernel,
        key_provider: &NoFiles,
    })
}

struct Sha;

impl hash::Hash for Sha {
    fn start(&self) -> Box<dyn hash::Context> {
        Box::new(ShaContext(Sha256::new()))
    }

    fn hash(&self, data: &[u8]) -> hash::Output {
        hash::Output::new(&Sha256::digest(data))
    }

    fn output_len(&self) -> usize {
        32
    }

    fn algorithm(&self) -> hash::HashAlgorithm {
        hash::HashAlgorithm::SHA256
    }
}

struct ShaContext(Sha256);

impl hash::Context for ShaContext {
    fn fork_finish(&self) -> hash::Output {
        hash::Output::new(&self.0.clone().finalize())
    }

    fn fork(&self) -> Box<dyn hash::Context> {
        Box::new(Self(self.0.clone()))
    }

    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finish(self: Box<Self>) -> hash::Output {
        hash::Output::new(&self.0.finalize())
    }
}

pub(super) type HmacSha256 = hmac::Hmac<Sha256>;

/// HMAC under a key of any length, which HMAC allows (RFC 2104 section 3).
pub(super) fn hmac_under(key: &[u8]) -> HmacSha256 {
    let mut padded = [0; 64];
    if key.len() > padded.len() {
        padded[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        padded[..key.len()].copy_from_slice(key);
    }
    // A key of a block's length is used unchanged.
    <HmacSha256 as hmac::digest::KeyInit>::new(&padded.into())
}

struct HmacSha;

impl tls_hmac::Hmac for HmacSha {
    fn with_key(&self, key: &[u8]) -> Box<dyn tls_hmac::Key> {
        Box::new(HmacKey(hmac_under(key)))
    }

    fn hash_output_len(&self) -> usize {
        32
    }
}

struct HmacKey(HmacSha256);

impl tls_hmac::Key for HmacKey {
    fn sign_concat(&self, first: &[u8], middle: &[&[u8]], last: &[u8]) -> tls_hmac::Tag {
        let mut mac = self.0.clone();
        mac.update(first);
        for part in middle {
            mac.update(part);
        }
        mac.update(last);
        tls_hmac::Tag::new(&mac.finalize().into_bytes())
    }

    fn tag_len(&self) -> usize {
        32
    }
}

#[derive(Debug)]
struct Kernel;

impl SecureRandom for Kernel {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(buf).map_err(|_| GetRandomFailed)
    }
}

#[derive(Debug)]
struct NoFiles;

impl KeyProvider for NoFiles {
    fn load_private_key(&self, _: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::General("keys are made, not loaded".to_owned()))
    }
}

/// Key exchange of RFC 7748.
#[derive(Debug)]
struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut secret = [0; 32];
        Kernel.fill(&mut secret)?;
        let public = MontgomeryPoint::mul_base_clamped(secret).to_bytes();
        Ok(Box::new(Exchange { secret, public }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Exchange {
    secret: [u8; 32],
    public: [u8; 32],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let wrong = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);
        let peer: [u8; 32] = peer.try_into().map_err(|_| wrong.clone())?;
        let shared = MontgomeryPoint(peer).mul_clamped(self.secret).to_bytes();
        // RFC 8446 section 7.4.2: points of small order result in zeroes.
        if shared == [0; 32] {
            return Err(wrong);
        }
        Ok(SharedSecret::from(&shared[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// TLS records, which QUIC does not use: all operations fail.
struct NoRecords;

impl Tls13AeadAlgorithm for NoRecords {
    fn encrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Self)
    }

    fn decrypter(&self, _: AeadKey, _: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Self)
    }

    fn key_len(&self) -> usize {
        16
    }

    fn extract_keys(
        &self,
        _: AeadKey,
        _: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl MessageEncrypter for NoRecords {
    fn encrypt(
        &mut self,
        _: OutboundPlainMessage<'_>,
        _: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        Err(Error::EncryptError)
    }

    fn encrypted_payload_len(&self, payload_len: usize) -> usize {
        payload_len
    }
}

impl MessageDecrypter for NoRecords {
    fn decrypt<'a>(
        &mut self,
        _: InboundOpaqueMessage<'a>,
        _: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        Err(Error::DecryptError)
    }
}

#[cfg(test)]
mod tests;
