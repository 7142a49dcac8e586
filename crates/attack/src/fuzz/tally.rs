//! What was sent and what came back.

/// Counts of messages by kind, and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sessions, those that were refused included.
    pub sessions: u64,
    /// Sessions that were let in.
    pub admitted: u64,
    /// Requests on the control channel.
    pub requests: u64,
    /// Of these, refused by the server in words.
    pub refused: u64,
    /// Loads and services agreed on.
    pub opened: u64,
    /// Loads that were started.
    pub started: u64,
    /// Data connections.
    pub connections: u64,
    /// Requests and bytes on data connections.
    pub written: u64,
    /// Datagrams.
    pub datagrams: u64,
    /// Addresses that were proved.
    pub proved: u64,
    /// Messages of iperf3's protocol.
    pub iperf3: u64,
    /// Payload bytes that came in on data connections and proved sockets.
    pub received: u64,
    /// Bytes that came to an address before it was proved.
    pub came_before: u64,
    /// Bytes that it had sent before that.
    pub sent_before: u64,
}

impl Tally {
    /// Messages in all.
    pub fn messages(&self) -> u64 {
        self.requests + self.connections + self.written + self.datagrams + self.iperf3
    }

    /// Adds what another counted.
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

    /// Of one session: which bound of bytes to its address it broke, if it did. `most`: payload
    /// that a session may move; heads of answers come on top.
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
