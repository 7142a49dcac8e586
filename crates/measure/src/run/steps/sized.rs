//! Datagrams of a chosen size, and their replies.

use std::{io, net::UdpSocket, time::Duration};

use model::run::LayerAddress;
use sys::clock::Instant;
use traffic::wire::datagram::Datagram;

use crate::{
    far::{
        self, FarError,
        load::{Agreed, Echo},
    },
    run::bench::Bench,
};

/// A socket for datagrams of a chosen size, and the far end that replies.
pub(super) struct Sized {
    pub(super) echo: Agreed<Echo>,
    pub(super) socket: UdpSocket,
    number: u32,
    /// Timeout of a reply.
    pub(super) timeout: Duration,
    headers: u32,
}

impl Sized {
    pub(super) fn open(bench: &mut Bench<'_>, layer: &LayerAddress) -> Result<Self, FarError> {
        let echo = bench.far.open(&Echo)?;
        let address = bench.target(layer);
        let socket = far::datagrams(*echo, address)?;
        let mut sized = Self {
            echo,
            socket,
            number: 0,
            timeout: LONGEST,
            headers: layer.family.udp_headers(),
        };
        let idle = bench.idle_us.get(layer).map(|us| us / 1e6);
        sized.timeout = match idle.or_else(|| sized.round_trip_s()) {
            Some(round_trip) => Duration::from_secs_f64(round_trip * 1.5 + 0.05),
            None => LONGEST / 5,
        };
        Ok(sized)
    }

    /// The round trip of the first of two short packets that is answered, s.
    fn round_trip_s(&mut self) -> Option<f64> {
        (0..2).find_map(|_| {
            let began = Instant::now();
            let replied = matches!(self.exchange(SHORT, SHORT), Ok(true));
            replied.then(|| Instant::now().since(began) as f64 / 1e9)
        })
    }

    /// Sends a packet of `request` bytes that requests a reply of `response` bytes; returns its
    /// number. `None`: it is too long for this host's device, or known by ICMP to be too long for
    /// the path.
    pub(super) fn send(&mut self, request: u32, response: u32) -> io::Result<Option<u32>> {
        self.number += 1;
        let number = self.number;
        let mut bytes = vec![0; usize::from(self.payload(request))];
        Datagram::SizedAsk {
            number,
            payload: self.payload(response),
        }
        .write(&mut bytes);
        match self.socket.send(&bytes) {
            Ok(_) => {}
            Err(e) if e.raw_os_error() == Some(EMSGSIZE) => return Ok(None),
            // The error of an earlier datagram (ICMP); this one was not sent.
            Err(_) => {
                let _ = self.socket.send(&bytes);
            }
        }
        Ok(Some(number))
    }

    /// The number of the next reply before the deadline, and the bytes of its payload if it arrived
    /// with its original length.
    pub(super) fn receive(&self, deadline: Instant) -> io::Result<Option<(u32, Option<u16>)>> {
        let mut bytes = vec![0; 65_536];
        loop {
            let left = deadline.since(Instant::now());
            if left <= 0 {
                return Ok(None);
            }
            self.socket
                .set_read_timeout(Some(Duration::from_nanos(left.max(1_000_000) as u64)))?;
            let Ok(n) = self.socket.recv(&mut bytes) else {
                continue;
            };
            if let Some(Datagram::Sized { number, payload }) = Datagram::parse(&bytes[..n]) {
                let whole = n == usize::from(payload);
                return Ok(Some((number, whole.then_some(payload))));
            }
        }
    }

    /// Sends a packet of `request` bytes and waits for a reply of `response` bytes; returns whether
    /// it arrived.
    pub(super) fn exchange(&mut self, request: u32, response: u32) -> io::Result<bool> {
        let Some(number) = self.send(request, response)? else {
            return Ok(false);
        };
        let wanted = (number, Some(self.payload(response)));
        let deadline = Instant::now().after(self.timeout);
        while let Some(got) = self.receive(deadline)? {
            if got.0 == number {
                return Ok(got == wanted);
            }
        }
        Ok(false)
    }

    /// Payload bytes of a packet of a size.
    pub(super) fn payload(&self, packet: u32) -> u16 {
        let payload = packet.saturating_sub(self.headers).max(SHORTEST);
        u16::try_from(payload).unwrap_or(u16::MAX)
    }
}

/// A packet that every path carries, bytes.
pub(super) const SHORT: u32 = 100;
/// Timeout of a reply on a path of unknown round trip, above that of any.
const LONGEST: Duration = Duration::from_secs(3);
/// Bytes that a datagram needs for its fields.
const SHORTEST: u32 = 22;
/// include/uapi/asm-generic/errno.h
const EMSGSIZE: i32 = 90;
