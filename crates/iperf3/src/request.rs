//! Test requested by a user, and its validation.

use std::time::Duration;

use model::net::LoadDirection;

use crate::{
    client::Options,
    params::{Params, Protocol},
};

/// Range of the UDP payload, bytes: the size of the datagram header, and the maximum of IPv4.
const DATAGRAM: (u64, u64) = (16, 65_507);
/// Sizes of a TCP write, bytes (`MAX_BLOCKSIZE`, src/iperf.h).
const WRITE: (u64, u64) = (1, 1 << 20);
/// Rate of UDP if none is given, bit/s (`UDP_RATE`, src/iperf.h).
const UDP_RATE: u64 = 1_000_000;
/// Duration if none is given (`DURATION`, src/iperf.h).
const DURATION: Duration = Duration::from_secs(10);

/// A test as a user requests it; absent values have iperf3's default.
#[derive(Clone, Debug)]
pub struct Request {
    /// Datagrams instead of a connection.
    pub udp: bool,
    /// Sending end: the client (up), the server (down), or both.
    pub direction: LoadDirection,
    /// Streams in each direction.
    pub parallel: u32,
    /// Congestion control of the sender.
    pub congestion: Option<String>,
    /// Duration of sending.
    pub time: Option<Duration>,
    /// Start of the test that is not counted, s.
    pub omit_s: u32,
    /// Bytes to send in each direction, however long that takes.
    pub bytes: Option<u64>,
    /// Rate of each stream, bit/s; 0 = unlimited.
    pub rate_bps: Option<u64>,
    /// Bytes of a write or of a datagram.
    pub len: Option<u64>,
    /// Send small writes at once.
    pub nodelay: bool,
}

/// Reason why a test cannot be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The length of a write or datagram is out of range.
    #[error("a length of {len} is not in {least} to {most} bytes")]
    Length {
        /// The request.
        len: u64,
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Nothing would be sent.
    #[error("a test needs a time, or bytes, above 0")]
    Empty,
    /// All bytes may be sent in the part that does not count.
    #[error("seconds to omit need a test of a time: the bytes may be sent before they are over")]
    OmitsBytes,
}

impl Default for Request {
    /// A TCP test of one stream, where the client sends.
    fn default() -> Self {
        Self {
            udp: false,
            direction: LoadDirection::Up,
            parallel: 1,
            congestion: None,
            time: None,
            omit_s: 0,
            bytes: None,
            rate_bps: None,
            len: None,
            nodelay: false,
        }
    }
}

impl Request {
    /// The options of a client for this test.
    ///
    /// # Errors
    /// A length is out of range, or nothing would be sent.
    pub fn options(&self) -> Result<Options, RequestError> {
        let (least, most) = if self.udp { DATAGRAM } else { WRITE };
        let len = match self.len {
            Some(len) if !(least..=most).contains(&len) => {
                return Err(RequestError::Length { len, least, most });
            }
            len => len.map(|len| len as u32),
        };
        let rate = self.rate_bps.unwrap_or(if self.udp { UDP_RATE } else { 0 });
        let duration = self.time.unwrap_or(DURATION);
        if duration.is_zero() || self.bytes == Some(0) {
            return Err(RequestError::Empty);
        }
        if self.bytes.is_some() && self.omit_s > 0 {
            return Err(RequestError::OmitsBytes);
        }
        Ok(Options {
            params: Params {
                protocol: if self.udp {
                    Protocol::Udp
                } else {
                    Protocol::Tcp
                },
                direction: self.direction,
                parallel: self.parallel,
                omit_s: self.omit_s,
                bytes: self.bytes,
                len,
                rate_bps: Some(rate).filter(|&rate| rate > 0),
                nodelay: self.nodelay,
                congestion: self.congestion.clone(),
                ..Params::default()
            },
            duration,
            most_bytes: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(len: u64) -> Request {
        Request {
            udp: true,
            len: Some(len),
            ..Request::default()
        }
    }

    /// iperf3(1): -b is 1 Mbit/s by default for UDP, unlimited for TCP; -t is 10 s.
    #[test]
    fn the_defaults_are_those_of_iperf3() {
        let tcp = Request::default().options().unwrap();
        assert_eq!((tcp.params.rate_bps, tcp.duration.as_secs()), (None, 10));
        let udp = udp(1200).options().unwrap();
        assert_eq!(udp.params.rate_bps, Some(1_000_000));
        assert_eq!(udp.params.len, Some(1200));
    }

    /// Bug: of 20 MB that were sent within the omitted second, "20.972 MB in 1.00 s" counted.
    #[test]
    fn bytes_and_seconds_to_omit_exclude_each_other() {
        let both = Request {
            bytes: Some(20_000_000),
            omit_s: 1,
            ..Request::default()
        };
        assert!(matches!(both.options(), Err(RequestError::OmitsBytes)));
    }

    #[test]
    fn a_datagram_holds_its_header_and_fits_ipv4() {
        assert!(udp(16).options().is_ok() && udp(65_507).options().is_ok());
        for len in [15, 65_508] {
            let error = udp(len).options().unwrap_err();
            assert!(matches!(error, RequestError::Length { .. }), "{error}");
        }
    }

    #[test]
    fn an_empty_test_is_refused() {
        let bytes = Request {
            bytes: Some(0),
            ..Request::default()
        };
        let time = Request {
            time: Some(Duration::ZERO),
            ..Request::default()
        };
        assert_eq!(bytes.options().unwrap_err(), RequestError::Empty);
        assert_eq!(time.options().unwrap_err(), RequestError::Empty);
    }
}
