//! Counters of sent and received messages.

/// Counts of messages by kind, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sessions, including rejected ones.
    pub sessions: u64,
    /// Accepted sessions.
    pub admitted: u64,
    /// Requests on the control channel.
    pub requests: u64,
    /// Of these, rejected by the server with a reason.
    pub refused: u64,
    /// Opened loads and services.
    pub opened: u64,
    /// Started loads.
    pub started: u64,
    /// Data connections.
    pub connections: u64,
    /// Requests and bytes on data connections.
    pub written: u64,
    /// Datagrams.
    pub datagrams: u64,
    /// Proved addresses.
    pub proved: u64,
    /// Messages of iperf3's protocol.
    pub iperf3: u64,
    /// Payload bytes received on data connections and proved sockets.
    pub received: u64,
    /// Bytes received by an address before its proof.
    pub came_before: u64,
    /// Bytes sent by an address before its proof.
    pub sent_before: u64,
}

impl Tally {
    /// Total messages.
    pub fn messages(&self) -> u64 {
        self.requests + self.connections + self.written + self.datagrams + self.iperf3
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        let Self {
            sessions,
            admitted,
            requests,
            refused,
            opened,
            started,
            connections,
            written,
            datagrams,
            proved,
            iperf3,
            received,
            came_before,
            sent_before,
        } = other;
        for (sum, more) in [
            (&mut self.sessions, sessions),
            (&mut self.admitted, admitted),
            (&mut self.requests, requests),
            (&mut self.refused, refused),
            (&mut self.opened, opened),
            (&mut self.started, started),
            (&mut self.connections, connections),
            (&mut self.written, written),
            (&mut self.datagrams, datagrams),
            (&mut self.proved, proved),
            (&mut self.iperf3, iperf3),
            (&mut self.received, received),
            (&mut self.came_before, came_before),
            (&mut self.sent_before, sent_before),
        ] {
            *sum += more;
        }
    }

    /// The byte limit that a session violated, if any. `most`: payload limit of a session, without
    /// headers of responses.
    pub(super) fn excess(&self, most: u64) -> Option<String> {
        let most = most + most / 20;
        if self.received > most {
            return Some(format!(
                "{} bytes received of at most {most}",
                self.received
            ));
        }
        let (came, sent) = (self.came_before, self.sent_before);
        (came > sent)
            .then(|| format!("{came} bytes to an address that sent {sent} before its proof"))
    }
}
