//! Send and receive loop of one connection.

use std::{
    io::{self, Read},
    net::TcpStream,
    os::fd::AsFd,
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
};

use sys::{clock::Instant, socket, tcp_info, zeroes::Outlet};

use super::{CHUNK, Connection, Drive, Shared};
use crate::{Opener, load::stride::Stride, spawn};

/// Bytes of the buffer of a receiver that copies.
const BUFFER: usize = 64 << 10;

/// What a half does on its connection.
pub(super) enum Task {
    Send(Outlet),
    Receive,
}

/// Starts the thread of a half, which at the start of the load opens its connection, if it is not
/// yet established, and moves data until the end.
pub(super) fn start(
    connection: &Arc<Connection>,
    shared: &Arc<Shared>,
    open: Option<Opener<TcpStream>>,
    task: Task,
) -> io::Result<JoinHandle<()>> {
    let (connection, shared) = (connection.clone(), shared.clone());
    spawn("bulk", move || {
        shared.zero.wait();
        if let Err(error) = run(&connection, &shared, open, task)
            && !shared.stop.is_set()
            && Instant::now() < shared.end()
        {
            shared.errors().push(error.to_string());
            // A peer that may send no more gets a reset.
            connection.abort();
        }
    })
}

fn run(
    connection: &Connection,
    shared: &Shared,
    open: Option<Opener<TcpStream>>,
    task: Task,
) -> io::Result<()> {
    let open = || match open {
        Some(open) => open(),
        None => Err(io::ErrorKind::NotConnected.into()),
    };
    let stream = connection.establish(open)?;
    if shared.stop.is_set() {
        return Ok(());
    }
    match task {
        Task::Send(mut outlet) => send(connection, stream, &mut outlet, shared),
        Task::Receive => receive(connection, stream, shared),
    }
}

/// Sends until the time is over. The connection stays open: closing is up to the load, once the
/// last sample has been taken.
fn send(
    connection: &Connection,
    stream: &TcpStream,
    outlet: &mut Outlet,
    shared: &Shared,
) -> io::Result<()> {
    let (stop, lease, end) = (&shared.stop, shared.stop.lease(), shared.end());
    let mut stride = match shared.drive {
        Drive::Load => Stride::adaptive(CHUNK),
        Drive::Owner => Stride::fixed(CHUNK),
    };
    let mut now = shared.zero;
    while !stop.is_set() && now < end {
        let taken = lease.take(stride.bytes())?;
        let n = outlet.send(stream, taken)?;
        shared.add(connection, n);
        now = stride.took(now);
        if let Some(until) = lease.sent(taken, n) {
            stop.pause(Some(until.min(end)));
            now = Instant::now();
        }
    }
    Ok(())
}

fn receive(connection: &Connection, stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    if tcp_info::read(stream.as_fd()).is_err() {
        return receive_as_it_comes(connection, stream, shared);
    }
    let (stop, lease) = (&shared.stop, shared.stop.lease());
    // What has come is known from the kernel, so that it need not be read to be counted.
    let mut stride = match shared.drive {
        Drive::Load => Stride::adaptive(CHUNK),
        Drive::Owner => Stride::fixed(usize::MAX),
    };
    let mut now = shared.zero;
    while !stop.is_set() {
        let n = socket::discard(stream, lease.chunk(stride.bytes()))?;
        if n == 0 {
            return Ok(());
        }
        shared.add(connection, n);
        now = stride.took(now);
        if let Some(until) = lease.received(n as u64)? {
            stop.pause(Some(until));
            now = Instant::now();
        }
    }
    Ok(())
}

/// Where the kernel does not report what has come, what was read must do, and so it is read at
/// once.
fn receive_as_it_comes(
    connection: &Connection,
    mut stream: &TcpStream,
    shared: &Shared,
) -> io::Result<()> {
    let (stop, lease) = (&shared.stop, shared.stop.lease());
    let mut buffer = vec![0; BUFFER];
    while !stop.is_set() {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            n => {
                shared.add(connection, n);
                stop.pause(lease.received(n as u64)?);
            }
        }
    }
    Ok(())
}

impl Shared {
    /// When senders end by themselves.
    fn end(&self) -> Instant {
        self.zero.after(self.stop.lease().duration())
    }

    fn add(&self, connection: &Connection, n: usize) {
        connection.bytes.fetch_add(n as u64, Ordering::Relaxed);
        self.bytes.fetch_add(n as u64, Ordering::Relaxed);
    }
}
