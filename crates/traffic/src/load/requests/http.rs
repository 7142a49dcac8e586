//! HTTP/1.1 requests on a keep-alive connection.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use model::text;
use sys::clock::Instant;

use super::{
    body::ResponseBody,
    exchange::{self, Exchange},
};
use crate::wire::http::{self, LONGEST, Parsed, Request, Status};

/// Responds to requests until the peer ends, violates the protocol or is too slow.
pub(super) fn answer(stream: &TcpStream, body: &ResponseBody) -> io::Result<()> {
    let mut held = Vec::new();
    while let Some(request) = next(stream, &mut held, body)? {
        let status = match request {
            Ok(request) if request.known => {
                let head = http::answer(Status::Ok, body.bytes, request.close);
                body.give(stream, &head)?;
                if request.close {
                    return Ok(());
                }
                continue;
            }
            Ok(_) => Status::NotFound,
            Err(status) => status,
        };
        return (&*stream).write_all(&http::answer(status, 0, true));
    }
    Ok(())
}

/// The next request, or the status of an invalid one; `None` if the peer ended between requests.
/// `held`: bytes read beyond the previous one.
fn next(
    mut stream: &TcpStream,
    held: &mut Vec<u8>,
    body: &ResponseBody,
) -> io::Result<Option<Result<Request, Status>>> {
    let mut deadline = None;
    loop {
        match http::request(held) {
            Parsed::Whole(request, length) => {
                held.drain(..length);
                return Ok(Some(Ok(request)));
            }
            Parsed::Bad(status) => return Ok(Some(Err(status))),
            Parsed::More => {}
        }
        // A peer that sends single bytes slowly is disconnected like one that sends none.
        let now = Instant::now();
        if !held.is_empty() && now > *deadline.get_or_insert_with(|| now.after(body.timeout)) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut buffer = [0; 2048];
        match stream.read(&mut buffer)? {
            0 if held.is_empty() => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                body.received(n)?;
                held.extend_from_slice(&buffer[..n]);
            }
        }
    }
}

/// A request on an open connection.
pub(super) fn request(mut stream: &TcpStream, bytes: u64) -> io::Result<Exchange> {
    let began = Instant::now();
    stream.write_all(http::REQUEST)?;
    let mut held = Vec::with_capacity(LONGEST);
    let mut first_byte_ns = None;
    let body = loop {
        match http::response(&held) {
            Parsed::Whole(length, head) if length == bytes => break held.len() - head,
            Parsed::Whole(length, _) => {
                let why = text!("an answer of {length} bytes", length = length);
                return Err(io::Error::other(why));
            }
            Parsed::Bad(_) => {
                return Err(io::Error::other(text!("an answer that is not as agreed")));
            }
            Parsed::More => {}
        }
        let mut buffer = [0; LONGEST];
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        first_byte_ns.get_or_insert_with(|| Instant::now().since(began).max(0) as u64);
        held.extend_from_slice(&buffer[..n]);
    };
    let left = bytes
        .checked_sub(body as u64)
        .ok_or_else(|| io::Error::other(text!("more bytes than the answer has")))?;
    exchange::discard(stream, left)?;
    let complete_ns = Instant::now().since(began).max(0) as u64;
    Ok(Exchange {
        began,
        connect_ns: None,
        first_byte_ns: first_byte_ns.unwrap_or(complete_ns),
        complete_ns,
        bytes,
    })
}
