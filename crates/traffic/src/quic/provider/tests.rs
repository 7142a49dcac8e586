//! Comparison with the sample packets of RFC 9001 appendix A and the vectors of RFC 7748.

use rustls::{
    Side,
    crypto::{ActiveKeyExchange, hash::Hash},
    quic,
    quic::{Suite, Version},
};

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let digit = |b: u8| char::from(b).to_digit(16).unwrap() as u8;
    digits
        .chunks(2)
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

fn initial(side: Side) -> quic::Keys {
    let suite = Suite {
        suite: &SUITE,
        quic: PACKETS,
    };
    suite.keys(&hex("8394c8f03e515708"), side, Version::V1)
}

/// RFC 9001 appendix A.3.
#[test]
fn the_servers_first_packet_of_rfc_9001_is_made_and_read() {
    let mut packet = hex("c1000000010008f067a5502a4262b50040750001");
    let payload = hex(
        "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf739\
         88cfc79825df566dc5430b9a045a1200130100002e00330024001d00209d3c94\
         0d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00\
         020304",
    );
    let expected = hex(
        "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a\
         5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3\
         dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84\
         022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc4\
         2158407dd074ee",
    );
    let keys = initial(Side::Server).local;
    let mut text = payload.clone();
    let tag = keys.packet.encrypt_in_place(1, &packet, &mut text).unwrap();
    packet.extend(text);
    packet.extend_from_slice(tag.as_ref());
    let at = 18;
    let sample = packet[at + 4..at + 20].to_vec();
    let (first, rest) = packet.split_first_mut().unwrap();
    let number = &mut rest[at - 1..at + 1];
    keys.header
        .encrypt_in_place(&sample, first, number)
        .unwrap();
    assert_eq!(packet, expected);

    let keys = initial(Side::Client).remote;
    let (first, rest) = packet.split_first_mut().unwrap();
    let number = &mut rest[at - 1..at + 3];
    keys.header
        .decrypt_in_place(&sample, first, number)
        .unwrap();
    let (header, text) = packet.split_at_mut(20);
    assert_eq!(header, hex("c1000000010008f067a5502a4262b50040750001"));
    let read = keys.packet.decrypt_in_place(1, header, text).unwrap();
    assert_eq!(read, payload);
}

#[test]
fn a_changed_byte_is_noticed() {
    let keys = initial(Side::Server).local;
    let peer = initial(Side::Client).remote;
    let mut text = b"hello".to_vec();
    let tag = keys
        .packet
        .encrypt_in_place(7, b"header", &mut text)
        .unwrap();
    text.extend_from_slice(tag.as_ref());
    for wrong in 0..text.len() {
        let mut changed = text.clone();
        changed[wrong] ^= 1;
        assert!(
            peer.packet
                .decrypt_in_place(7, b"header", &mut changed)
                .is_err()
        );
    }
    assert!(
        peer.packet
            .decrypt_in_place(8, b"header", &mut text.clone())
            .is_err()
    );
    assert!(
        peer.packet
            .decrypt_in_place(7, b"", &mut text.clone())
            .is_err()
    );
    assert!(
        peer.packet
            .decrypt_in_place(7, b"header", &mut [0; 3])
            .is_err()
    );
    assert_eq!(
        peer.packet
            .decrypt_in_place(7, b"header", &mut text)
            .unwrap(),
        b"hello"
    );
}

/// RFC 7748 section 6.1.
#[test]
fn both_ends_of_a_key_exchange_get_the_secret_of_rfc_7748() {
    let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let own = |secret: Vec<u8>| {
        let secret: [u8; 32] = secret.try_into().unwrap();
        let public = MontgomeryPoint::mul_base_clamped(secret).to_bytes();
        Box::new(Exchange { secret, public })
    };
    let [alice, bob] = [alice, bob].map(own);
    let (to_alice, to_bob) = (bob.public, alice.public);
    assert_eq!(
        to_bob.to_vec(),
        hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    );
    assert_eq!(alice.complete(&to_alice).unwrap().secret_bytes(), shared);
    assert_eq!(bob.complete(&to_bob).unwrap().secret_bytes(), shared);
}

#[test]
fn points_of_small_order_are_refused() {
    for wrong in [vec![0; 32], vec![0; 31], vec![9; 33]] {
        let exchange = Box::new(Exchange {
            secret: [7; 32],
            public: [0; 32],
        });
        assert!(exchange.complete(&wrong).is_err(), "{wrong:?}");
    }
}

/// RFC 4231 sections 4.2 and 4.7: a short key, and one longer than a block.
#[test]
fn hmac_is_that_of_rfc_4231() {
    let mac = |key: &[u8], data: &[u8]| {
        let tag = tls_hmac::Hmac::with_key(&HmacSha, key).sign(&[data]);
        tag.as_ref().to_vec()
    };
    assert_eq!(
        mac(&[0x0b; 20], b"Hi There"),
        hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    );
    assert_eq!(
        mac(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First"
        ),
        hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    );
    assert_eq!(Sha.hash(b"").as_ref().len(), Sha.output_len());
}
