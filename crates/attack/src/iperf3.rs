//! Hostile client of iperf3's protocol.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use iperf3::{
    datagram::HELLO,
    wire::{Cookie, State, frame},
};
use serde_json::Value;

use crate::{client::connect_from, trouble::Trouble};

/// Timeout of a step.
const STEP: Duration = Duration::from_secs(12);

/// A control connection.
pub struct Client {
    control: TcpStream,
    cookie: Cookie,
    at: SocketAddr,
    from: IpAddr,
}

impl Client {
    /// Connects and sends its cookie.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn connect(from: IpAddr, at: SocketAddr) -> io::Result<Self> {
        let mut control = connect_from(from, at)?;
        control.set_read_timeout(Some(STEP))?;
        let cookie = Cookie::new(traffic::wire::key::random()?);
        control.write_all(cookie.bytes())?;
        Ok(Self {
            control,
            cookie,
            at,
            from,
        })
    }

    /// Timeout of a step.
    pub fn set_timeout(&mut self, timeout: Duration) {
        let _ = self.control.set_read_timeout(Some(timeout));
        let _ = self.control.set_write_timeout(Some(timeout));
    }

    /// The next byte of state; `None` at the end of the connection.
    ///
    /// # Errors
    /// The connection broke, or nothing arrived.
    pub fn state(&mut self) -> io::Result<Option<State>> {
        let mut byte = [0];
        match self.control.read(&mut byte)? {
            0 => Ok(None),
            _ => Ok(State::from_byte(byte[0])),
        }
    }

    /// Sends the parameters when the server requests them. Returns whether the server continues
    /// with the streams.
    ///
    /// # Errors
    /// The connection broke.
    pub fn ask(&mut self, parameters: &Value) -> Result<bool, Trouble> {
        match self.state()? {
            Some(State::ParamExchange) => {}
            other => return Err(Trouble::Iperf3State(other)),
        }
        self.control.write_all(&frame(parameters))?;
        Ok(self.state()? == Some(State::CreateStreams))
    }

    /// A data connection.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn stream(&self) -> io::Result<TcpStream> {
        let mut stream = connect_from(self.from, self.at)?;
        stream.write_all(self.cookie.bytes())?;
        Ok(stream)
    }

    /// Opens a UDP stream; `None` if the server rejects it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn datagrams(&self) -> io::Result<Option<UdpSocket>> {
        let socket = UdpSocket::bind((self.from, 0))?;
        socket.connect(self.at)?;
        socket.set_read_timeout(Some(Duration::from_millis(300)))?;
        for _ in 0..10 {
            let _ = socket.send(&HELLO);
            if socket.recv(&mut [0; 64]).is_ok() {
                return Ok(Some(socket));
            }
        }
        Ok(None)
    }

    /// Sends unexpected bytes.
    ///
    /// # Errors
    /// The connection broke.
    pub fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.control.write_all(bytes)
    }
}
