//! A server with its speed test, and requests to it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
};

use crate::common::{
    pathtwin,
    server::{after, says},
    text,
};

/// A server with its speed test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_by(pathtwin(), "127.0.0.1", arguments)
    }

    /// By a command that is the program, at one of its addresses.
    pub(crate) fn start_by(mut command: Command, listen: &str, arguments: &[&str]) -> Self {
        let mut child = command
            .args(["serve", "--port", "0", "--listen", listen, "--web", "0"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let said = says(&mut child, "speed test at http://");
        let address = after(&said, "speed test at http://");
        Self { child, address }
    }

    pub(crate) fn ask(&self, request: &str, body: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).expect("connect");
        let head = format!("{request}\r\nHost: speed.example\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("ask");
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes
            .windows(4)
            .position(|w| w == b"\r\n\r\n")
            .expect("a head");
        (text(&bytes[..end]), bytes[end + 4..].to_vec())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
