//! Looks at `TCP_INFO` on a grid of time, kept as the kernel's bytes until the load is over.

use std::{
    net::TcpStream,
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use model::run::Series;
use sys::{
    clock::Instant,
    tcp_info::{self, TCP_INFO_LEN, TcpInfo},
};

use crate::spawn;

/// Most looks that are kept of one connection: ten minutes at one each 10 ms. After that the
/// connection is no longer looked at.
const MOST: usize = 60_000;

/// Bytes of memory for looks, all connections of a load together; the grid is made coarser to stay
/// below.
const MEMORY: usize = 48 << 20;

/// A thread that looks at connections.
pub struct Looker {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Looks>>,
}

/// What was seen of one connection.
#[derive(Debug, Default)]
pub struct Looks {
    at_ns: Vec<i64>,
    lengths: Vec<usize>,
    bytes: Vec<u8>,
}

impl Looker {
    /// Starts to look at `streams` every `every`; times are after `zero`.
    pub fn start(
        streams: Vec<Arc<TcpStream>>,
        zero: Instant,
        every: Duration,
        duration: Duration,
    ) -> std::io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let told = ended.clone();
        let every = coarse_enough(every, duration, streams.len());
        let thread = spawn("look", move || look(&streams, zero, every, &told))?;
        Ok(Self { ended, thread })
    }

    /// Ends it, with one last look, and returns what was seen of each connection.
    pub fn finish(self) -> Vec<Series> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let looks = self.thread.join().unwrap_or_default();
        looks.iter().map(Looks::series).collect()
    }
}

fn coarse_enough(every: Duration, duration: Duration, streams: usize) -> Duration {
    let most = (MEMORY / (TCP_INFO_LEN * streams.max(1))).clamp(1, MOST) as u32;
    every.max(duration / most).max(Duration::from_millis(1))
}

fn look(
    streams: &[Arc<TcpStream>],
    zero: Instant,
    every: Duration,
    ended: &AtomicBool,
) -> Vec<Looks> {
    let mut all: Vec<Looks> = streams.iter().map(|_| Looks::default()).collect();
    let mut next = zero;
    loop {
        let over = ended.load(Ordering::Relaxed);
        for (stream, looks) in streams.iter().zip(&mut all) {
            looks.take(stream, zero);
        }
        if over {
            return all;
        }
        // Late, because the processor was taken: what was missed is not made up for.
        let missed = Instant::now().since(next).max(0) as u128 / every.as_nanos();
        next = next.after(every * (missed as u32 + 1));
        sleep_until(next, ended);
    }
}

/// Sleeps in pieces, so that the end is seen soon also on a coarse grid.
fn sleep_until(next: Instant, ended: &AtomicBool) {
    const PIECE: Duration = Duration::from_millis(100);
    while !ended.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= next {
            return;
        }
        now.after(PIECE).min(next).wait();
    }
}

impl Looks {
    fn take(&mut self, stream: &TcpStream, zero: Instant) {
        if self.at_ns.len() >= MOST {
            return;
        }
        let start = self.bytes.len();
        self.bytes.resize(start + TCP_INFO_LEN, 0);
        let at = Instant::now().since(zero);
        let length = tcp_info::raw(stream.as_fd(), &mut self.bytes[start..]).unwrap_or(0);
        self.bytes.truncate(start + length);
        if length > 0 {
            self.at_ns.push(at);
            self.lengths.push(length);
        }
    }

    /// The looks by column.
    pub fn series(&self) -> Series {
        let mut columns = vec![Vec::new(); tcp_info::FIELDS];
        let mut names = [""; tcp_info::FIELDS];
        let mut start = 0;
        for &length in &self.lengths {
            let bytes = &self.bytes[start..start + length];
            start += length;
            let info = TcpInfo::parse(bytes).unwrap_or_default();
            for (i, (name, value)) in tcp_info::entries(&info).into_iter().enumerate() {
                names[i] = name;
                columns[i].push(value);
            }
        }
        let mut series = Series {
            at_us: self.at_ns.iter().map(|ns| ns / 1000).collect(),
            ..Series::default()
        };
        for (name, values) in names.into_iter().zip(columns) {
            if !values.is_empty() {
                series.push(name, values);
            }
        }
        series
    }
}
