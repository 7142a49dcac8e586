//! A server in a thread, and its clients.

use std::{
    io::Read,
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use measure::{
    far::{Far, FarError},
    serve::{Config, Server},
};
use traffic::{
    admission::{Admission, Amounts, Totals},
    load::udp::Spacing,
    wire::{
        Key,
        message::{Code, Limits, TcpOrder, UdpOrder},
    },
};

/// A server in a thread, which ends with it.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    pub(crate) key: Key,
    pub(crate) admission: Admission,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub(crate) fn start(limits: Limits) -> Self {
        let key = Key::generate().unwrap();
        let admission = Admission::new(limits, Totals::default());
        let config = Config {
            key: key.clone(),
            admission: admission.clone(),
            program: "test".to_owned(),
            spacing: Spacing::Timer,
        };
        let server = Server::bind(&["127.0.0.1:0".parse().unwrap()], config).unwrap();
        let address = server.addresses()[0];
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || server.run(stopped, Arc::new(|_| {})).unwrap());
        Self {
            address,
            key,
            admission,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn connect(&self) -> Far {
        Far::connect(self.address, &self.key, "test").unwrap()
    }

    /// Waits until all resources are released.
    pub(crate) fn wait_idle(&self) {
        let start = Instant::now();
        while self.admission.held() != Amounts::NONE {
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "still held: {:?}",
                self.admission.held()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub(crate) fn limits() -> Limits {
    Limits {
        flows: 8,
        ..Limits::default()
    }
}

pub(crate) fn tcp(send: bool, flows: u16, seconds: f64) -> TcpOrder {
    TcpOrder {
        send,
        flows,
        cc: None,
        duration_us: (seconds * 1e6) as u64,
        sample_us: 1000,
    }
}

pub(crate) fn udp(send: bool, rate_bps: u64, payload: u32, seconds: f64) -> UdpOrder {
    UdpOrder {
        send,
        rate_bps,
        payload,
        duration_us: (seconds * 1e6) as u64,
    }
}

/// Returns why the far end refused.
pub(crate) fn refusal<T>(result: Result<T, FarError>) -> (Code, String) {
    match result {
        Err(FarError::Refused { code, why }) => (code, why.to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// Bytes that arrive on a connection until it ends or `span` has passed.
pub(crate) fn receive(mut stream: TcpStream, span: Duration) -> u64 {
    stream
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let (start, mut sum) = (Instant::now(), 0);
    let mut buffer = vec![0; 1 << 16];
    while start.elapsed() < span {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => sum += n as u64,
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => break,
        }
    }
    sum
}

/// Bytes of the datagrams that arrive until `span` has passed.
pub(crate) fn receive_datagrams(socket: &UdpSocket, span: Duration) -> u64 {
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let (start, mut sum) = (Instant::now(), 0);
    let mut bytes = vec![0; 65_536];
    while start.elapsed() < span {
        sum += socket.recv(&mut bytes).unwrap_or(0) as u64;
    }
    sum
}
