//! Outcome of a test, from the results of both ends.

use analysis::{datagrams::jitter, flow::rate_bps};
use std::fmt;

use model::{
    net::{Direction, Side},
    run::Invalid,
    text,
    text::Text,
};
use sys::tcp_info::TcpInfo;

use super::{
    Error, ProtocolError, Tally,
    params::{Params, Protocol},
    results::{Cpu, Results, StreamResults},
};

/// The outcome of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The requested value.
    pub params: Params,
    /// The client.
    pub client: End,
    /// The server.
    pub server: End,
    /// All streams, in the order in which they were opened.
    pub streams: Vec<Stream>,
    /// Reasons why the figures are not those requested; empty if they are.
    pub invalid: Vec<Reason>,
}

/// One end of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Processor time of its process.
    pub cpu: Cpu,
    /// Congestion control that its sockets used; absent for UDP, and if not reported.
    pub congestion_used: Option<String>,
}

/// Reason why a sample does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The end that it concerns: near is the client; absent = both.
    pub end: Option<Side>,
    /// The reason, as a Run has it.
    pub why: Invalid,
}

impl Reason {
    /// A reason in one stream.
    fn of_stream(why: Text) -> Self {
        Self {
            end: None,
            why: Invalid::failed(why),
        }
    }

    /// The reason with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self.end {
            Some(end) => text!("{end}: {why}", end = name(end), why = self.why.text()),
            None => self.why.text(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

/// Reason why the congestion control of a sender is not known to be the requested one, which is not
/// an error for iperf3; `None` if it is.
fn control(end: Side, requested: &str, used: Option<&str>) -> Option<Reason> {
    let why = match used {
        Some(used) if used == requested => return None,
        Some(used) => Invalid::CongestionReplaced {
            requested: requested.to_owned(),
            used: used.to_owned(),
        },
        None => Invalid::failed(text!(
            "it is not reported whether {asked} was used",
            asked = requested
        )),
    };
    Some(Reason {
        end: Some(end),
        why,
    })
}

/// Name of an end in iperf3.
fn name(end: Side) -> Text {
    match end {
        Side::Near => text!("client"),
        Side::Far => text!("server"),
    }
}

/// One stream, from the counts of both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its number.
    pub id: u32,
    /// Up: the client sends.
    pub direction: Direction,
    /// Payload bytes that the sender handed to its kernel.
    pub sent_bytes: u64,
    /// Time of the sender, µs.
    pub sent_us: u64,
    /// Payload bytes that the receiver read.
    pub received_bytes: u64,
    /// Time of the receiver, µs.
    pub received_us: u64,
    /// Segments retransmitted; absent for UDP, and where the sender does not count them.
    pub retransmits: Option<u64>,
    /// Counts of the datagrams; UDP only.
    pub udp: Option<Udp>,
    /// State of the connection at the end, by the kernel of this end; TCP only.
    pub tcp: Option<TcpInfo>,
}

/// Counts of the datagrams of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Udp {
    /// Datagrams sent.
    pub sent: u64,
    /// Highest number received, less those before the counted part.
    pub packets: u64,
    /// Of these, lost.
    pub lost: u64,
    /// Received after later ones; absent where the other end receives, since the protocol does not
    /// carry it.
    pub reordered: Option<u64>,
    /// Jitter by RFC 3550, µs.
    pub jitter_us: f64,
}

/// One direction, over all its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Payload bytes sent.
    pub sent_bytes: u64,
    /// Payload bytes received.
    pub received_bytes: u64,
    /// Time of the receiver, µs: that of the longest stream.
    pub received_us: u64,
    /// Segments retransmitted, if all senders count them.
    pub retransmits: Option<u64>,
    /// Counts of the datagrams of all streams, with the mean of the jitters; UDP only.
    pub udp: Option<Udp>,
    /// Payload received, bit/s: the sum of the streams' rates; absent if no time passed.
    pub goodput_bps: Option<f64>,
}

impl Stream {
    /// Payload received, bit/s; absent if no time passed.
    pub fn goodput_bps(&self) -> Option<f64> {
        rate(self.received_bytes, self.received_us)
    }
}

/// The other end may report any numbers.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Sums of the datagram counts of all streams, if every stream has them.
fn datagrams(streams: &[Option<Udp>]) -> Option<Udp> {
    let streams: Vec<Udp> = streams.iter().copied().collect::<Option<_>>()?;
    let jitters: Vec<f64> = streams.iter().map(|udp| udp.jitter_us).collect();
    let jitter_us = jitter(&jitters)?;
    let all = streams.into_iter().reduce(both)?;
    Some(Udp { jitter_us, ..all })
}

/// Counts of the datagrams of two streams together.
fn both(one: Udp, other: Udp) -> Udp {
    Udp {
        sent: one.sent.saturating_add(other.sent),
        packets: one.packets.saturating_add(other.packets),
        lost: one.lost.saturating_add(other.lost),
        reordered: one
            .reordered
            .zip(other.reordered)
            .map(|(a, b)| a.saturating_add(b)),
        ..one
    }
}

fn rate(bytes: u64, us: u64) -> Option<f64> {
    rate_bps(bytes as f64, us as f64)
}

impl Outcome {
    /// Sums over the streams of one direction; `None` if nothing was sent in it.
    pub fn total(&self, direction: Direction) -> Option<Total> {
        let streams = || self.streams.iter().filter(|s| s.direction == direction);
        streams().next()?;
        let received_bytes = sum(streams().map(|s| s.received_bytes));
        let received_us = streams().map(|s| s.received_us).max().unwrap_or(0);
        Some(Total {
            sent_bytes: sum(streams().map(|s| s.sent_bytes)),
            received_bytes,
            received_us,
            retransmits: streams()
                .map(|s| s.retransmits)
                .collect::<Option<Vec<_>>>()
                .map(|counts| sum(counts.into_iter())),
            udp: datagrams(&streams().map(|s| s.udp).collect::<Vec<_>>()),
            goodput_bps: streams()
                .filter_map(Stream::goodput_bps)
                .reduce(|all, one| all + one),
        })
    }

    /// Combines the counts of this end (client or server) with those of the other.
    pub(super) fn new(
        params: Params,
        is_client: bool,
        ours: &Results,
        tallies: &[Tally],
        theirs: &Results,
    ) -> Result<Self, Error> {
        let streams: Vec<Stream> = tallies
            .iter()
            .map(
                |ours| match theirs.streams.iter().find(|s| s.id == ours.id) {
                    Some(theirs) => Ok(Stream::new(is_client, ours, theirs)),
                    None => Err(Error::from(ProtocolError::NoStream(ours.id))),
                },
            )
            .collect::<Result<_, _>>()?;
        let is_tcp = params.protocol == Protocol::Tcp;
        let (client, server) = if is_client {
            (ours, theirs)
        } else {
            (theirs, ours)
        };
        let mut outcome = Self {
            params,
            client: End::new(client, is_tcp),
            server: End::new(server, is_tcp),
            streams,
            invalid: Vec::new(),
        };
        outcome.check();
        Ok(outcome)
    }

    fn check(&mut self) {
        let ends = [
            (Direction::Up, &self.client),
            (Direction::Down, &self.server),
        ];
        let asked = self.params.congestion.as_deref();
        let asked = asked.filter(|_| self.params.protocol == Protocol::Tcp);
        for (direction, sender) in ends {
            let sends = self.streams.iter().any(|s| s.direction == direction);
            if let Some(asked) = asked.filter(|_| sends) {
                let used = sender.congestion_used.as_deref();
                let end = Side::sends(direction);
                self.invalid.extend(control(end, asked, used));
            }
        }
        // If limited by bytes, the first streams may have sent everything before the last one
        // starts.
        let by_time = self.params.time_s.is_some();
        let silent = |s: &&Stream| by_time && s.received_bytes == 0;
        let silent = self.streams.iter().filter(silent);
        self.invalid.extend(
            silent.map(|s| {
                Reason::of_stream(text!("stream {stream} carried nothing", stream = s.id))
            }),
        );
        // The ends do not leave out the very same datagrams.
        let whole = self.params.omit_s == 0;
        let odd = |s: &&Stream| whole && s.udp.is_some_and(|u| u.packets > u.sent);
        let odd = self.streams.iter().filter(odd);
        self.invalid.extend(odd.map(|s| {
            Reason::of_stream(text!(
                "stream {stream}: datagrams came with numbers that were not sent",
                stream = s.id
            ))
        }));
    }
}

impl End {
    fn new(results: &Results, is_tcp: bool) -> Self {
        Self {
            cpu: results.cpu,
            congestion_used: results.congestion_used.clone().filter(|_| is_tcp),
        }
    }
}

impl Stream {
    fn new(is_client: bool, ours: &Tally, theirs: &StreamResults) -> Self {
        let theirs_us = theirs.counted_us();
        // An end that does not report its time has counted for as long as this one.
        let theirs_us = if theirs_us == 0 {
            ours.time_us
        } else {
            theirs_us
        };
        let (our_count, their_count) = ((ours.bytes, ours.time_us), (theirs.bytes, theirs_us));
        let (sent, received) = if ours.sends {
            (our_count, their_count)
        } else {
            (their_count, our_count)
        };
        let retransmits = if ours.sends {
            ours.retransmits
        } else {
            theirs.retransmits.filter(|_| ours.tcp.is_some())
        };
        Self {
            id: ours.id,
            direction: if ours.sends == is_client {
                Direction::Up
            } else {
                Direction::Down
            },
            sent_bytes: sent.0,
            sent_us: sent.1,
            received_bytes: received.0,
            received_us: received.1,
            retransmits,
            udp: ours.packets.map(|packets| Udp::new(packets, ours, theirs)),
            tcp: ours.tcp,
        }
    }
}

impl Udp {
    fn new(packets: u64, ours: &Tally, theirs: &StreamResults) -> Self {
        // An end that does not report it has left out as much as this one.
        let left_out = theirs.omitted_packets.unwrap_or(ours.omitted_packets);
        let their_packets = theirs.packets.saturating_sub(left_out);
        if ours.sends {
            let left_out = theirs.omitted_lost.unwrap_or(ours.omitted_lost);
            return Self {
                sent: packets,
                packets: their_packets,
                lost: theirs.lost.saturating_sub(left_out),
                reordered: None,
                jitter_us: theirs.jitter_s * 1e6,
            };
        }
        Self {
            sent: their_packets,
            packets,
            lost: ours.lost.unwrap_or(0),
            reordered: ours.reordered,
            jitter_us: ours.jitter_us.unwrap_or(0.0),
        }
    }
}
