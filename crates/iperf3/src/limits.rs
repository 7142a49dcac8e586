//! Limits of a server, as parameters of this protocol.

use std::time::Duration;

use model::net::Direction;
use traffic::{
    admission::{Admission, Amounts, Need, Totals},
    wire::message::Limits,
};

use super::{
    params::{Params, Protocol},
    refused::Refused,
};

/// Longest test where no limit is named.
const LONGEST: Duration = Duration::from_secs(3600);

/// Bounds of the number of connections that have not shown their cookie.
const MIN_PENDING: usize = 8;
const MAX_PENDING: usize = 256;

/// Bytes of the kernel's buffers of one UDP stream, so that nothing is lost while the program is
/// not scheduled, and of all streams of a test together.
const UDP_BUFFER: u64 = 4 << 20;
const UDP_BUFFERS: u64 = 32 << 20;
const MIN_BUFFER: u64 = 64 << 10;

/// Bytes that a stream works on.
pub(crate) const WORK: usize = 64 << 10;

/// Tests a server accepts, and from whom.
#[derive(Clone, Debug)]
pub struct Config {
    /// Limits of clients, each and together. A test is a session; other protocols of this
    /// program may share it.
    pub admission: Admission,
    /// Connections that have not shown their cookie.
    pub pending: usize,
}

impl Config {
    /// For tests within these limits. Connections that have not shown their cookie may take an
    /// eighth of the descriptors.
    pub fn new(admission: Admission) -> Self {
        let eighth = usize::try_from(sys::descriptors::allowed() / 8).unwrap_or(usize::MAX);
        Self {
            admission,
            pending: eighth.clamp(MIN_PENDING, MAX_PENDING),
        }
    }
}

impl Default for Config {
    /// 128 streams in each direction, as many as iperf3 takes, and an hour.
    fn default() -> Self {
        let limits = Limits {
            flows: 128,
            time_s: Some(LONGEST.as_secs_f64()),
            ..Limits::default()
        };
        Self::new(Admission::new(limits, Totals::default()))
    }
}

/// Bytes of each buffer of a UDP socket in a test with this many streams.
pub(crate) fn udp_buffer(streams: usize) -> usize {
    let share = UDP_BUFFERS / streams.max(1) as u64;
    share.clamp(MIN_BUFFER, UDP_BUFFER) as usize
}

/// Returns the sending time of a test: the requested one, or the maximum if the test is limited by
/// bytes.
fn duration(params: &Params, limits: &Limits) -> Duration {
    let longest = limits.time_s.map(Duration::try_from_secs_f64);
    match params.time_s {
        Some(s) => Duration::from_secs(u64::from(s) + u64::from(params.omit_s)),
        None => longest.and_then(Result::ok).unwrap_or(LONGEST),
    }
}

/// The resources of a test, or the reason why it is refused. `bytes`: the amount to transfer in
/// each direction, if the test is limited by bytes.
pub(crate) fn need(params: &Params, limits: &Limits, bytes: Option<u64>) -> Result<Need, Refused> {
    let (asked, most) = (params.parallel, limits.flows);
    if asked > most {
        return Err(Refused::Streams { asked, most });
    }
    let up = params.direction.has(Direction::Up);
    let down = params.direction.has(Direction::Down);
    let directions = params.direction.directions().len() as u64;
    let streams = u64::from(params.parallel) * directions;
    let is_udp = params.protocol == Protocol::Udp;
    if let (true, None, Some(most)) = (is_udp && up, params.rate_bps, limits.rate_bps) {
        return Err(Refused::NoRate { most });
    }
    let rate = params.rate_bps.unwrap_or(0).saturating_mul(asked.into());
    if let Some(most) = limits.rate_bps.filter(|most| rate > *most) {
        return Err(Refused::Rate { asked: rate, most });
    }
    let agreed = |carries: bool| if is_udp && carries { rate } else { 0 };
    let kernel = if is_udp {
        2 * udp_buffer(streams as usize) as u64
    } else {
        WORK as u64
    };
    Ok(Need {
        amounts: Amounts {
            loads: 1,
            connections: streams,
            threads: streams,
            // One descriptor waits for the next stream.
            descriptors: streams + 1,
            memory: streams * (kernel + WORK as u64),
            send_bps: agreed(down),
            receive_bps: agreed(up),
            ..Amounts::NONE
        },
        duration: Some(duration(params, limits)),
        bytes: bytes.unwrap_or(0).saturating_mul(directions),
    })
}
