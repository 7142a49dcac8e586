//! The path's MTU, searched with packets that must not be fragmented; and what is lost by size.

use std::{io, net::UdpSocket, time::Duration};

use model::{
    cell::{Direction, IpVersion},
    run::{LayerAddress, Pmtu, Sample, SizeStep},
};
use sys::{
    clock::Instant,
    socket::{self, MtuDiscovery},
};
use traffic::wire::{Token, datagram::Datagram, message::Order};

use super::{blank, udp};
use crate::{
    far::{self, FarError},
    run::{bench::Bench, key::key, schedule::Task},
};

/// Times a size is tried before it counts as too large.
const TRIES: u32 = 4;
/// Datagrams of each size when sizes are compared.
const EACH: u64 = 60;
/// Sizes that are compared, IP packets; and the largest the path carries.
const SIZES: [u32; 5] = [100, 576, 1000, 1280, 1400];

/// Datagrams whose size matters, one after the other.
struct Sized {
    token: Token,
    socket: UdpSocket,
    number: u32,
    patience: Duration,
    headers: u32,
}

impl Sized {
    fn open(bench: &mut Bench<'_>, layer: &LayerAddress) -> Result<Self, FarError> {
        let token = bench.far.open(Order::Echo)?;
        let address = bench.target(layer);
        let socket = far::datagrams(token, address)?;
        let idle = bench.idle_us.get(layer).copied();
        // Without an idle round trip, one that hardly any path exceeds.
        let patience = idle.map_or(Duration::from_millis(600), |us| {
            Duration::from_secs_f64(us * 1.5 / 1e6 + 0.05)
        });
        Ok(Self {
            token,
            socket,
            number: 0,
            patience,
            headers: udp::headers(layer.family),
        })
    }

    /// Sends a packet of a size and waits for an answer of a size; whether it came.
    fn exchange(&mut self, ask: u32, answer: u32) -> io::Result<bool> {
        self.number += 1;
        let number = self.number;
        let payload = |packet: u32| packet.saturating_sub(self.headers).max(22);
        let mut bytes = vec![0; payload(ask) as usize];
        let answer = u16::try_from(payload(answer)).unwrap_or(u16::MAX);
        Datagram::SizedAsk {
            number,
            payload: answer,
        }
        .write(&mut bytes);
        match self.socket.send(&bytes) {
            Ok(_) => {}
            // Too long for the own device, or known by ICMP to be too long for the path.
            Err(e) if e.raw_os_error() == Some(libc_emsgsize()) => return Ok(false),
            // Word of an earlier datagram; this one was not sent.
            Err(_) => {
                let _ = self.socket.send(&bytes);
            }
        }
        self.await_answer(number, answer)
    }

    fn await_answer(&self, number: u32, wanted: u16) -> io::Result<bool> {
        let deadline = Instant::now().after(self.patience);
        let mut bytes = vec![0; 65_536];
        loop {
            let left = deadline.since(Instant::now());
            if left <= 0 {
                return Ok(false);
            }
            self.socket
                .set_read_timeout(Some(Duration::from_nanos(left.max(1_000_000) as u64)))?;
            let Ok(n) = self.socket.recv(&mut bytes) else {
                continue;
            };
            if let Some(Datagram::Sized {
                number: got,
                payload,
            }) = Datagram::parse(&bytes[..n])
                && got == number
            {
                return Ok(payload == wanted && n == usize::from(wanted));
            }
        }
    }

    fn passes(&mut self, ask: u32, answer: u32) -> io::Result<bool> {
        for _ in 0..TRIES {
            if self.exchange(ask, answer)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The largest of `low..=high` that passes; `None` if not even `low` does.
    fn largest(
        &mut self,
        low: u32,
        high: u32,
        sizes: impl Fn(u32) -> (u32, u32),
    ) -> io::Result<Option<u32>> {
        let mut try_one = |size: u32| {
            let (ask, answer) = sizes(size);
            self.passes(ask, answer)
        };
        if try_one(high)? {
            return Ok(Some(high));
        }
        if !try_one(low)? {
            return Ok(None);
        }
        let (mut good, mut bad) = (low, high);
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            if try_one(middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Ok(Some(good))
    }
}

const fn libc_emsgsize() -> i32 {
    // include/uapi/asm-generic/errno.h
    90
}

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let layer = &task.layer;
    let mut sample = blank(bench, key(&task.step.what, layer, None, None));
    let mut sized = Sized::open(bench, layer)?;
    let found = search(&mut sized, layer).map_err(|source| FarError::Data {
        what: "search the path's MTU",
        address: bench.target(layer),
        source,
    });
    bench.far.finish(sized.token)?;
    let found = found?;
    if let Some(both) = found.up.zip(found.down).map(|(u, d)| u.min(d)) {
        bench.pmtu.insert(layer.clone(), both);
    }
    sample.pmtu = Some(found);
    Ok(vec![sample])
}

fn search(sized: &mut Sized, layer: &LayerAddress) -> io::Result<Pmtu> {
    const SHORT: u32 = 100;
    // The smallest packet every link must carry: RFC 791 and RFC 8200, section 5.
    let low = match layer.family {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1280,
    };
    let mut pmtu = Pmtu::default();
    // What the kernel takes for the path's MTU before anything was sent: that of the device or route.
    let high = socket::known_mtu(&sized.socket)?.clamp(low, 9216);
    // First as ordinary programs do, so that ICMP may tell the kernel.
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Do)?;
    let whole = sized.passes(high, SHORT)?;
    let told = socket::known_mtu(&sized.socket)?;
    pmtu.near_kernel = Some(told);
    pmtu.silent_up = Some(!whole && told >= high);
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Probe)?;
    pmtu.up = if whole {
        Some(high)
    } else {
        sized.largest(low, high, |size| (size, SHORT))?
    };
    pmtu.down = sized.largest(low, high, |size| (SHORT, size))?;
    socket::set_mtu_discovery(&sized.socket, MtuDiscovery::Dont)?;
    if !whole && sized.passes(high, SHORT)? {
        pmtu.fragmented_up = Some(high);
    }
    Ok(pmtu)
}

/// Datagrams of several sizes, in turn, so that all sizes meet the same moments.
pub(crate) fn sizes(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let layer = &task.layer;
    let mut sample = blank(bench, key(&task.step.what, layer, None, None));
    let largest = udp::largest_payload(bench, layer) + udp::headers(layer.family);
    let mut all: Vec<u32> = SIZES.into_iter().filter(|s| *s < largest).collect();
    all.push(largest);
    let mut sized = Sized::open(bench, layer)?;
    let counted = count(bench, &mut sized, &all, task.step.duration_s);
    bench.far.finish(sized.token)?;
    sample.sizes = counted.map_err(|source| FarError::Data {
        what: "send datagrams of several sizes",
        address: bench.target(layer),
        source,
    })?;
    Ok(vec![sample])
}

fn count(
    bench: &Bench<'_>,
    sized: &mut Sized,
    sizes: &[u32],
    seconds: f64,
) -> io::Result<Vec<SizeStep>> {
    const SHORT: u32 = 60;
    let mut steps: Vec<SizeStep> = sizes
        .iter()
        .flat_map(|&packet| {
            [Direction::Up, Direction::Down].map(|direction| SizeStep {
                packet,
                direction,
                sent: 0,
                received: 0,
            })
        })
        .collect();
    let end = Instant::now().after(Duration::from_secs_f64(seconds));
    for _ in 0..EACH {
        for step in &mut steps {
            if Instant::now() >= end || bench.cancelled() {
                return Ok(steps);
            }
            let came = match step.direction {
                Direction::Up => sized.exchange(step.packet, SHORT)?,
                Direction::Down => sized.exchange(SHORT, step.packet)?,
            };
            step.sent += 1;
            step.received += u64::from(came);
        }
    }
    Ok(steps)
}
