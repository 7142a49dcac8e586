//! Identity of the far end: a raw public key (RFC 7250) that the near end received over the control
//! channel. There is no certificate, no name and no third party to trust.

use std::{io, sync::Arc};

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use rustls::{
    CertificateError, DigitallySignedStruct, Error, SignatureAlgorithm, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime},
    server::{ClientHello, ResolvesServerCert},
    sign::{CertifiedKey, Signer, SigningKey},
};

use crate::wire::{PublicKey, key};

/// Prefix of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410 section 4).
const SPKI: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// A key of the far end, made for one agreement.
#[derive(Clone)]
pub struct Identity(ed25519_dalek::SigningKey);

impl Identity {
    /// A new random key.
    ///
    /// # Errors
    /// The kernel provides no random numbers.
    pub fn generate() -> io::Result<Self> {
        let secret = key::random()?;
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(&secret)))
    }

    /// The public half of the key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }
}

/// A key is a secret and must not appear in logs.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(..)")
    }
}

fn spki(key: &PublicKey) -> Vec<u8> {
    [&SPKI[..], &key.0].concat()
}

impl SigningKey for Identity {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        offered
            .contains(&SignatureScheme::ED25519)
            .then(|| Box::new(self.clone()) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(spki(&Self::public_key(self)).into())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ED25519
    }
}

impl Signer for Identity {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.0.sign(message).to_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ED25519
    }
}

/// Presents one key to every client.
#[derive(Debug)]
pub(super) struct Shows(Arc<CertifiedKey>);

impl Shows {
    pub(super) fn new(identity: Identity) -> Self {
        let spki = CertificateDer::from(spki(&identity.public_key()));
        Self(Arc::new(CertifiedKey::new(vec![spki], Arc::new(identity))))
    }
}

impl ResolvesServerCert for Shows {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn only_raw_public_keys(&self) -> bool {
        true
    }
}

/// Accepts one key only.
#[derive(Debug)]
pub(super) struct Pinned(pub(super) PublicKey);

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if end_entity.as_ref() == spki(&self.0) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(CertificateError::BadSignature.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        _cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let wrong = || Error::from(CertificateError::BadSignature);
        if dss.scheme != SignatureScheme::ED25519 {
            return Err(wrong());
        }
        // The presented key must be the pinned one.
        let key = VerifyingKey::from_bytes(&self.0.0).map_err(|_| wrong())?;
        let signature = Signature::from_slice(dss.signature()).map_err(|_| wrong())?;
        key.verify_strict(message, &signature)
            .map(|()| HandshakeSignatureValid::assertion())
            .map_err(|_| wrong())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
