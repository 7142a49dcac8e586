//! The control channel: Noise over TCP, and whole messages in it.
//!
//! `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s` (The Noise Protocol Framework, revision 34): both ends
//! prove that they hold the shared key, keys of a session are forgotten with it, and what was
//! recorded of one session means nothing in another.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Greeting, Key, Refusal, VERSION, greeting::HANDSHAKE};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
/// Longest Noise message (framework, section 3).
const FRAME: usize = 65535;
/// Bytes of the tag that each frame carries.
const TAG: usize = 16;
/// First byte of a frame's content: more of the message follows.
const MORE: u8 = 1;
/// First byte of a frame's content: the message is deflated.
const DEFLATED: u8 = 2;
/// Messages above this are deflated: a slow line is the reason to be here.
const WORTH: usize = 1024;

/// An authenticated, encrypted channel of messages.
pub struct Channel {
    stream: TcpStream,
    noise: snow::TransportState,
    /// Longest message that is taken in, bytes after inflation.
    limit: usize,
}

/// Why a channel failed.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// The connection.
    #[error("control connection: {0}")]
    Io(#[from] io::Error),
    /// The peer said no.
    #[error("{}", refused(*.0))]
    Refused(Refusal),
    /// The peer does not speak the protocol.
    #[error("the far end is not a pathtwin server")]
    Foreign,
    /// Wrong key, or bytes were changed on the way.
    #[error("the key does not fit, or bytes were changed on the way")]
    Crypto,
    /// A message that is longer than allowed.
    #[error("a message of more than {0} bytes")]
    TooLong(usize),
    /// A message that is none.
    #[error("a message that cannot be read: {0}")]
    Message(String),
}

fn refused(refusal: Refusal) -> String {
    match refusal {
        Refusal::Welcome => "the far end gave no reason".to_owned(),
        Refusal::Key => {
            "the far end has another key: give the one it printed with --key".to_owned()
        }
        Refusal::Busy => "the far end has as many clients as it takes: try again later".to_owned(),
        Refusal::Version(version) => format!(
            "the far end speaks version {version} of the protocol, this program {VERSION}: update the older"
        ),
    }
}

impl From<snow::Error> for ChannelError {
    fn from(_: snow::Error) -> Self {
        Self::Crypto
    }
}

fn builder(key: &Key) -> Result<snow::Builder<'_>, ChannelError> {
    let pattern = PATTERN.parse().map_err(|_| ChannelError::Crypto)?;
    // The version is part of what both must agree on, so that nobody between can change it.
    let builder = snow::Builder::new(pattern).psk(0, key.bytes())?;
    Ok(builder.prologue(&[VERSION])?)
}

impl Channel {
    /// Opens a channel as the connecting end. `limit`: longest message to take in, bytes.
    pub fn connect(mut stream: TcpStream, key: &Key, limit: usize) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
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
        })
    }

    /// Opens a channel as the accepting end, with the first message of the handshake. The peer is
    /// told if its key is wrong; nothing it says counts before it has proved to have the key.
    pub fn accept(
        mut stream: TcpStream,
        first: &[u8; HANDSHAKE],
        key: &Key,
        limit: usize,
    ) -> Result<Self, ChannelError> {
        stream.set_nodelay(true)?;
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
        })
    }

    /// How long a read or write may wait for the peer; `None` = for ever.
    pub fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(patience)?;
        self.stream.set_write_timeout(patience)
    }

    /// The connection below.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a message.
    pub fn send<M: Serialize>(&mut self, message: &M) -> Result<(), ChannelError> {
        let plain =
            serde_json::to_vec(message).map_err(|e| ChannelError::Message(e.to_string()))?;
        let (flag, bytes) = if plain.len() > WORTH {
            (DEFLATED, miniz_oxide::deflate::compress_to_vec(&plain, 6))
        } else {
            (0, plain)
        };
        let mut chunks = bytes.chunks(FRAME - TAG - 1).peekable();
        while let Some(chunk) = chunks.next() {
            let more = if chunks.peek().is_some() { MORE } else { 0 };
            let mut content = Vec::with_capacity(chunk.len() + 1);
            content.push(flag | more);
            content.extend_from_slice(chunk);
            self.send_frame(&content)?;
        }
        Ok(())
    }

    fn send_frame(&mut self, content: &[u8]) -> Result<(), ChannelError> {
        let mut frame = vec![0; 2 + content.len() + TAG];
        let n = self.noise.write_message(content, &mut frame[2..])?;
        frame[..2].copy_from_slice(&(n as u16).to_be_bytes());
        self.stream.write_all(&frame[..2 + n])?;
        Ok(())
    }

    /// Waits for a message.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M, ChannelError> {
        let mut bytes = Vec::new();
        loop {
            let content = self.receive_frame()?;
            let (&flags, rest) = content.split_first().ok_or(ChannelError::Foreign)?;
            bytes.extend_from_slice(rest);
            if bytes.len() > self.limit {
                return Err(ChannelError::TooLong(self.limit));
            }
            if flags & MORE != 0 {
                continue;
            }
            if flags & DEFLATED != 0 {
                bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, self.limit)
                    .map_err(|_| ChannelError::TooLong(self.limit))?;
            }
            return serde_json::from_slice(&bytes)
                .map_err(|e| ChannelError::Message(e.to_string()));
        }
    }

    fn receive_frame(&mut self) -> Result<Vec<u8>, ChannelError> {
        let mut length = [0; 2];
        self.stream.read_exact(&mut length)?;
        let mut frame = vec![0; usize::from(u16::from_be_bytes(length))];
        self.stream.read_exact(&mut frame)?;
        let mut content = vec![0; frame.len()];
        let n = self.noise.read_message(&frame, &mut content)?;
        content.truncate(n);
        Ok(content)
    }

    /// Ends the channel: a peer or thread that waits on it learns of it.
    pub fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests;
