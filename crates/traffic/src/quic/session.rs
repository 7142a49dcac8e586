//! TLS 1.3 in QUIC (RFC 9001): the cryptography of quinn-proto, by rustls.

use std::{any::Any, io, sync::Arc};

use bytes::BytesMut;
use hmac::Mac;
use quinn_proto::{
    ConnectError, ConnectionId, Side, TransportError, TransportErrorCode,
    crypto::{self, CryptoError, ExportKeyingMaterialError, KeyPair, Keys, UnsupportedVersion},
    transport_parameters::TransportParameters,
};
use rustls::{
    ClientConfig, ServerConfig,
    client::Resumption,
    pki_types::ServerName,
    quic::{self, Connection, KeyChange, Secrets, Suite, Version},
    server::NoServerSessionStorage,
    version::TLS13,
};

use super::{
    identity::{Identity, Pinned, Shows},
    provider::{self, HmacSha256, SUITE, hmac_under},
};
use crate::wire::PublicKey;

/// Application protocol of the two ends over QUIC (ALPN, RFC 7301).
const PROTOCOL: &[u8] = b"pathtwin/1";

/// The one version that is spoken (RFC 9000).
const QUIC_1: u32 = 1;

fn other(error: rustls::Error) -> io::Error {
    io::Error::other(error)
}

/// The near end's TLS: trusts one key.
pub(super) struct Near(Arc<ClientConfig>);

impl Near {
    pub(super) fn new(key: PublicKey) -> io::Result<Self> {
        let mut config = ClientConfig::builder_with_provider(provider::provider())
            .with_protocol_versions(&[&TLS13])
            .map_err(other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned(key)))
            .with_no_client_auth();
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.enable_sni = false;
        config.resumption = Resumption::disabled();
        Ok(Self(Arc::new(config)))
    }
}

/// The far end's TLS: shows one key.
pub(super) struct Far(Arc<ServerConfig>);

impl Far {
    pub(super) fn new(identity: Identity) -> io::Result<Self> {
        let mut config = ServerConfig::builder_with_provider(provider::provider())
            .with_protocol_versions(&[&TLS13])
            .map_err(other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Shows::new(identity)));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let far = Self(Arc::new(config));
        // Detects errors now instead of at the first connection.
        far.connection(Vec::new()).map_err(other)?;
        Ok(far)
    }

    fn connection(&self, params: Vec<u8>) -> Result<Connection, rustls::Error> {
        quic::ServerConnection::new(self.0.clone(), Version::V1, params).map(Connection::Server)
    }
}

fn suite() -> Suite {
    Suite {
        suite: &SUITE,
        quic: SUITE.quic.unwrap_or(provider::PACKETS),
    }
}

fn initial_keys(id: &ConnectionId, side: rustls::Side) -> Keys {
    keys(suite().keys(id, side, Version::V1))
}

fn keys(keys: quic::Keys) -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Header(keys.local.header)),
            remote: Box::new(Header(keys.remote.header)),
        },
        packet: KeyPair {
            local: Box::new(Packet(keys.local.packet)),
            remote: Box::new(Packet(keys.remote.packet)),
        },
    }
}

fn written(params: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    params.write(&mut bytes);
    bytes
}

impl crypto::ClientConfig for Near {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        if version != QUIC_1 {
            return Err(ConnectError::UnsupportedVersion);
        }
        let wrong = || ConnectError::InvalidServerName(server_name.to_owned());
        let name = ServerName::try_from(server_name.to_owned()).map_err(|_| wrong())?;
        let connection =
            quic::ClientConnection::new(self.0.clone(), Version::V1, name, written(params))
                .map_err(|_| ConnectError::EndpointStopping)?;
        Ok(Box::new(Session::new(Connection::Client(connection))))
    }
}

impl crypto::ServerConfig for Far {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version != QUIC_1 {
            return Err(UnsupportedVersion);
        }
        Ok(initial_keys(id, rustls::Side::Server))
    }

    // Only used to send Retry packets, which this end does not do.
    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    // It fails only for values of the configuration, which `new` has tried.
    #[allow(clippy::expect_used)]
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        params: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        let connection = self.connection(written(params));
        Box::new(Session::new(
            connection.expect("a configuration that works"),
        ))
    }
}

struct Session {
    inner: Connection,
    /// True if it was reported that the peer's hello is understood.
    reported: bool,
    next: Option<Secrets>,
}

impl Session {
    fn new(inner: Connection) -> Self {
        Self {
            inner,
            reported: false,
            next: None,
        }
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        let side = match side {
            Side::Client => rustls::Side::Client,
            Side::Server => rustls::Side::Server,
        };
        initial_keys(id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn crypto::PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        matches!(self.inner, Connection::Client(_)).then_some(false)
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_hs(bytes).map_err(|error| {
            let reason = error.to_string();
            let code = match self.inner.alert() {
                Some(alert) => TransportErrorCode::crypto(alert.into()),
                None => TransportErrorCode::PROTOCOL_VIOLATION,
            };
            TransportError {
                code,
                frame: None,
                reason,
            }
        })?;
        let news = !self.reported && self.inner.alpn_protocol().is_some();
        self.reported |= news;
        Ok(news)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let side = match self.inner {
            Connection::Client(_) => Side::Client,
            Connection::Server(_) => Side::Server,
        };
        self.inner
            .quic_transport_parameters()
            .map(|bytes| TransportParameters::read(side, &mut io::Cursor::new(bytes)))
            .transpose()
            .map_err(Into::into)
    }

    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        match self.inner.write_hs(buffer)? {
            KeyChange::Handshake { keys: new } => Some(keys(new)),
            KeyChange::OneRtt { keys: new, next } => {
                self.next = Some(next);
                Some(keys(new))
            }
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn crypto::PacketKey>>> {
        let keys = self.next.as_mut()?.next_packet_keys();
        Some(KeyPair {
            local: Box::new(Packet(keys.local)),
            remote: Box::new(Packet(keys.remote)),
        })
    }

    // The far end sends no Retry packets: any received one is forged.
    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner
            .export_keying_material(output, label, Some(context))
            .map(|_| ())
            .map_err(|_| ExportKeyingMaterialError)
    }
}

struct Header(Box<dyn quic::HeaderProtectionKey>);

impl Header {
    /// The sample, the first byte and the packet number of a packet (RFC 9001 section 5.4.2).
    fn parts<'a>(
        &self,
        at: usize,
        packet: &'a mut [u8],
    ) -> Option<(&'a [u8], &'a mut u8, &'a mut [u8])> {
        let (header, sample) = packet.split_at_mut_checked(at + 4)?;
        let (first, rest) = header.split_first_mut()?;
        let number = rest.get_mut(at.checked_sub(1)?..)?;
        Some((sample.get(..self.0.sample_len())?, first, number))
    }
}

impl crypto::HeaderKey for Header {
    fn decrypt(&self, at: usize, packet: &mut [u8]) {
        if let Some((sample, first, number)) = self.parts(at, packet) {
            let _ = self.0.decrypt_in_place(sample, first, number);
        }
    }

    fn encrypt(&self, at: usize, packet: &mut [u8]) {
        if let Some((sample, first, number)) = self.parts(at, packet) {
            let _ = self.0.encrypt_in_place(sample, first, number);
        }
    }

    fn sample_size(&self) -> usize {
        self.0.sample_len()
    }
}

struct Packet(Box<dyn quic::PacketKey>);

impl crypto::PacketKey for Packet {
    fn encrypt(&self, number: u64, packet: &mut [u8], header: usize) {
        let (header, rest) = packet.split_at_mut(header.min(packet.len()));
        let text = rest.len().saturating_sub(self.0.tag_len());
        let (text, place) = rest.split_at_mut(text);
        match self.0.encrypt_in_place(number, header, text) {
            Ok(tag) => place.copy_from_slice(&tag.as_ref()[..place.len()]),
            // Only for packets of gigabytes. Unencrypted data is not sent.
            Err(_) => text.fill(0),
        }
    }

    fn decrypt(
        &self,
        number: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let length = self
            .0
            .decrypt_in_place(number, header, payload)
            .map_err(|_| CryptoError)?
            .len();
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// The key of stateless resets.
pub(super) struct ResetKey(HmacSha256);

impl ResetKey {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac_under(secret))
    }
}

impl crypto::HmacKey for ResetKey {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        let tag = self.0.clone().chain_update(data).finalize().into_bytes();
        for (to, from) in out.iter_mut().zip(tag) {
            *to = from;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mac = self.0.clone().chain_update(data);
        mac.verify_slice(signature).map_err(|_| CryptoError)
    }
}

/// Tokens that prove an address for a later connection: none are given out, none are accepted.
pub(super) struct NoTokens;

impl crypto::HandshakeTokenKey for NoTokens {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn crypto::AeadKey> {
        Box::new(Self)
    }
}

impl crypto::AeadKey for NoTokens {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(CryptoError)
    }
}
