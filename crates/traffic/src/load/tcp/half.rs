//! Send and receive loop of one connection.

use std::{
    io::{self, Read},
    net::TcpStream,
    os::fd::AsFd,
    sync::Arc,
    thread::JoinHandle,
};

use model::text::Text;
use sys::{clock::Instant, socket, tcp_info, zeroes::Outlet};

use super::shared::{Drive, Shared};
use crate::{
    Opener,
    load::{
        connection::Connection,
        stride::Stride,
        transfer::{self, Flow},
    },
    spawn,
};

/// Maximum bytes of a call that sends, and of one with early progress: the capacity of a pipe
/// (`/proc/sys/fs/pipe-max-size`) without privilege.
pub(super) const CHUNK: usize = 1 << 20;

/// Bytes of the buffer of a receiver that copies.
const BUFFER: usize = 64 << 10;

/// Task of a half on its connection.
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
            shared.errors().push(Text::from(&error));
            // A peer that exceeds its limit gets a reset.
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

/// Sends until its end time. The connection stays open: the load closes it after the last sample.
fn send(
    connection: &Connection,
    stream: &TcpStream,
    outlet: &mut Outlet,
    shared: &Shared,
) -> io::Result<()> {
    let stride = match shared.drive {
        Drive::Load => Stride::adaptive(CHUNK),
        Drive::Owner => Stride::fixed(CHUNK),
    };
    let mut half = Half {
        end: Some(shared.end()),
        ..Half::new(connection, shared, stride)
    };
    transfer::send(shared.stop.lease(), &mut half, |most| {
        outlet.send(stream, most)
    })
}

fn receive(connection: &Connection, mut stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let lease = shared.stop.lease();
    if tcp_info::read(stream.as_fd()).is_err() {
        // The kernel does not report arrivals, so the bytes read are counted instead, and are read
        // immediately.
        let mut half = Half::new(connection, shared, Stride::fixed(BUFFER));
        let mut buffer = vec![0; BUFFER];
        return transfer::receive(lease, &mut half, |most| stream.read(&mut buffer[..most]));
    }
    // The kernel reports the arrived bytes, so that they need not be read to be counted.
    let stride = match shared.drive {
        Drive::Load => Stride::adaptive(CHUNK),
        Drive::Owner => Stride::fixed(usize::MAX),
    };
    let mut half = Half::new(connection, shared, stride);
    transfer::receive(lease, &mut half, |most| socket::discard(stream, most))
}

/// State of a connection in the loop.
struct Half<'a> {
    connection: &'a Connection,
    shared: &'a Shared,
    stride: Stride,
    /// End of the last call, at which the clock is read.
    now: Instant,
    /// End time; absent = when it is stopped.
    end: Option<Instant>,
}

impl<'a> Half<'a> {
    fn new(connection: &'a Connection, shared: &'a Shared, stride: Stride) -> Self {
        Self {
            connection,
            shared,
            stride,
            now: shared.zero,
            end: None,
        }
    }
}

impl Flow for Half<'_> {
    fn next(&mut self) -> Option<usize> {
        let over = self.shared.stop.is_set() || self.end.is_some_and(|end| self.now >= end);
        (!over).then(|| self.stride.bytes())
    }

    fn moved(&mut self, _: usize, bytes: usize) {
        self.shared.add(self.connection, bytes);
        self.now = self.stride.took(self.now);
    }

    fn pause(&mut self, until: Instant) {
        let until = self.end.map_or(until, |end| until.min(end));
        self.shared.stop.pause(Some(until));
        self.now = Instant::now();
    }
}
