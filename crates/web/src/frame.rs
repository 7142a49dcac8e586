//! Frames of WebSocket (RFC 6455), as far as a server of loads needs them: heads are read, payload
//! of loads is skipped without being unmasked.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha1::{Digest, Sha1};

use crate::{Request, Response, response::Status};

/// Constant hashed with every handshake (RFC 6455, 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// Longest payload of a control frame (RFC 6455, 5.5).
pub const CONTROL: u64 = 125;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The rest of a message.
    Continuation,
    /// Text.
    Text,
    /// Bytes.
    Binary,
    /// The end.
    Close,
    /// To be answered by a pong.
    Ping,
    /// The reply to a ping.
    Pong,
}

/// Head of a frame of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its kind.
    pub kind: Kind,
    /// Bytes of its payload.
    pub length: u64,
    /// The mask of its payload.
    pub mask: [u8; 4],
}

/// A frame that breaks the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of the client breaks the rules of WebSocket")]
pub struct BadFrame;

impl Head {
    /// Reads a head from the front of `bytes`, with its length; `None` while it is not whole.
    ///
    /// # Errors
    /// No client may send it: unmasked, an unknown kind or extension, or a long control frame.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, BadFrame> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let (ends, kind) = (first & 0x80 != 0, first & 0x0f);
        let kind = match kind {
            0 => Kind::Continuation,
            1 => Kind::Text,
            2 => Kind::Binary,
            8 => Kind::Close,
            9 => Kind::Ping,
            10 => Kind::Pong,
            _ => return Err(BadFrame),
        };
        let masked = second & 0x80 != 0;
        if first & 0x70 != 0 || !masked {
            return Err(BadFrame);
        }
        let more = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        let Some((length, mask)) = rest
            .get(..more)
            .zip(rest.get(more..).and_then(|rest| rest.first_chunk()))
        else {
            return Ok(None);
        };
        let length = match more {
            0 => u64::from(second & 0x7f),
            _ => length.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)),
        };
        let is_control = matches!(kind, Kind::Close | Kind::Ping | Kind::Pong);
        if length >> 63 != 0 || is_control && (length > CONTROL || !ends) {
            return Err(BadFrame);
        }
        let head = Self {
            kind,
            length,
            mask: *mask,
        };
        Ok(Some((head, 2 + more + 4)))
    }
}

/// The head of a whole message of a server, which does not mask.
pub fn head(kind: Kind, length: u64) -> Vec<u8> {
    let code = match kind {
        Kind::Continuation => 0,
        Kind::Text => 1,
        Kind::Binary => 2,
        Kind::Close => 8,
        Kind::Ping => 9,
        Kind::Pong => 10,
    };
    let mut bytes = vec![0x80 | code];
    match length {
        ..=125 => bytes.push(length as u8),
        126..=0xffff => {
            bytes.push(126);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(127);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes
}

/// A whole message of a server.
pub fn message(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head(kind, payload.len() as u64);
    bytes.extend_from_slice(payload);
    bytes
}

/// Masks or unmasks a payload.
pub fn mask(payload: &mut [u8], mask: [u8; 4]) {
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// The response to a handshake. `protocol`: the subprotocol that the client must offer, which is
/// confirmed; absent = none.
///
/// # Errors
/// The request is not a handshake of version 13, or does not offer the protocol.
pub fn handshake(request: &Request, protocol: Option<&str>) -> Result<String, Response> {
    let wrong = |text: &str| Response::text(Status::BadRequest, format!("{text}\n"));
    if request.method != "GET" || !request.has_token("upgrade", "websocket") {
        let response = Response::text(Status::UpgradeRequired, "a WebSocket is served here\n");
        return Err(response.field("Upgrade", "websocket"));
    }
    if !request.has_token("connection", "upgrade")
        || request.field("sec-websocket-version") != Some("13")
    {
        return Err(wrong("not a handshake of WebSocket, version 13"));
    }
    let key = request.field("sec-websocket-key").map(str::trim);
    let is_key = |key: &&str| BASE64_STANDARD.decode(key).is_ok_and(|k| k.len() == 16);
    let Some(key) = key.filter(is_key) else {
        return Err(wrong("the handshake has no key"));
    };
    let digest = Sha1::digest(format!("{key}{GUID}"));
    let accept = BASE64_STANDARD.encode(digest);
    let confirmed = match protocol {
        Some(name) if !request.has_token("sec-websocket-protocol", name) => {
            return Err(wrong(&format!("the client must offer the protocol {name}")));
        }
        Some(name) => format!("Sec-WebSocket-Protocol: {name}\r\n"),
        None => String::new(),
    };
    Ok(format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{confirmed}\r\n"
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    fn request(fields: &[(&str, &str)]) -> Request {
        let fields = fields.iter();
        Request {
            method: "GET".to_owned(),
            fields: fields
                .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
                .collect(),
            ..Request::default()
        }
    }

    /// RFC 6455, 1.3.
    #[test]
    fn the_handshake_of_the_standard_is_answered_as_there() {
        let fields = [
            ("Upgrade", "websocket"),
            ("Connection", "keep-alive, Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("Sec-WebSocket-Protocol", "chat, superchat"),
        ];
        let answer = handshake(&request(&fields), Some("chat")).unwrap();
        assert!(answer.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(answer.contains("Sec-WebSocket-Protocol: chat\r\n"));
        assert!(handshake(&request(&fields), Some("other")).is_err());
        assert!(handshake(&request(&fields[..3]), None).is_err());
        let plain = handshake(&Request::default(), None).unwrap_err();
        assert_eq!(plain.status, Status::UpgradeRequired);
    }

    /// RFC 6455, 5.7: a masked "Hello", and 256 bytes and 64 KiB of a server.
    #[test]
    fn frames_of_the_standard_are_read_and_written_as_there() {
        let hello = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ];
        let (read, length) = Head::parse(&hello).unwrap().unwrap();
        assert_eq!((read.kind, read.length, length), (Kind::Text, 5, 6));
        let mut payload = hello[length..].to_vec();
        mask(&mut payload, read.mask);
        assert_eq!(payload, b"Hello");
        assert_eq!(head(Kind::Binary, 256), [0x82, 0x7e, 0x01, 0x00]);
        let long = [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0];
        assert_eq!(head(Kind::Binary, 65_536), long);
        assert_eq!(message(Kind::Text, b"Hello"), *b"\x81\x05Hello");
    }

    #[test]
    fn forbidden_requests_are_refused() {
        for wrong in [
            // Unmasked, an extension, an unknown kind, a long ping, a length of 2^63.
            &[0x82, 0x05][..],
            &[0xc2, 0x85],
            &[0x83, 0x85],
            &[0x89, 0xfe, 0, 200, 0, 0, 0, 0],
            &[0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            assert_eq!(Head::parse(wrong), Err(BadFrame), "{wrong:x?}");
        }
    }

    proptest! {
        #[test]
        fn a_head_is_the_same_in_pieces(length in 0u64..1 << 40, key in any::<[u8; 4]>()) {
            let mut bytes = head(Kind::Binary, length);
            bytes[1] |= 0x80;
            bytes.extend(key);
            for end in 0..bytes.len() {
                prop_assert_eq!(Head::parse(&bytes[..end]), Ok(None));
            }
            let (read, end) = Head::parse(&bytes).unwrap().unwrap();
            prop_assert_eq!((read.length, read.mask, end), (length, key, bytes.len()));
        }

        #[test]
        fn any_bytes_are_a_head_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            let _ = Head::parse(&bytes);
        }
    }
}
