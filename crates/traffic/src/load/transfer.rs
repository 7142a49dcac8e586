//! Transfer loops of all loads, for pathtwin's protocol and iperf3's.
//!
//! A loop takes from the lease the amount that a call may transfer, makes the call, charges the
//! transferred bytes, and waits if a rate requires it. The differences between protocols (how much
//! is due, which bytes count, when a half is over) are in a [`Flow`] or a [`Datagrams`]. The loops
//! themselves never read the clock.

use std::{io, net::UdpSocket};

use sys::{
    clock::Instant,
    socket::{self, Batch},
};

use crate::admission::Lease;

/// A protocol's part of a loop that moves bytes.
pub trait Flow {
    /// Returns the maximum bytes of the next call, after a wait if none are due; 0 = call again.
    /// `None` = the half has ended.
    fn next(&mut self) -> Option<usize>;

    /// Records that a call has moved this many of `most` bytes.
    fn moved(&mut self, most: usize, bytes: usize);

    /// Sleeps until then, or until the half ends.
    fn pause(&mut self, until: Instant);

    /// Returns true if the half continues after a failed call.
    ///
    /// # Errors
    /// The half has failed.
    fn failed(&mut self, error: io::Error) -> io::Result<bool> {
        Err(error)
    }
}

/// Sends by `call`, which takes the maximum bytes to send and returns the number sent.
///
/// # Errors
/// No bytes of the session are left, or the half has failed.
pub fn send(
    lease: &Lease,
    flow: &mut impl Flow,
    mut call: impl FnMut(usize) -> io::Result<usize>,
) -> io::Result<()> {
    while let Some(most) = flow.next() {
        if most == 0 {
            continue;
        }
        let taken = lease.take(most)?;
        let result = call(taken);
        let sent = *result.as_ref().unwrap_or(&0);
        flow.moved(most, sent);
        if let Some(until) = lease.sent(taken, sent) {
            flow.pause(until);
        }
        if let Err(error) = result
            && !flow.failed(error)?
        {
            return Ok(());
        }
    }
    Ok(())
}

/// Receives by `call`, which takes the maximum bytes to read and returns the number read; 0 = the
/// peer sends no more.
///
/// # Errors
/// More has arrived than permitted, or the half has failed.
pub fn receive(
    lease: &Lease,
    flow: &mut impl Flow,
    mut call: impl FnMut(usize) -> io::Result<usize>,
) -> io::Result<()> {
    while let Some(most) = flow.next() {
        if most == 0 {
            continue;
        }
        match call(lease.chunk(most)) {
            Ok(0) => return Ok(()),
            Ok(bytes) => {
                flow.moved(most, bytes);
                if let Some(until) = lease.received(bytes as u64)? {
                    flow.pause(until);
                }
            }
            Err(error) => {
                if !flow.failed(error)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// A protocol's part of the loop that sends datagrams of one size.
pub trait Datagrams {
    /// Bytes of a datagram.
    fn size(&self) -> usize;

    /// Returns the number of datagrams due, after a wait if none are; 0 = call again. `None` = the
    /// half has ended.
    fn next(&mut self) -> Option<usize>;

    /// The next datagrams, of this number.
    fn label(&mut self, count: usize) -> &[Vec<u8>];

    /// Sends the next datagrams, of this number, and returns how many the kernel took.
    ///
    /// # Errors
    /// It took none.
    fn transmit(&mut self, socket: &UdpSocket, count: usize) -> io::Result<usize> {
        socket::send_batch(socket, self.label(count))
    }

    /// Of `due` datagrams, `count` were given to a call with this result. Records how many count as
    /// sent.
    ///
    /// # Errors
    /// The half has failed.
    fn sent(&mut self, due: usize, count: usize, result: io::Result<usize>) -> io::Result<usize>;

    /// Sleeps until then, or until the half ends.
    fn pause(&mut self, until: Instant);
}

/// Sends datagrams.
///
/// # Errors
/// No bytes of the session are left, or the half has failed.
pub fn send_datagrams(
    socket: &UdpSocket,
    lease: &Lease,
    flow: &mut impl Datagrams,
) -> io::Result<()> {
    let size = flow.size();
    while let Some(due) = flow.next() {
        if due == 0 {
            continue;
        }
        let count = lease.take_datagrams(size, due)?;
        let result = flow.transmit(socket, count);
        let sent = flow.sent(due, count, result)?;
        if let Some(until) = lease.sent(count * size, sent * size) {
            flow.pause(until);
        }
    }
    Ok(())
}

/// A protocol's part of the loop that receives datagrams.
pub trait Arrivals {
    /// Returns true if the half continues.
    fn goes_on(&mut self) -> bool;

    /// Records the arrivals. By the lease's rate no more should arrive before `until`.
    ///
    /// # Errors
    /// More has arrived than permitted, or the half has failed.
    fn take(&mut self, batch: &Batch, until: Option<Instant>) -> io::Result<()>;

    /// Returns true if the half continues after a failed call.
    ///
    /// # Errors
    /// The half has failed.
    fn failed(&mut self, error: io::Error) -> io::Result<bool>;
}

/// Receives datagrams by `call`, which fills the batch.
///
/// # Errors
/// More has arrived than permitted, or the half has failed.
pub fn receive_datagrams(
    lease: &Lease,
    flow: &mut impl Arrivals,
    batch: &mut Batch,
    mut call: impl FnMut(&mut Batch) -> io::Result<usize>,
) -> io::Result<()> {
    while flow.goes_on() {
        match call(batch) {
            Ok(_) => {
                let until = lease.received(batch.received())?;
                flow.take(batch, until)?;
            }
            Err(error) => {
                if !flow.failed(error)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
