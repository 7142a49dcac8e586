//! Control messages with times (include/linux/socket.h: `struct cmsghdr`;
//! include/uapi/linux/errqueue.h, Linux 7.2). Any bytes are accepted.

use crate::bytes;

/// `SO_TIMESTAMPING_NEW` (include/uapi/asm-generic/socket.h): 64-bit times on every machine, since
/// Linux 5.1.
pub(super) const SO_TIMESTAMPING_NEW: libc::c_int = 65;
/// `SO_TIMESTAMPING_OLD`: 64-bit times on 64-bit machines only.
pub(super) const SO_TIMESTAMPING_OLD: libc::c_int = 37;
/// `SO_TIMESTAMPNS_OLD` and `_NEW`: one receive timestamp.
const TIMESTAMPNS: [libc::c_int; 2] = [35, 64];
const TIMESTAMPING: [libc::c_int; 2] = [SO_TIMESTAMPING_OLD, SO_TIMESTAMPING_NEW];
/// `IP_RECVERR` at `SOL_IP`, `IPV6_RECVERR` at `SOL_IPV6`.
const RECVERR: [(libc::c_int, libc::c_int); 2] = [(0, 11), (41, 25)];
/// `SO_EE_ORIGIN_TIMESTAMPING`.
const ORIGIN_TIMESTAMPING: u8 = 4;
/// `SCM_TSTAMP_SND` and `SCM_TSTAMP_SCHED`.
const TSTAMP_SND: u32 = 0;
const TSTAMP_SCHED: u32 = 1;

/// Size of `struct cmsghdr`: a `size_t` and two `int`.
const HEADER_LEN: usize = WORD + 8;
const WORD: usize = size_of::<usize>();

/// A control message.
struct Control<'a> {
    level: libc::c_int,
    kind: libc::c_int,
    data: &'a [u8],
}

/// The control messages of a datagram; stops at the first that does not fit.
struct Controls<'a>(&'a [u8]);

impl<'a> Iterator for Controls<'a> {
    type Item = Control<'a>;

    fn next(&mut self) -> Option<Control<'a>> {
        let len = bytes::array::<WORD>(self.0, 0).map(usize::from_ne_bytes)?;
        let control = Control {
            level: bytes::i32_at(self.0, WORD)?,
            kind: bytes::i32_at(self.0, WORD + 4)?,
            data: self.0.get(HEADER_LEN..len)?,
        };
        let aligned = len.checked_next_multiple_of(WORD)?;
        self.0 = self.0.get(aligned..).unwrap_or(&[]);
        Some(control)
    }
}

/// Point at which a sent datagram was timestamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// About to enter the queue of its device (`SCM_TSTAMP_SCHED`); of a tunnel, before the tunnel.
    Queued,
    /// Handed to the hardware by its driver (`SCM_TSTAMP_SND`). Drivers of some virtual devices and
    /// tunnels do not report it.
    Sent,
}

/// A timestamp from the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The kernel's number of the datagram.
    pub(super) key: u32,
    pub(super) stage: Stage,
    pub(super) at_ns: u64,
}

/// Receive time of a datagram, CLOCK_REALTIME ns.
pub(crate) fn received(control: &[u8]) -> Option<u64> {
    let socket = || Controls(control).filter(|c| c.level == libc::SOL_SOCKET);
    let first = |kinds: [libc::c_int; 2]| {
        let mut found = socket().filter(|c| kinds.contains(&c.kind));
        found.find_map(time)
    };
    // With only one requested timestamp, the kernel substitutes the read time if a datagram has
    // none.
    first(TIMESTAMPING).or_else(|| first(TIMESTAMPNS))
}

/// The timestamp in an error queue message; `None` for other messages.
pub(crate) fn transmitted(control: &[u8]) -> Option<Stamp> {
    let error = Controls(control).find(|c| RECVERR.contains(&(c.level, c.kind)))?;
    // struct sock_extended_err: u32 errno; u8 origin, type, code, pad; u32 info; u32 data.
    if bytes::u8_at(error.data, 4)? != ORIGIN_TIMESTAMPING {
        return None;
    }
    let stage = match bytes::u32_at(error.data, 8)? {
        TSTAMP_SND => Stage::Sent,
        TSTAMP_SCHED => Stage::Queued,
        _ => return None,
    };
    Some(Stamp {
        key: bytes::u32_at(error.data, 12)?,
        stage,
        at_ns: received(control)?,
    })
}

/// The first timestamp in a message, which is the software one; zero means none.
fn time(control: Control<'_>) -> Option<u64> {
    let seconds = bytes::u64_at(control.data, 0)?;
    let nanoseconds = bytes::u64_at(control.data, 8)?;
    let ns = seconds
        .checked_mul(1_000_000_000)?
        .checked_add(nanoseconds)?;
    Some(ns).filter(|&ns| ns > 0)
}
