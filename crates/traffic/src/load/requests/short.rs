//! Requests on separate connections: connect, send the greeting, read the response, close.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use sys::clock::Instant;

use super::{
    body::ResponseBody,
    exchange::{self, Config, Exchange, Open},
};

/// Opens a connection.
pub type Connect = Box<dyn FnMut() -> io::Result<TcpStream> + Send>;

/// Size of the read for the first bytes of a response.
const FIRST: usize = 16 << 10;

/// Responds to a request and closes the connection first, so that TIME-WAIT (RFC 9293 section
/// 3.6.1) is at this end and the client does not run out of ports.
pub(super) fn answer(stream: &TcpStream, body: &ResponseBody) -> io::Result<()> {
    body.take(stream)?;
    body.give(stream, &[])
}

/// A request on a separate connection.
pub(super) fn request(
    connect: &mut Connect,
    greeting: &[u8],
    config: &Config,
    open: &Open,
) -> io::Result<Exchange> {
    let began = Instant::now();
    let stream = connect()?;
    let connect_ns = Instant::now().since(began).max(0) as u64;
    let stream = open.set(stream);
    stream.set_read_timeout(Some(config.timeout))?;
    stream.set_nodelay(true)?;
    (&*stream).write_all(greeting)?;
    exchange::fill(&stream, config.upload)?;
    let mut first = [0; FIRST];
    let wanted = config.bytes.min(FIRST as u64) as usize;
    let n = (&*stream).read(&mut first[..wanted])?;
    if n == 0 && config.bytes > 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let first_byte_ns = Instant::now().since(began).max(0) as u64;
    exchange::discard(&stream, config.bytes - n as u64)?;
    Ok(Exchange {
        began,
        connect_ns: Some(connect_ns),
        first_byte_ns,
        complete_ns: Instant::now().since(began).max(0) as u64,
        bytes: config.bytes,
    })
}
