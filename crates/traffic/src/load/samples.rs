//! Samples of `TCP_INFO` at fixed intervals, stored as the kernel's bytes until the load ends.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use model::run::{Column, Series};
use sys::{
    clock::Instant,
    tcp_info::{self, TCP_INFO_LEN, TcpInfo},
};

use super::{Role, connection::Connection};
use crate::{
    admission::{Hold, Lease},
    spawn,
};

/// Maximum samples per connection: ten minutes at one per 10 ms. After that the connection is no
/// longer sampled.
const MAX: usize = 60_000;

/// Bytes of memory for samples of one load; the grid is made coarser to stay below.
pub const MEMORY: u64 = 48 << 20;

/// Configuration of the sampler of a load.
pub(super) struct Config {
    pub(super) role: Role,
    /// Zero of all times.
    pub(super) zero: Instant,
    /// Interval of the samples, if there is memory for them.
    pub(super) interval: Duration,
    pub(super) lease: Lease,
    /// Called once if the load has not been ended when its time has passed.
    pub(super) overdue: Box<dyn FnOnce() + Send>,
}

/// A thread that samples connections.
pub(super) struct Sampler {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Samples>>,
    role: Role,
    _memory: Hold,
}

impl Sampler {
    /// Starts to sample the connections of a load.
    pub(super) fn start(connections: Vec<Arc<Connection>>, config: Config) -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let ending = ended.clone();
        let memory = config.lease.hold_memory(wanted(&config, connections.len()));
        let interval = coarse_enough(&config, memory.amounts().memory, connections.len());
        let role = config.role;
        let thread = spawn("sample", move || {
            sample(&connections, config, interval, &ending)
        })?;
        Ok(Self {
            ended,
            thread,
            role,
            _memory: memory,
        })
    }

    /// Ends it, with one last sample, and returns the samples of each connection.
    pub(super) fn finish(self) -> Vec<Series> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let all = self.thread.join().unwrap_or_default();
        all.iter()
            .map(|samples| samples.series(self.role))
            .collect()
    }
}

/// Memory for the samples of a whole load on its grid.
fn wanted(config: &Config, connections: usize) -> u64 {
    let samples = config.lease.duration().as_nanos() / config.interval.as_nanos().max(1) + 2;
    let samples = samples.min(MAX as u128) as u64;
    (samples * (TCP_INFO_LEN * connections) as u64).min(MEMORY)
}

/// The grid that this memory is enough for.
fn coarse_enough(config: &Config, memory: u64, connections: usize) -> Duration {
    let most = memory / (TCP_INFO_LEN * connections.max(1)) as u64;
    let most = most.saturating_sub(2).clamp(1, MAX as u64) as u32;
    let interval = config.interval.max(config.lease.duration() / most);
    interval.max(Duration::from_millis(1))
}

fn sample(
    connections: &[Arc<Connection>],
    config: Config,
    interval: Duration,
    ended: &AtomicBool,
) -> Vec<Samples> {
    let mut all: Vec<Samples> = connections.iter().map(|_| Samples::default()).collect();
    let deadline = config.lease.deadline(config.zero);
    let mut overdue = Some(config.overdue);
    let mut next = config.zero;
    loop {
        let over = ended.load(Ordering::Relaxed);
        if overdue.is_some() {
            for (connection, samples) in connections.iter().zip(&mut all) {
                if samples.at_ns.len() < MAX {
                    samples.take_at(connection, Instant::now().since(config.zero));
                }
            }
        }
        if over {
            return all;
        }
        // Late, because the processor was busy: missed slots are not made up for.
        let now = Instant::now();
        if now >= deadline
            && let Some(overdue) = overdue.take()
        {
            overdue();
        }
        let missed = now.since(next).max(0) as u128 / interval.as_nanos();
        next = next.after(interval.saturating_mul(missed as u32 + 1));
        sleep_until(next, ended);
    }
}

/// Sleeps in short intervals, so that the end is detected soon with long sampling intervals, too.
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

/// The samples of one connection, as the kernel returned them.
#[derive(Debug, Default)]
pub struct Samples {
    at_ns: Vec<i64>,
    /// Bytes of each sample; 0 = the kernel returned none.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
    /// Bytes that the program had transferred at each sample.
    moved: Vec<u64>,
}

impl Samples {
    /// The times, ns after zero, and the bytes of `struct tcp_info`, of the samples that have any.
    pub fn raw(&self) -> impl Iterator<Item = (i64, &[u8])> {
        let mut rest = self.bytes.as_slice();
        let samples = self.at_ns.iter().zip(&self.lengths).map(move |(at, n)| {
            let (sample, after) = rest.split_at(*n);
            rest = after;
            (*at, sample)
        });
        samples.filter(|(_, sample)| !sample.is_empty())
    }

    /// Takes a sample now, whose time is `at_ns` after zero.
    pub(super) fn take_at(&mut self, connection: &Connection, at_ns: i64) {
        let start = self.bytes.len();
        self.bytes.resize(start + TCP_INFO_LEN, 0);
        let length = connection.raw_info(&mut self.bytes[start..]);
        self.bytes.truncate(start + length);
        self.note(at_ns, length, connection);
    }

    /// Adds a sample that was taken by other means.
    pub(super) fn add(&mut self, at_ns: i64, info: &[u8], connection: &Connection) {
        self.bytes.extend_from_slice(info);
        self.note(at_ns, info.len(), connection);
    }

    fn note(&mut self, at_ns: i64, length: usize, connection: &Connection) {
        self.at_ns.push(at_ns);
        self.lengths.push(length);
        self.moved.push(connection.bytes.load(Ordering::Relaxed));
    }

    /// The samples by column. If the kernel reported nothing, its columns are absent, and one has
    /// the program's count: `bytes_read` of a receiver, `bytes_written` of a sender.
    fn series(&self, role: Role) -> Series {
        let mut series = Series {
            at_us: self.at_ns.iter().map(|ns| ns / 1000).collect(),
            ..Series::default()
        };
        for (column, values) in self.reported() {
            series.push(column, values);
        }
        let unreported = self.lengths.iter().zip(&self.moved);
        let unreported = unreported.map(|(length, moved)| (*length == 0).then_some(*moved));
        let moved = match role {
            Role::Sender => Column::BytesWritten,
            Role::Receiver => Column::BytesRead,
        };
        series.push(moved, unreported.collect());
        series
    }

    /// Values that the kernel reported, by field.
    fn reported(&self) -> Vec<(Column, Vec<Option<u64>>)> {
        let mut columns: Vec<(Column, Vec<Option<u64>>)> = Column::tcp_info()
            .map(|column| (column, Vec::with_capacity(self.lengths.len())))
            .collect();
        let mut start = 0;
        for &length in &self.lengths {
            let info = TcpInfo::parse(&self.bytes[start..start + length]);
            start += length;
            let fields = info.map(|info| tcp_info::entries(&info));
            for (i, (column, values)) in columns.iter_mut().enumerate() {
                let field = fields.map(|fields| fields[i]);
                debug_assert!(field.is_none_or(|(field, _)| field == *column));
                values.push(field.and_then(|(_, value)| value));
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::fd::AsFd;

    use super::*;

    /// A receiver whose kernel reports nothing, as under QEMU's user mode.
    #[test]
    fn unreported_values_are_absent_and_not_0() {
        let samples = Samples {
            at_ns: vec![0, 10_000_000],
            lengths: vec![0, 0],
            bytes: Vec::new(),
            moved: vec![0, 5000],
        };
        let series = samples.series(Role::Receiver);
        let names: Vec<_> = series.columns.keys().map(String::as_str).collect();
        assert_eq!(names, ["bytes_read"]);
        assert_eq!(series.points(Column::BytesRead), [(0, 0), (10_000, 5000)]);
    }

    #[test]
    fn the_columns_are_the_fields_of_the_kernel_in_its_order() {
        let fields = tcp_info::entries(&TcpInfo::default()).map(|(column, _)| column);
        let columns: Vec<Column> = Column::tcp_info().collect();
        assert_eq!(columns, fields);
    }

    /// The last sample may be taken after the connection has closed.
    #[test]
    fn one_sample_without_a_report_of_the_kernel_leaves_the_others() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut bytes = vec![0; TCP_INFO_LEN];
        let length = tcp_info::raw(stream.as_fd(), &mut bytes).unwrap();
        bytes.truncate(length);
        let samples = Samples {
            at_ns: vec![0, 1000],
            lengths: vec![length, 0],
            bytes,
            moved: vec![0, 7],
        };
        let series = samples.series(Role::Sender);
        // TCP_ESTABLISHED is 1 (include/net/tcp_states.h).
        assert_eq!(series.points(Column::State), [(0, 1)]);
        assert_eq!(series.points(Column::BytesWritten), [(1, 7)]);
    }
}
