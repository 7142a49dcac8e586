//! A running flow: its two threads, its sockets, and what it recorded.

use std::{
    io,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use model::record::Stream;

/// What the two halves of a flow share with the one who watches them.
#[derive(Debug, Default)]
pub struct Halves {
    stopped: AtomicBool,
    /// The sending socket of a bulk TCP flow, once connected.
    pub sender: OnceLock<TcpStream>,
    /// The receiving socket of a bulk TCP flow, once connected.
    pub receiver: OnceLock<TcpStream>,
    /// Connections that come and go.
    passing: Mutex<Vec<TcpStream>>,
    error: Mutex<Option<String>>,
}

impl Halves {
    /// Whether the flow is to end.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the flow: both halves return from what they are blocked in.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        for stream in [&self.sender, &self.receiver]
            .into_iter()
            .filter_map(OnceLock::get)
        {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for stream in self
            .passing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain(..)
        {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Notes why a half could not go on, unless the flow was being stopped.
    pub(crate) fn fail(&self, what: &str, error: &io::Error) {
        if !self.stopped() {
            let mut slot = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            slot.get_or_insert_with(|| format!("{what}: {error}"));
        }
    }

    /// Remembers the one connection that is open now, so that `stop` reaches it.
    pub(crate) fn passing(&self, stream: &TcpStream) -> io::Result<()> {
        let mut open = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
        open.clear();
        open.push(stream.try_clone()?);
        Ok(())
    }

    /// Why the flow did not run, if it did not.
    pub fn error(&self) -> Option<String> {
        self.error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// A running flow.
pub struct Flow {
    /// What can be seen of it while it runs.
    pub halves: Arc<Halves>,
    pub(crate) threads: Vec<JoinHandle<Ended>>,
}

/// What a half leaves behind.
#[derive(Debug, Default)]
pub struct Ended {
    /// What it recorded.
    pub records: Stream,
    /// Datagrams it sent.
    pub sent: u64,
}

impl Flow {
    /// Ends the flow and waits for its halves.
    pub fn finish(self) -> Vec<Ended> {
        self.halves.stop();
        self.threads
            .into_iter()
            .filter_map(|t| t.join().ok())
            .collect()
    }
}
