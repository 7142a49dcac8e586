//! Bulk TCP: one half always has something to send, the other reads all that comes.

use std::{
    fs::File,
    io,
    net::{TcpListener, TcpStream},
    sync::Arc,
};

use sys::{clock::Instant, socket};

use crate::{
    Opener,
    flow::{Ended, Flow, Halves},
    spawn,
};

/// Bytes of the file that is sent over and over: large, for few system calls; small against what a
/// cell may hold in memory.
pub const CHUNK: u64 = 8 << 20;

/// Which half the connecting side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

/// Starts a flow between `listener` and the connection `connect` makes at the time `start`.
pub fn bulk(
    listener: TcpListener,
    connect: Opener<TcpStream>,
    connecting: Role,
    start: Instant,
    file: Arc<File>,
) -> io::Result<Flow> {
    let halves = Arc::new(Halves::default());
    let accepting = if connecting == Role::Sender {
        Role::Receiver
    } else {
        Role::Sender
    };
    let (near, far, far_file) = (halves.clone(), halves.clone(), file.clone());
    let accepted = spawn("accept", move || {
        let stream = listener.accept().map(|(stream, _)| stream);
        run(&far, accepting, "accept", stream, &far_file);
        Ended::default()
    })?;
    let connected = spawn("connect", move || {
        start.wait();
        run(&near, connecting, "connect", connect(), &file);
        Ended::default()
    })?;
    Ok(Flow {
        halves,
        threads: vec![connected, accepted],
    })
}

fn run(halves: &Halves, role: Role, what: &str, stream: io::Result<TcpStream>, file: &File) {
    let slot = if role == Role::Sender {
        &halves.sender
    } else {
        &halves.receiver
    };
    let stream = match stream {
        Ok(stream) => slot.get_or_init(|| stream),
        Err(error) => return halves.fail(what, &error),
    };
    if halves.stopped() {
        return;
    }
    let result = match role {
        Role::Sender => send_all(halves, stream, file),
        Role::Receiver => discard_all(halves, stream),
    };
    if let Err(error) = result {
        halves.fail(
            if role == Role::Sender {
                "send"
            } else {
                "receive"
            },
            &error,
        );
    }
}

fn send_all(halves: &Halves, stream: &TcpStream, file: &File) -> io::Result<()> {
    while !halves.stopped() {
        socket::send_file(stream, file, CHUNK as usize)?;
    }
    Ok(())
}

fn discard_all(halves: &Halves, stream: &TcpStream) -> io::Result<()> {
    while !halves.stopped() {
        if socket::discard(stream, usize::MAX)? == 0 {
            return Ok(());
        }
    }
    Ok(())
}
