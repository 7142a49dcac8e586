//! The wait for a connection, which the end of a cell must end.

use std::{
    io,
    net::{Shutdown, TcpStream},
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A call that waits for a connection, and that another thread can end.
///
/// On a path where most packets are lost no flow has to be established within its cell: a kernel
/// sends a SYN again for two minutes. A time limit of the socket would be a timer of the kernel
/// more, by which all that follows came at other nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    /// A call waits on this socket.
    On(OwnedFd),
    Ended,
}

impl Waiting {
    /// Makes a call that waits on a socket.
    ///
    /// # Errors
    /// Those of the call; `TimedOut` if it was ended.
    pub(super) fn on<T>(
        &self,
        socket: &impl AsFd,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let other = socket.as_fd().try_clone_to_owned()?;
        match &mut *self.state() {
            State::Ended => return Err(io::ErrorKind::TimedOut.into()),
            state => *state = State::On(other),
        }
        let done = call();
        match &mut *self.state() {
            State::Ended => Err(io::ErrorKind::TimedOut.into()),
            state => {
                *state = State::Idle;
                done
            }
        }
    }

    /// Ends the call that waits, and those to come.
    pub(super) fn end(&self) {
        let before = std::mem::replace(&mut *self.state(), State::Ended);
        if let State::On(socket) = before {
            // A listener, too, and what is still to be connected (net/ipv4/af_inet.c,
            // inet_shutdown).
            let _ = TcpStream::from(socket).shutdown(Shutdown::Both);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::{net::TcpListener, thread};

    use super::*;

    #[test]
    fn a_listener_without_a_client_is_ended_and_stays_so() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let waiting = Waiting::default();
        let other = waiting.clone();
        let accepts = thread::spawn(move || other.on(&listener, || listener.accept()));
        while !matches!(*waiting.state(), State::On(_)) {
            thread::yield_now();
        }
        waiting.end();
        let error = accepts.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let again = waiting.on(&listener, || listener.accept());
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_call_that_succeeds_keeps_no_other_handle_to_its_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let waiting = Waiting::default();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(waiting.on(&listener, || listener.accept()).is_ok());
        assert!(matches!(*waiting.state(), State::Idle));
        drop(client);
    }
}
