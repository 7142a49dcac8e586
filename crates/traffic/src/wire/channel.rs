//! The control channel: messages in a Noise channel over TCP.
//!
//! `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s` (The Noise Protocol Framework, revision 34): both ends
//! prove that they hold the shared key, session keys are discarded at its end, and a recorded
//! session cannot be replayed.

mod error;

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use sys::socket;

use super::{Greeting, Key, Refusal, VERSION, greeting::HANDSHAKE, paced::Paced};

pub use error::ChannelError;

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// Longest Noise message (framework, section 3).
const FRAME: usize = 65535;
/// Bytes of the tag that each frame carries.
const TAG: usize = 16;
/// First byte of a frame's content: more of the message follows.
const MORE: u8 = 1;
/// First byte of a frame's content: the message is deflated.
const DEFLATED: u8 = 2;
/// Messages above this size are deflated, since slow lines are measured, too.
const WORTH: usize = 1024;
/// Longest frame that may carry a peer's first message.
const FIRST: usize = 512;

/// An authenticated, encrypted channel of messages.
pub struct Channel {
    stream: TcpStream,
    noise: snow::TransportState,
    /// Longest message that is taken in, bytes after inflation.
    limit: usize,
    timeout: Option<Duration>,
    /// Bytes sent since the last message was received.
    sent: u64,
}

/// Progress of a peer's first message.
#[derive(Debug, Default)]
pub struct Partial(Vec<u8>);

fn builder(key: &Key) -> Result<snow::Builder<'_>, ChannelError> {
    let pattern = PATTERN.parse().map_err(|_| ChannelError::Crypto)?;
    // The version is part of the handshake, so that it cannot be changed on the path.
    let builder = snow::Builder::new(pattern).psk(0, key.bytes())?;
    Ok(builder.prologue(&[VERSION])?)
}

impl Channel {
    /// Opens a channel as the connecting end. `limit`: longest message to take in, bytes.
    ///
    /// # Errors
    /// The connection failed, the peer refused, or it does not hold the key.
    pub fn connect(mut stream: TcpStream, key: &Key, limit: usize) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
        socket::set_persistent(&stream);
        let mut noise = builder(key)?.build_initiator()?;
        let mut first = [0; HANDSHAKE];
        noise.write_message(&[], &mut first)?;
        stream.write_all(&Greeting::Control(first).bytes())?;
        let mut answer = [0; 2];
        stream.read_exact(&mut answer)?;
        match Refusal::parse(answer).ok_or(ChannelError::Foreign)? {
            Refusal::Welcome => {}
            refusal => return Err(ChannelError::Refused(refusal)),
        }
        let mut second = [0; HANDSHAKE];
        stream.read_exact(&mut second)?;
        noise.read_message(&second, &mut [])?;
        Ok(Self {
            stream,
            noise: noise.into_transport_mode()?,
            limit,
            timeout: None,
            sent: 0,
        })
    }

    /// Opens a channel as the accepting end, with the first message of the handshake. A peer whose
    /// key is wrong gets a refusal. Only after [`first`](Self::first) has read its first message is
    /// it certain that the peer is present, and not a replay of a key holder's earlier message.
    /// Does not wait for the peer.
    ///
    /// # Errors
    /// The key is wrong, or the connection failed.
    pub fn accept(
        mut stream: TcpStream,
        first: &[u8; HANDSHAKE],
        key: &Key,
        limit: usize,
    ) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
        socket::set_persistent(&stream);
        let mut noise = builder(key)?.build_responder()?;
        if noise.read_message(first, &mut []).is_err() {
            let _ = stream.write_all(&Refusal::Key.bytes());
            return Err(ChannelError::Crypto);
        }
        let mut second = [0; HANDSHAKE];
        noise.write_message(&[], &mut second)?;
        stream.write_all(&Refusal::Welcome.bytes())?;
        stream.write_all(&second)?;
        Ok(Self {
            stream,
            noise: noise.into_transport_mode()?,
            limit,
            timeout: None,
            sent: 0,
        })
    }

    /// Sets the timeout of a read or write; `None` = no timeout. A message whose transfer has begun
    /// must also keep a minimum rate of 1 kB/s.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout;
    }

    /// Reads the available part of the peer's first message, if the stream does not block; `None`:
    /// incomplete.
    ///
    /// # Errors
    /// The message is too long, not by a holder of the key, or not one of this protocol; or the
    /// connection ended.
    pub fn first<M: DeserializeOwned>(
        &mut self,
        partial: &mut Partial,
    ) -> Result<Option<M>, ChannelError> {
        let bytes = &mut partial.0;
        loop {
            let whole = match bytes.first_chunk() {
                Some(length) => 2 + usize::from(u16::from_be_bytes(*length)),
                None => 2,
            };
            if whole > FIRST {
                return Err(ChannelError::TooLong(FIRST));
            }
            if bytes.len() == whole && whole > 2 {
                let content = decrypt(&mut self.noise, &bytes[2..])?;
                return match content.split_first() {
                    Some((0, message)) => read(message).map(Some),
                    _ => Err(ChannelError::Foreign),
                };
            }
            let wanted = whole - bytes.len();
            if wanted == 0 {
                return Err(ChannelError::Foreign);
            }
            let mut buffer = [0; FIRST];
            match self.stream.read(&mut buffer[..wanted]) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(n) => bytes.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The connection below.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The connection failed, or the peer read too slowly.
    pub fn send<M: Serialize>(&mut self, message: &M) -> Result<(), ChannelError> {
        let plain = serde_json::to_vec(message).map_err(ChannelError::Message)?;
        let (flag, bytes) = if plain.len() > WORTH {
            (DEFLATED, miniz_oxide::deflate::compress_to_vec(&plain, 6))
        } else {
            (0, plain)
        };
        let mut out = Paced::new(&self.stream, self.timeout);
        let mut chunks = bytes.chunks(FRAME - TAG - 1).peekable();
        while let Some(chunk) = chunks.next() {
            let more = if chunks.peek().is_some() { MORE } else { 0 };
            let mut content = Vec::with_capacity(chunk.len() + 1);
            content.push(flag | more);
            content.extend_from_slice(chunk);
            let mut frame = vec![0; 2 + content.len() + TAG];
            let n = self.noise.write_message(&content, &mut frame[2..])?;
            frame[..2].copy_from_slice(&(n as u16).to_be_bytes());
            out.write(&frame[..2 + n])?;
            self.sent += 2 + n as u64;
        }
        Ok(())
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// The connection failed or was too slow; the message is too long, not by a holder of the key,
    /// or not one of this protocol.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M, ChannelError> {
        let mut bytes = Vec::new();
        // Its clock starts with the first byte, so the frames of a message share it.
        let sent = std::mem::take(&mut self.sent);
        let mut input = Paced::new(&self.stream, self.timeout).after(sent);
        loop {
            let mut length = [0; 2];
            input.fill(&mut length)?;
            let mut frame = vec![0; usize::from(u16::from_be_bytes(length))];
            input.fill(&mut frame)?;
            let content = decrypt(&mut self.noise, &frame)?;
            let (&flags, rest) = content.split_first().ok_or(ChannelError::Foreign)?;
            // A message of empty frames would never reach the limit, and never end.
            if flags & MORE != 0 && rest.is_empty() {
                return Err(ChannelError::Foreign);
            }
            bytes.extend_from_slice(rest);
            if bytes.len() > self.limit {
                return Err(ChannelError::TooLong(self.limit));
            }
            if flags & MORE == 0 {
                return unpack(flags & DEFLATED != 0, &bytes, self.limit);
            }
        }
    }

    /// Ends the channel, which wakes a waiting peer or thread.
    pub fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn decrypt(noise: &mut snow::TransportState, frame: &[u8]) -> Result<Vec<u8>, ChannelError> {
    let mut content = vec![0; frame.len()];
    let n = noise.read_message(frame, &mut content)?;
    content.truncate(n);
    Ok(content)
}

/// A message from the content of its frames, possibly deflated. `limit`: maximum bytes of the
/// inflated message.
///
/// # Errors
/// It is too long or damaged.
pub fn unpack<M: DeserializeOwned>(
    deflated: bool,
    bytes: &[u8],
    limit: usize,
) -> Result<M, ChannelError> {
    if !deflated {
        return read(bytes);
    }
    let plain = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, limit)
        .map_err(|_| ChannelError::TooLong(limit))?;
    read(&plain)
}

fn read<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, ChannelError> {
    serde_json::from_slice(bytes).map_err(ChannelError::Message)
}

#[cfg(test)]
mod tests;
