//! Looks at `TCP_INFO` on a grid of time, kept as the kernel's bytes until the load is over.

use std::{
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

use super::{
    budget::Loan,
    tcp::{Flow, Terms},
};
use crate::{spawn, tcp::Role};

/// Most looks that are kept of one connection: ten minutes at one each 10 ms. After that the
/// connection is no longer looked at.
const MOST: usize = 60_000;

/// Bytes of memory for looks, all connections of one client's loads together; the grid is made
/// coarser to stay below.
pub const MEMORY: u64 = 48 << 20;

/// A thread that looks at connections.
pub struct Looker {
    ended: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Looks>>,
    role: Role,
    _memory: Loan,
}

/// What was seen of one connection.
#[derive(Debug, Default)]
struct Looks {
    at_ns: Vec<i64>,
    /// Bytes of each look; 0 = the kernel said nothing.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
    /// What the program itself had moved at each look.
    moved: Vec<u64>,
}

impl Looker {
    /// Starts to look at the connections of a load.
    pub(super) fn start(flows: Vec<Arc<Flow>>, terms: &Terms) -> std::io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let told = ended.clone();
        let memory = terms.look_memory.lend(wanted(terms, flows.len()));
        let every = coarse_enough(terms, memory.bytes(), flows.len());
        let (zero, role) = (terms.zero, terms.role);
        let thread = spawn("look", move || look(&flows, zero, every, &told))?;
        Ok(Self {
            ended,
            thread,
            role,
            _memory: memory,
        })
    }

    /// Ends it, with one last look, and returns what was seen of each connection.
    pub fn finish(self) -> Vec<Series> {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let looks = self.thread.join().unwrap_or_default();
        looks.iter().map(|looks| looks.series(self.role)).collect()
    }
}

/// Memory for the looks of a whole load on the grid that it asks for.
fn wanted(terms: &Terms, flows: usize) -> u64 {
    let looks = terms.duration.as_nanos() / terms.look.as_nanos().max(1) + 2;
    let looks = looks.min(MOST as u128) as u64;
    (looks * (TCP_INFO_LEN * flows) as u64).min(MEMORY)
}

/// The grid that this memory is enough for.
fn coarse_enough(terms: &Terms, memory: u64, flows: usize) -> Duration {
    let most = memory / (TCP_INFO_LEN * flows.max(1)) as u64;
    let most = most.saturating_sub(2).clamp(1, MOST as u64) as u32;
    let every = terms.look.max(terms.duration / most);
    every.max(Duration::from_millis(1))
}

fn look(flows: &[Arc<Flow>], zero: Instant, every: Duration, ended: &AtomicBool) -> Vec<Looks> {
    let mut all: Vec<Looks> = flows.iter().map(|_| Looks::default()).collect();
    let mut next = zero;
    loop {
        let over = ended.load(Ordering::Relaxed);
        for (flow, looks) in flows.iter().zip(&mut all) {
            looks.take(flow, zero);
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
    fn take(&mut self, flow: &Flow, zero: Instant) {
        if self.at_ns.len() >= MOST {
            return;
        }
        let start = self.bytes.len();
        self.bytes.resize(start + TCP_INFO_LEN, 0);
        self.at_ns.push(Instant::now().since(zero));
        let length = tcp_info::raw(flow.stream.as_fd(), &mut self.bytes[start..]).unwrap_or(0);
        self.bytes.truncate(start + length);
        self.lengths.push(length);
        self.moved.push(flow.bytes.load(Ordering::Relaxed));
    }

    /// The looks by column. Where the kernel said nothing, its columns are absent, and one has what
    /// the program moved: `bytes_read` of a receiver, `bytes_written` of a sender.
    fn series(&self, role: Role) -> Series {
        let mut series = Series {
            at_us: self.at_ns.iter().map(|ns| ns / 1000).collect(),
            ..Series::default()
        };
        for (name, values) in self.told() {
            series.push(name, values);
        }
        let untold = self.lengths.iter().zip(&self.moved);
        let untold = untold.map(|(length, moved)| (*length == 0).then_some(*moved));
        let name = match role {
            Role::Sender => "bytes_written",
            Role::Receiver => "bytes_read",
        };
        series.push(name, untold.collect());
        series
    }

    /// What the kernel said, by field.
    fn told(&self) -> Vec<(&'static str, Vec<Option<u64>>)> {
        let names = tcp_info::entries(&TcpInfo::default()).map(|(name, _)| name);
        let mut columns: Vec<_> = names.map(|name| (name, Vec::new())).into();
        let mut start = 0;
        for &length in &self.lengths {
            let info = TcpInfo::parse(&self.bytes[start..start + length]);
            start += length;
            let values = info.map(|info| tcp_info::entries(&info).map(|(_, value)| value));
            for (i, (_, column)) in columns.iter_mut().enumerate() {
                column.push(values.and_then(|values| values[i]));
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A receiver where the kernel says nothing, as under QEMU's user mode.
    #[test]
    fn what_the_kernel_does_not_say_is_absent_and_not_0() {
        let looks = Looks {
            at_ns: vec![0, 10_000_000],
            lengths: vec![0, 0],
            bytes: Vec::new(),
            moved: vec![0, 5000],
        };
        let series = looks.series(Role::Receiver);
        let names: Vec<_> = series.columns.keys().map(String::as_str).collect();
        assert_eq!(names, ["bytes_read"]);
        assert_eq!(series.points("bytes_read"), [(0, 0), (10_000, 5000)]);
    }

    /// The last look may come when the connection is gone.
    #[test]
    fn one_look_of_which_the_kernel_says_nothing_leaves_the_others() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut bytes = vec![0; TCP_INFO_LEN];
        let length = tcp_info::raw(stream.as_fd(), &mut bytes).unwrap();
        bytes.truncate(length);
        let looks = Looks {
            at_ns: vec![0, 1000],
            lengths: vec![length, 0],
            bytes,
            moved: vec![0, 7],
        };
        let series = looks.series(Role::Sender);
        // TCP_ESTABLISHED is 1 (include/net/tcp_states.h).
        assert_eq!(series.points("state"), [(0, 1)]);
        assert_eq!(series.points("bytes_written"), [(1, 7)]);
    }
}
