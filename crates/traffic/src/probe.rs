//! Latency probes: small UDP datagrams on a fixed grid of time, answered by the far end.

use std::{
    io,
    net::UdpSocket,
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use model::record::{Kind, ProbeSample, Stream};
use sys::{
    clock::{self, Instant},
    socket::Batch,
};

use crate::spawn;

/// Payload bytes of a probe: with UDP, IPv4 and Ethernet headers 64 bytes in all.
pub const PAYLOAD: usize = 22;

/// How long the receiver waits for late answers, and how often it looks whether to end.
const PATIENCE: Duration = Duration::from_millis(500);

/// When probes are sent.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The first probe.
    pub first: Instant,
    /// From one to the next.
    pub every: Duration,
    /// No probe from here on.
    pub end: Instant,
    /// Zero of the times in the records.
    pub zero: Instant,
    /// Sleeps end exactly on time, so the grid is the sending time (lab guests).
    pub exact_timers: bool,
}

/// Running probes of one client.
pub struct Probes {
    sender: JoinHandle<Vec<Instant>>,
    receiver: JoinHandle<Vec<(u64, u64)>>,
    schedule: Schedule,
}

/// Answers every datagram on `socket` until the process ends.
pub fn answer(socket: UdpSocket) -> io::Result<()> {
    spawn("echo", move || {
        let mut bytes = [0; 2048];
        // An ICMP error of an answer shows up at the next read; the next probe is still answered.
        loop {
            if let Ok((n, from)) = socket.recv_from(&mut bytes) {
                let _ = socket.send_to(&bytes[..n], from);
            }
        }
    })?;
    Ok(())
}

/// Waits for the first answer on a connected `socket`: routes, neighbours and tunnels are then up.
pub fn await_path(socket: &UdpSocket, tries: u32) -> io::Result<()> {
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut answer = [0; PAYLOAD];
    for _ in 0..tries {
        let _ = socket.send(&u64::MAX.to_le_bytes());
        if socket.recv(&mut answer).is_ok() {
            return Ok(());
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!("no answer to {tries} datagrams over the path"),
    ))
}

/// Starts probing over a connected socket.
pub fn start(socket: UdpSocket, schedule: Schedule) -> io::Result<Probes> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let receiving = socket.try_clone()?;
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = done.clone();
    let sender = spawn("probe", move || {
        let sent = send(&socket, schedule);
        told.store(true, Ordering::Relaxed);
        sent
    })?;
    let receiver = spawn("answers", move || receive(&receiving, schedule, &done))?;
    Ok(Probes {
        sender,
        receiver,
        schedule,
    })
}

fn send(socket: &UdpSocket, schedule: Schedule) -> Vec<Instant> {
    let mut sent = Vec::new();
    let mut next = schedule.first;
    while next < schedule.end {
        next.wait();
        let mut bytes = [0; PAYLOAD];
        bytes[..8].copy_from_slice(&(sent.len() as u64).to_le_bytes());
        sent.push(if schedule.exact_timers {
            next
        } else {
            Instant::now()
        });
        // A full queue on the own device loses the probe, as it would lose any datagram.
        let _ = socket.send(&bytes);
        next = next.after(schedule.every);
    }
    sent
}

/// Sequence numbers and CLOCK_REALTIME receive times of the answers.
fn receive(
    socket: &UdpSocket,
    schedule: Schedule,
    done: &std::sync::atomic::AtomicBool,
) -> Vec<(u64, u64)> {
    // About ten looks a second, and no thread that waits much longer than that.
    let count = (100_000_000 / schedule.every.as_nanos().max(1)).clamp(1, 64) as usize;
    let mut batch = Batch::new(count, 8);
    let mut answers = Vec::new();
    loop {
        match batch.receive(socket) {
            Ok(_) => answers.extend(batch.datagrams().filter_map(|(bytes, time)| {
                Some((u64::from_le_bytes(*bytes.first_chunk()?), time))
            })),
            Err(_) if done.load(Ordering::Relaxed) => return answers,
            Err(_) => {}
        }
    }
}

impl Probes {
    /// Waits for the end of the schedule and for late answers. Returns the sending times of all
    /// probes, ns after zero, and the records of the answered ones.
    pub fn finish(self) -> (Vec<i64>, Stream) {
        let sent = self.sender.join().unwrap_or_default();
        let mut answers = self.receiver.join().unwrap_or_default();
        let offset = clock::realtime_offset();
        let mut records = Stream::default();
        // The first answer to a number counts; a duplicate is not another probe.
        answers.sort_unstable();
        answers.dedup_by_key(|(seq, _)| *seq);
        for (seq, time) in answers {
            let Some(at) = usize::try_from(seq).ok().and_then(|i| sent.get(i)) else {
                continue;
            };
            let rtt_ns = (time - offset).saturating_sub(at.0);
            let sample = ProbeSample { seq, rtt_ns };
            records.push_words(
                Kind::Probe,
                0,
                at.since(self.schedule.zero),
                &sample.words(),
            );
        }
        (
            sent.iter().map(|t| t.since(self.schedule.zero)).collect(),
            records,
        )
    }
}
