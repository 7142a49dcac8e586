//! The two running halves of a flow on the traffic engine, both in this process.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use model::{
    cell::Batch,
    record::{Kind, ShortSample, Stream},
    text,
    text::Text,
};
use sys::clock::Instant;
use traffic::{
    admission::Lease,
    load::{
        requests::{
            Connect, RequestClient, RequestServer, client,
            server::{self, Service},
        },
        tcp::TcpLoad,
        udp::UdpLoad,
    },
    spawn,
};

use super::waiting::Waiting;

/// Bytes of the greeting of a request.
const GREETING: usize = 16;

/// Timeout of each read of a response: longer than any cell.
const TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// The halves of a flow.
pub(super) enum Load {
    Tcp {
        sender: Box<TcpLoad>,
        receiver: Box<TcpLoad>,
        /// Their waits for a connection.
        waits: [Waiting; 2],
    },
    Udp {
        sender: UdpLoad,
        receiver: UdpLoad,
    },
    Short {
        client: RequestClient,
        server: Arc<RequestServer>,
        /// Bytes of a request, which the records count as well.
        up: u64,
        /// Bytes of a response.
        down: u64,
        /// The client's wait for a connection.
        waiting: Waiting,
    },
}

/// Result of a flow.
#[derive(Default)]
pub(super) struct Ended {
    /// Its records.
    pub(super) records: Stream,
    /// Datagrams it sent.
    pub(super) sent: Option<u64>,
    /// Error of the load, if any.
    pub(super) error: Option<Text>,
}

/// Consecutive requests of one size.
pub(super) struct Requests {
    pub(super) start: Instant,
    pub(super) up: u64,
    pub(super) down: u64,
    pub(super) batch: Option<Batch>,
}

impl Requests {
    /// Starts their server and their client.
    ///
    /// # Errors
    /// The guest lacks threads.
    pub(super) fn start(
        self,
        listener: TcpListener,
        connect: Connect,
        waiting: Waiting,
    ) -> io::Result<Load> {
        let Self {
            start,
            up,
            down,
            batch,
        } = self;
        // An empty response would not show that the request has arrived.
        let bytes = down.max(1);
        let server = Arc::new(RequestServer::new(server::Config {
            service: Service::Short,
            upload: GREETING as u64 + up,
            bytes,
            connections: 1,
            timeout: TIMEOUT,
            lease: Lease::own(Duration::MAX, None, None),
        }));
        let taking = server.clone();
        // The thread waits for another client, and ends with the process.
        spawn("accept", move || {
            loop {
                if let Ok((stream, _)) = listener.accept() {
                    taking.take(stream);
                }
            }
        })?;
        let config = client::Config {
            start,
            upload: up,
            bytes,
            timeout: TIMEOUT,
            most_bytes: None,
            most_requests: match batch {
                Some(batch) if batch.every.is_none() => batch.requests as usize,
                _ => usize::MAX,
            },
            batch: batch.and_then(|batch| {
                Some(client::Batch {
                    requests: batch.requests as usize,
                    every: batch.every?,
                })
            }),
        };
        let client = RequestClient::short(connect, |_| vec![0; GREETING], config)?;
        Ok(Load::Short {
            client,
            server,
            up,
            down,
            waiting,
        })
    }
}

impl Load {
    /// Ends both halves, without waiting for them.
    pub(super) fn stop(&self) {
        match self {
            Self::Tcp {
                sender,
                receiver,
                waits,
            } => {
                sender.stop();
                receiver.stop();
                waits.iter().for_each(Waiting::end);
            }
            Self::Udp { sender, receiver } => {
                sender.stop();
                receiver.stop();
            }
            Self::Short {
                client, waiting, ..
            } => {
                client.stop();
                waiting.end();
            }
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        match self {
            Self::Tcp { sender, .. } => sender.is_stopped(),
            Self::Udp { sender, .. } => sender.is_stopped(),
            Self::Short { client, .. } => client.is_stopped(),
        }
    }

    /// Samples its sockets, if they exist for the whole load.
    pub(super) fn sample(&mut self, at_ns: i64, of_sender: bool, of_receiver: bool) {
        if let Self::Tcp {
            sender, receiver, ..
        } = self
        {
            if of_sender {
                sender.sample(at_ns);
            }
            if of_receiver {
                receiver.sample(at_ns);
            }
        }
    }

    /// Local and remote address of the sender or the receiver of a bulk flow, if it is connected.
    pub(super) fn addresses(&self, sends: bool) -> Option<(SocketAddr, SocketAddr)> {
        match self {
            Self::Tcp { sender, .. } if sends => sender.addresses(),
            Self::Tcp { receiver, .. } => receiver.addresses(),
            Self::Udp { .. } | Self::Short { .. } => None,
        }
    }

    /// Adds a sample of the sender or the receiver of a bulk flow.
    pub(super) fn add_sample(&mut self, at_ns: i64, sends: bool, info: &[u8]) {
        match self {
            Self::Tcp { sender, .. } if sends => sender.add_sample(at_ns, info),
            Self::Tcp { receiver, .. } => receiver.add_sample(at_ns, info),
            Self::Udp { .. } | Self::Short { .. } => {}
        }
    }

    /// The sender's congestion control, as its kernel reports it.
    pub(super) fn congestion(&self) -> Option<String> {
        match self {
            Self::Tcp { sender, .. } => sender.congestion().pop(),
            Self::Udp { .. } | Self::Short { .. } => None,
        }
    }

    /// Ends both halves; `id` and `zero`: number and zero of the times of its records.
    pub(super) fn finish(self, id: u16, zero: Instant) -> Ended {
        match self {
            Self::Tcp {
                sender, receiver, ..
            } => finish_tcp(*sender, *receiver, id),
            Self::Udp { sender, receiver } => finish_udp(sender, receiver, id, zero),
            Self::Short {
                client,
                server,
                up,
                down,
                ..
            } => {
                let ended = finish_short(client, up + down, id, zero);
                server.finish();
                ended
            }
        }
    }
}

fn finish_tcp(sender: TcpLoad, receiver: TcpLoad, id: u16) -> Ended {
    let first = |half: &TcpLoad| half.errors().into_iter().next();
    let sent = first(&sender).map(|why| text!("send: {why}", why = why));
    let error = sent.or_else(|| first(&receiver).map(|why| text!("receive: {why}", why = why)));
    let mut records = Stream::default();
    for (kind, half) in [(Kind::TcpSender, sender), (Kind::TcpReceiver, receiver)] {
        for samples in half.finish_samples() {
            for (at_ns, bytes) in samples.raw() {
                records.push(kind, id, at_ns, bytes);
            }
        }
    }
    Ended {
        records,
        sent: None,
        error,
    }
}

fn finish_udp(sender: UdpLoad, receiver: UdpLoad, id: u16, zero: Instant) -> Ended {
    let sender = sender.finish_half();
    let mut records = Stream::default();
    for (at, sample) in receiver.finish_half().samples {
        records.push_words(Kind::Udp, id, at.since(zero), &sample.words());
    }
    Ended {
        records,
        sent: Some(sender.outcome.sent),
        error: sender.error.map(|why| text!("send: {why}", why = why)),
    }
}

fn finish_short(client: RequestClient, bytes: u64, id: u16, zero: Instant) -> Ended {
    let requests = client.finish(Duration::ZERO);
    let mut records = Stream::default();
    for exchange in requests.exchanges {
        let sample = ShortSample {
            connect_ns: exchange.connect_ns.unwrap_or(0),
            complete_ns: exchange.complete_ns,
            bytes,
        };
        records.push_words(Kind::Short, id, exchange.began.since(zero), &sample.words());
    }
    Ended {
        records,
        sent: None,
        error: requests.error.map(|why| text!("request: {why}", why = why)),
    }
}
