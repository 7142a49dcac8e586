//! The protection of QUIC's packets (RFC 9001 sections 5.3 and 5.4).

use aes_gcm::{
    Aes128Gcm,
    aead::{AeadInPlace, KeyInit},
    aes::{
        Aes128,
        cipher::{BlockEncrypt, generic_array::GenericArray},
    },
};
use rustls::{
    Error,
    crypto::cipher::{AeadKey, Iv, Nonce},
    quic,
};

/// Bytes of an AEAD's tag, and of the sample that protects a header.
const TAG: usize = 16;

/// QUIC's packets under AES-128-GCM.
struct Packets;

/// Packet protection.
pub(in crate::quic) const PACKETS: &dyn quic::Algorithm = &Packets;

impl quic::Algorithm for Packets {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn quic::PacketKey> {
        Box::new(PacketKey {
            cipher: Aes128Gcm::new(&first_16(&key).into()),
            iv,
        })
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn quic::HeaderProtectionKey> {
        Box::new(HeaderKey(Aes128::new(&first_16(&key).into())))
    }

    fn aead_key_len(&self) -> usize {
        16
    }
}

/// The bytes of a key of [`quic::Algorithm::aead_key_len`].
fn first_16(key: &AeadKey) -> [u8; 16] {
    key.as_ref().first_chunk().copied().unwrap_or_default()
}

struct PacketKey {
    cipher: Aes128Gcm,
    iv: Iv,
}

impl quic::PacketKey for PacketKey {
    fn encrypt_in_place(
        &self,
        number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<quic::Tag, Error> {
        let nonce = Nonce::new(&self.iv, number).0;
        self.cipher
            .encrypt_in_place_detached(&nonce.into(), header, payload)
            .map(|tag| quic::Tag::from(&tag[..]))
            .map_err(|_| Error::EncryptError)
    }

    fn decrypt_in_place<'a>(
        &self,
        number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let nonce = Nonce::new(&self.iv, number).0;
        let (text, tag) = payload
            .split_last_chunk_mut::<TAG>()
            .ok_or(Error::DecryptError)?;
        self.cipher
            .decrypt_in_place_detached(&nonce.into(), header, text, &(*tag).into())
            .map_err(|_| Error::DecryptError)?;
        Ok(text)
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    // RFC 9001 section 6.6.
    fn confidentiality_limit(&self) -> u64 {
        1 << 23
    }

    fn integrity_limit(&self) -> u64 {
        1 << 52
    }
}

/// Protection of headers (RFC 9001 section 5.4.3).
struct HeaderKey(Aes128);

impl HeaderKey {
    /// Masks the first byte and the packet number, whose length is in the plain first byte: before
    /// masking, or after unmasking.
    fn mask(
        &self,
        sample: &[u8],
        first: &mut u8,
        number: &mut [u8],
        plain_before: bool,
    ) -> Result<(), Error> {
        let wrong = |what: &str| Error::General(what.to_owned());
        let sample: [u8; TAG] = sample.try_into().map_err(|_| wrong("sample"))?;
        if number.len() > 4 {
            return Err(wrong("packet number"));
        }
        let mut mask = GenericArray::from(sample);
        self.0.encrypt_block(&mut mask);
        // Long headers have two more bits in the clear.
        let bits = if *first & 0x80 == 0 { 0x1f } else { 0x0f };
        let masked = *first ^ (mask[0] & bits);
        let plain = if plain_before { *first } else { masked };
        *first = masked;
        let length = usize::from(plain & 3) + 1;
        for (byte, mask) in number.iter_mut().zip(&mask[1..]).take(length) {
            *byte ^= mask;
        }
        Ok(())
    }
}

impl quic::HeaderProtectionKey for HeaderKey {
    fn encrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        number: &mut [u8],
    ) -> Result<(), Error> {
        self.mask(sample, first, number, true)
    }

    fn decrypt_in_place(
        &self,
        sample: &[u8],
        first: &mut u8,
        number: &mut [u8],
    ) -> Result<(), Error> {
        self.mask(sample, first, number, false)
    }

    fn sample_len(&self) -> usize {
        TAG
    }
}
