//! The halves of a TCP stream.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use sys::clock::Instant;
use traffic::load::transfer::{self, Flow};

use super::{Counts, Load, Phase, is_passing};

/// Bytes of a call that receives.
const READ: usize = 128 << 10;

/// Sends blocks on a connection.
pub(crate) fn send_tcp(mut stream: &TcpStream, load: &Load, counts: &Counts) -> io::Result<()> {
    let mut half = TcpSender { load, counts };
    transfer::send(&load.lease, &mut half, |most| {
        stream.write(&load.payload[..most])
    })
}

struct TcpSender<'a> {
    load: &'a Load,
    counts: &'a Counts,
}

impl Flow for TcpSender<'_> {
    fn next(&mut self) -> Option<usize> {
        if !self.load.is(Phase::Running) {
            return None;
        }
        if self.load.due(self.counts.bytes()) == 0 {
            return Some(0);
        }
        Some(self.load.take(self.load.len)).filter(|most| *most > 0)
    }

    fn moved(&mut self, most: usize, bytes: usize) {
        self.load.give_back(most - bytes);
        self.counts.add(bytes);
    }

    fn pause(&mut self, until: Instant) {
        self.load.pause(until);
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(true),
            false => Err(error),
        }
    }
}

/// Receives the data of a connection.
pub(crate) fn receive_tcp(mut stream: &TcpStream, load: &Load, counts: &Counts) -> io::Result<()> {
    let mut bytes = vec![0; READ];
    let mut half = TcpReceiver { load, counts };
    transfer::receive(&load.lease, &mut half, |most| {
        stream.read(&mut bytes[..most])
    })
}

struct TcpReceiver<'a> {
    load: &'a Load,
    counts: &'a Counts,
}

impl Flow for TcpReceiver<'_> {
    fn next(&mut self) -> Option<usize> {
        (!self.load.is(Phase::Ended)).then_some(READ)
    }

    fn moved(&mut self, _: usize, bytes: usize) {
        if self.load.counts() {
            self.counts.add(bytes);
        }
    }

    fn pause(&mut self, until: Instant) {
        self.load.pause(until);
    }

    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        match is_passing(&error) {
            true => Ok(!self.load.is(Phase::Emptying)),
            false => Err(error),
        }
    }
}
