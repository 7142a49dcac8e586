//! Short flows: connect, ask, get the answer, close; then the next.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
};

use model::record::{Kind, ShortSample, Stream};
use sys::{clock::Instant, socket};

use crate::{
    flow::{Ended, Flow, Halves},
    spawn,
};

/// A request: how many bytes the server is to take, and how many to give, little endian.
const REQUEST: usize = 16;

/// Sizes of one exchange, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// From client to server, after the request.
    pub up: u64,
    /// From server to client.
    pub down: u64,
}

/// Starts one client that makes one exchange after the other, and its server.
pub fn exchanges(
    listener: TcpListener,
    mut connect: Box<dyn FnMut() -> io::Result<TcpStream> + Send>,
    exchange: Exchange,
    id: u16,
    start: Instant,
    zero: Instant,
) -> io::Result<Flow> {
    let halves = Arc::new(Halves::default());
    let (near, far) = (halves.clone(), halves.clone());
    let server = spawn("serve", move || {
        while !far.stopped() {
            // A client that went away in mid-exchange ends only that exchange.
            if let Ok((stream, _)) = listener.accept() {
                let _ = serve(stream);
            }
        }
        Ended::default()
    })?;
    let client = spawn("ask", move || {
        start.wait();
        let mut records = Stream::default();
        while !near.stopped() {
            let began = Instant::now();
            match connect().and_then(|stream| ask(&near, stream, exchange, began)) {
                Ok(sample) => {
                    records.push_words(Kind::Short, id, began.since(zero), &sample.words());
                }
                Err(error) => {
                    near.fail("exchange", &error);
                    break;
                }
            }
        }
        Ended { records, sent: 0 }
    })?;
    // The server waits for a next client that never comes; it ends with the process.
    drop(server);
    Ok(Flow {
        halves,
        threads: vec![client],
    })
}

fn ask(
    halves: &Halves,
    mut stream: TcpStream,
    exchange: Exchange,
    began: Instant,
) -> io::Result<ShortSample> {
    let connect_ns = Instant::now().since(began).max(0) as u64;
    halves.passing(&stream)?;
    let mut request = [0; REQUEST];
    request[..8].copy_from_slice(&exchange.up.to_le_bytes());
    request[8..].copy_from_slice(&exchange.down.to_le_bytes());
    stream.write_all(&request)?;
    give(&mut stream, exchange.up)?;
    let got = take(&stream, exchange.down.max(1))?;
    if got < exchange.down {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(ShortSample {
        connect_ns,
        complete_ns: Instant::now().since(began).max(0) as u64,
        bytes: exchange.up + exchange.down,
    })
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    let mut request = [0; REQUEST];
    stream.read_exact(&mut request)?;
    let (up, down) = request.split_at(8);
    let number = |b: &[u8]| b.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    take(&stream, number(up))?;
    give(&mut stream, number(down).max(1))
}

/// Sends `bytes` zeroes.
fn give(stream: &mut TcpStream, bytes: u64) -> io::Result<()> {
    let block = [0; 16 << 10];
    let mut left = bytes;
    while left > 0 {
        let n = left.min(block.len() as u64);
        stream.write_all(&block[..n as usize])?;
        left -= n;
    }
    Ok(())
}

/// Takes up to `bytes`; fewer if the peer ends.
fn take(stream: &TcpStream, bytes: u64) -> io::Result<u64> {
    let mut got = 0;
    while got < bytes {
        match socket::discard(stream, (bytes - got) as usize)? {
            0 => break,
            n => got += n as u64,
        }
    }
    Ok(got)
}
