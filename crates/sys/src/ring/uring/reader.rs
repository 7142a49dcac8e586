//! Answers of the kernel to the same netlink requests at many times.

use std::{
    io,
    ops::Range,
    os::fd::{AsFd, AsRawFd},
    time::Duration,
};

use io_uring::{IoUring, opcode, squeue::Entry, types::Fd};

use super::{Lent, Timer, run, send};
use crate::{
    clock::Instant,
    netlink::{Netlink, Replies},
    ring::TimedRequest,
};

/// Sequence number of all requests, which the sockets' own requests do not reach.
const SEQUENCE: u32 = u32::MAX;

/// Bytes of memory for the replies of a call.
const ROOM: usize = 1 << 18;

/// Most times of a call.
const MOST: usize = 64;

/// Makes requests of the kernel each time its timer expires.
pub struct TimedReader {
    held: Lent<Held>,
    most: usize,
}

struct Held {
    ring: IoUring,
    timer: Timer,
    requests: Vec<Own>,
    /// Replies to each request at each time.
    replies: Vec<u8>,
    /// Bytes of all replies at one time.
    stride: usize,
    /// Bytes of each reply; at most 0 = none.
    lengths: Vec<i32>,
    entries: Vec<Entry>,
}

/// A request as it is held.
struct Own {
    nl: Netlink,
    bytes: Vec<u8>,
    every: u64,
    /// Place of its reply among those at one time, and most bytes of it.
    at: usize,
    room: usize,
}

impl std::fmt::Debug for TimedReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TimedReader");
        shown.field("most", &self.most).finish_non_exhaustive()
    }
}

impl TimedReader {
    /// Prepares to make requests.
    ///
    /// # Errors
    /// The kernel has no io_uring, or it is disabled (`kernel.io_uring_disabled`), or memory or
    /// descriptors are lacking; `InvalidInput` for a request that is too long, or without one that
    /// is made at each time.
    pub fn new(requests: Vec<TimedRequest>) -> io::Result<Self> {
        let mut stride = 0;
        let mut own = Vec::with_capacity(requests.len());
        for mut request in requests {
            let bytes = request.message.finish(SEQUENCE);
            own.push(Own {
                bytes: bytes.ok_or(io::ErrorKind::InvalidInput)?.to_vec(),
                nl: request.nl,
                every: u64::from(request.every.max(1)),
                at: stride,
                room: request.room,
            });
            stride += request.room;
        }
        // The last time of a call is over when a request is answered.
        if stride == 0 || own.iter().all(|request| request.every > 1) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let most = (ROOM / stride).clamp(1, MOST);
        let entries = most * (1 + 2 * own.len());
        let held = Held {
            ring: IoUring::new(u32::try_from(entries).unwrap_or(u32::MAX))?,
            timer: Timer::new()?,
            replies: vec![0; most * stride],
            stride,
            lengths: vec![0; most * own.len()],
            entries: Vec::with_capacity(entries),
            requests: own,
        };
        let held = Lent::new(held);
        Ok(Self { held, most })
    }

    /// Most times of a call.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Makes the requests at each of `count` times, at `first` and then each `every`, and returns
    /// when the last is answered. The first one has the number `number`, which tells at which of
    /// them requests are made that are not made at each.
    ///
    /// # Errors
    /// The kernel took no requests, and never will.
    pub fn read(
        &mut self,
        first: Instant,
        every: Duration,
        number: u64,
        count: usize,
    ) -> io::Result<()> {
        let numbers = number..number + count.min(self.most) as u64;
        self.held.with(|held| {
            held.timer.set(first, every)?;
            held.read(numbers)
        })
    }

    /// The payload of the answer to a request, by its place among those given, at one of the times
    /// of the last call. Absent if it was not made then, or the kernel refused.
    pub fn answer(&self, time: usize, request: usize) -> Option<&[u8]> {
        let held = self.held.get().ok()?;
        let own = held.requests.get(request)?;
        let length = held.lengths.get(time * held.requests.len() + request)?;
        let reply = held.replies.get(time * held.stride + own.at..)?;
        let reply = reply.get(..usize::try_from(*length).ok()?)?;
        let mut replies = Replies::new(reply).filter(|reply| reply.seq == SEQUENCE);
        let answer = replies.find(|reply| !reply.is_error())?;
        Some(answer.payload)
    }
}

impl Held {
    /// The numbers of the times, at most as many as there is room for.
    fn read(&mut self, numbers: Range<u64>) -> io::Result<()> {
        self.lengths.fill(0);
        let times = numbers.zip(self.replies.chunks_exact_mut(self.stride));
        for (time, (number, replies)) in times.enumerate() {
            self.entries.push(self.timer.expiry());
            for (place, request) in self.requests.iter().enumerate() {
                if number % request.every != 0 {
                    continue;
                }
                let socket = request.nl.as_fd();
                let room = &mut replies[request.at..request.at + request.room];
                let receive =
                    opcode::Recv::new(Fd(socket.as_raw_fd()), room.as_mut_ptr(), room.len() as u32);
                // The kernel has answered within the call that sent: an answer that is missing
                // never comes.
                let receive = receive.flags(libc::MSG_DONTWAIT).build();
                let place = (time * self.requests.len() + place) as u64;
                self.entries.push(send(socket, &request.bytes));
                self.entries.push(receive.user_data(place + 1));
            }
        }
        // SAFETY: timer, sockets, requests and replies belong to `self`, which touches none of them
        // before all receives have completed, and is never freed if that fails. Each receive is
        // linked after its send.
        unsafe {
            run(&mut self.ring, &mut self.entries, |place, length| {
                if let Some(own) = self.lengths.get_mut(place as usize - 1) {
                    *own = length;
                }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::{
        sock_diag,
        tcp_info::{self, TCP_INFO_LEN},
    };

    /// The state of a connection and the refusal of one that does not exist, at each of several
    /// times. Where io_uring or the state of sockets is not to be had, nothing is tested.
    #[test]
    fn requests_are_answered_at_each_time_and_refused_ones_have_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, far) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let mut nobody = near;
        nobody.set_port(1);
        let request = |(local, remote, every)| TimedRequest {
            nl: Netlink::sock_diag().unwrap(),
            message: sock_diag::info_request(local, remote),
            room: 1024,
            every,
        };
        let requests = [(nobody, far, 1), (near, far, 1), (near, far, 2)].map(request);
        let mut reader = match TimedReader::new(requests.into()) {
            Ok(reader) => reader,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let (start, every) = (Instant::now(), Duration::from_millis(5));
        for _ in 0..2 {
            reader.read(Instant::now(), every, 5, 3).unwrap();
            if reader.answer(0, 1).is_none() {
                return eprintln!("skipped: no answer of sock_diag");
            }
            let mut own = [0; TCP_INFO_LEN];
            let length = tcp_info::raw(stream.as_fd(), &mut own).unwrap();
            for time in 0..3 {
                assert_eq!(reader.answer(time, 0), None);
                let info = sock_diag::info(reader.answer(time, 1).unwrap()).unwrap();
                assert_eq!(info.len(), length);
                // State, and the MSS, of which no time changes anything.
                assert_eq!(info[..8], own[..8]);
                assert_eq!(info[16..24], own[16..24]);
                // Times 5, 6 and 7.
                assert_eq!(reader.answer(time, 2).is_some(), time == 1);
            }
        }
        assert!(Instant::now() >= start.after(every * 4));
        assert_eq!(reader.answer(3, 0), None);
        assert_eq!(reader.answer(0, 3), None);
    }
}
