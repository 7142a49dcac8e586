//! Servers and clients on separate loopback addresses, so that tests do not share ports.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
        mpsc::{self, Receiver},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use iperf3::{
    Error,
    client::{self, Options},
    outcome::{Outcome, Stream},
    params::{Params, Protocol},
    server::{Config, Report, Server},
};
use model::net::{Direction, LoadDirection};

/// A loopback address that no other test uses.
pub fn address() -> IpAddr {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let [_, high, low, _] = std::process::id().to_be_bytes().map(|b| b.max(1));
    let n = NEXT.fetch_add(1, Relaxed);
    Ipv4Addr::new(127, high.wrapping_add(low) | 1, low, n as u8).into()
}

/// A running server.
pub struct Serving {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    reports: Receiver<Report>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    pub fn start() -> Self {
        Self::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        Self::at(address(), config).unwrap()
    }

    pub fn at(ip: IpAddr, config: Config) -> std::io::Result<Self> {
        let server = Server::bind((ip, 0).into(), config)?;
        let address = server.address();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, reports) = mpsc::channel();
        let flag = stop.clone();
        let thread = thread::spawn(move || {
            server
                .serve(&flag, &mut |report| sender.send(report).is_ok())
                .unwrap();
        });
        Ok(Self {
            address,
            stop,
            reports,
            thread: Some(thread),
        })
    }

    /// The outcome of the next test.
    pub fn report(&self) -> Result<Outcome, Error> {
        let report = self.reports.recv_timeout(Duration::from_secs(30));
        report.expect("a report").result
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop();
        self.thread.take().map(JoinHandle::join);
    }
}

pub fn options(protocol: Protocol, direction: impl Into<LoadDirection>) -> Options {
    Options {
        params: Params {
            protocol,
            direction: direction.into(),
            rate_bps: (protocol == Protocol::Udp).then_some(8_000_000),
            len: (protocol == Protocol::Udp).then_some(1000),
            ..Params::default()
        },
        duration: Duration::from_millis(300),
        most_bytes: None,
    }
}

/// The same for a number of bytes.
pub fn by_bytes(protocol: Protocol, direction: impl Into<LoadDirection>, bytes: u64) -> Options {
    let mut options = options(protocol, direction);
    options.params.bytes = Some(bytes);
    options
}

pub fn run(address: SocketAddr, options: &Options) -> Result<Outcome, Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut random = [7; 36];
    random[0] = NEXT.fetch_add(1, Relaxed) as u8;
    random[1] = random[0] / 32;
    client::run(address, options, random, &AtomicBool::new(false))
}

pub fn streams(outcome: &Outcome, direction: Direction) -> Vec<&Stream> {
    let streams = outcome.streams.iter();
    streams.filter(|s| s.direction == direction).collect()
}

pub const DIRECTIONS: [LoadDirection; 3] =
    [LoadDirection::Up, LoadDirection::Down, LoadDirection::Both];

/// Congestion control that this process may use.
pub fn congestion() -> Vec<String> {
    let read = |name: &str| {
        let path = format!("/proc/sys/net/ipv4/tcp_{name}_congestion_control");
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let names = read("allowed");
    names.split_whitespace().map(str::to_owned).collect()
}
