//! Agreements between a client and the server: a load or a service each, its connections and
//! sockets, and its running half.

use std::{
    net::{TcpStream, UdpSocket},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sys::{clock::Instant, socket};
use traffic::{
    admission::{Lease, Need, Session},
    load::{
        Role,
        echo::{self, Echo},
        requests::{
            RequestServer,
            server::{self, Service},
        },
        tcp::{self, TcpLoad},
        udp::{self, Spacing, UdpLoad},
    },
    quic::{self, Identity, QuicLoad},
    wire::PublicKey,
    wire::message::{
        EchoOutcome, HttpOutcome, Limits, Order, Outcome, ShortOutcome, TcpOrder, UdpOrder,
    },
};

use super::{
    refused::{Arrivals, PAYLOAD, RESPONSE, Refused},
    registry::{Arrival, Taker},
};

/// Time for which a load waits for its connections after its start.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest and shortest time between samples.
const SAMPLE: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(1)];

/// Timeout of a service's client for a request, and for each read of its response.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Streams and sockets that have arrived.
#[derive(Default)]
struct Arrived {
    streams: Vec<(u32, TcpStream)>,
    socket: Option<UdpSocket>,
    echo: Option<Echo>,
    /// True if no more connections are accepted.
    closed: bool,
}

#[derive(Default)]
struct Waiting {
    arrived: Mutex<Arrived>,
    changed: Condvar,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready` holds, and returns its value.
    fn wait<T>(
        &self,
        what: Arrivals,
        mut ready: impl FnMut(&mut Arrived) -> Option<T>,
    ) -> Result<T, Refused> {
        let deadline = Instant::now().after(TIMEOUT);
        let mut arrived = self.lock();
        loop {
            if let Some(value) = ready(&mut arrived) {
                return Ok(value);
            }
            let left = deadline.since(Instant::now());
            let left = u64::try_from(left).ok().filter(|ns| *ns > 0);
            let left = left.ok_or(Refused::Missing {
                what,
                timeout: TIMEOUT,
            })?;
            arrived = self
                .changed
                .wait_timeout(arrived, Duration::from_nanos(left))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// An agreement. Dropping it ends its load or service.
pub(crate) struct Agreement {
    order: Order,
    lease: Lease,
    waiting: Arc<Waiting>,
    /// Responses to requests, from the moment it is agreed on.
    service: Option<Arc<RequestServer>>,
    /// The key pair of this end in QUIC.
    identity: Option<Identity>,
    running: Running,
}

enum Running {
    Not,
    Tcp(TcpLoad),
    Udp(UdpLoad),
    Quic(QuicLoad),
}

impl Agreement {
    /// Agrees to an order.
    ///
    /// # Errors
    /// It makes no sense, is beyond a limit, or cannot be done on this host.
    pub(crate) fn new(order: Order, limits: &Limits, session: &Session) -> Result<Self, Refused> {
        check(&order, limits)?;
        let lease = session.lease(&need(&order))?;
        let identity = matches!(order, Order::Quic { .. }).then(Identity::generate);
        Ok(Self {
            identity: identity.transpose().map_err(Refused::Random)?,
            service: service(&order, limits, &lease).map(Arc::new),
            order,
            lease,
            waiting: Arc::default(),
            running: Running::Not,
        })
    }

    /// The key that this end will show.
    pub(crate) fn public_key(&self) -> Option<PublicKey> {
        self.identity.as_ref().map(Identity::public_key)
    }

    /// Takes the connections and sockets that arrive for it.
    pub(crate) fn taker(&self) -> Taker {
        if let Some(service) = self.service.clone() {
            return Arc::new(move |arrival| {
                if let Arrival::Stream(_, stream) = arrival {
                    service.take(stream);
                }
            });
        }
        let (waiting, lease) = (self.waiting.clone(), self.lease.clone());
        let echo = matches!(self.order, Order::Echo);
        let flows = match &self.order {
            Order::Tcp(tcp) => usize::from(tcp.flows),
            _ => 0,
        };
        let datagrams = matches!(self.order, Order::Udp(_) | Order::Quic { .. });
        Arc::new(move |arrival| {
            let mut arrived = waiting.lock();
            match arrival {
                _ if arrived.closed => {}
                Arrival::Stream(index, stream)
                    if arrived.streams.len() < flows
                        && arrived.streams.iter().all(|(other, _)| *other != index) =>
                {
                    arrived.streams.push((index, stream));
                }
                Arrival::Socket(socket) if echo && arrived.echo.is_none() => {
                    arrived.echo = Echo::start(socket, lease.clone()).ok();
                }
                Arrival::Socket(socket) if datagrams && arrived.socket.is_none() => {
                    arrived.socket = Some(socket);
                }
                // More than was agreed on.
                Arrival::Stream(..) | Arrival::Socket(_) => {}
            }
            waiting.changed.notify_all();
        })
    }

    /// Starts the load, once all its connections have arrived.
    pub(crate) fn start(&mut self, spacing: Spacing) -> Result<(), Refused> {
        if !matches!(self.running, Running::Not) {
            return Err(Refused::Started);
        }
        self.running = match self.order.clone() {
            Order::Tcp(order) => Running::Tcp(self.start_tcp(&order)?),
            Order::Udp(order) => Running::Udp(self.start_udp(&order, spacing)?),
            Order::Quic {
                send, sample_us, ..
            } => Running::Quic(self.start_quic(send, sample_us)?),
            Order::Echo | Order::Short { .. } | Order::Http { .. } => {
                return Err(Refused::Service);
            }
        };
        self.waiting.lock().closed = true;
        Ok(())
    }

    fn start_tcp(&self, order: &TcpOrder) -> Result<TcpLoad, Refused> {
        let mut streams = self.waiting.wait(Arrivals::Connections, |arrived| {
            (arrived.streams.len() == usize::from(order.flows))
                .then(|| std::mem::take(&mut arrived.streams))
        })?;
        streams.sort_by_key(|(index, _)| *index);
        let streams: Vec<_> = streams.into_iter().map(|(_, stream)| stream).collect();
        if let (true, Some(cc)) = (order.send, &order.cc) {
            for stream in &streams {
                socket::set_congestion(stream, cc).map_err(|source| Refused::Congestion {
                    name: cc.clone(),
                    source,
                })?;
            }
        }
        let config = tcp::Config {
            role: role(order),
            zero: Instant::now(),
            sample_interval: interval(order.sample_us),
            lease: self.lease.clone(),
        };
        TcpLoad::start(streams, config).map_err(Refused::Start)
    }

    fn start_udp(&self, order: &UdpOrder, spacing: Spacing) -> Result<UdpLoad, Refused> {
        let socket = self.socket()?;
        let config = udp::Config {
            rate_bps: order.rate_bps,
            payload: order.payload as usize,
            zero: Instant::now(),
            lease: self.lease.clone(),
        };
        let load = if order.send {
            UdpLoad::send_spaced(socket, config, spacing)
        } else {
            UdpLoad::receive(socket, config)
        };
        load.map_err(Refused::Start)
    }

    fn socket(&self) -> Result<UdpSocket, Refused> {
        self.waiting
            .wait(Arrivals::Datagrams, |arrived| arrived.socket.take())
    }

    fn start_quic(&mut self, sends: bool, sample_us: u64) -> Result<QuicLoad, Refused> {
        let identity = self.identity.clone().ok_or(Refused::Started)?;
        let socket = self.socket()?;
        let config = quic::Config {
            sends,
            zero: Instant::now(),
            sample_interval: interval(sample_us),
            lease: self.lease.clone(),
        };
        QuicLoad::start(socket, quic::Handshake::Accept(identity), config).map_err(Refused::Start)
    }

    /// Ends it; its outcome.
    pub(crate) fn finish(mut self) -> Outcome {
        match std::mem::replace(&mut self.running, Running::Not) {
            Running::Not => match self.order {
                Order::Echo => Outcome::Echo(EchoOutcome {}),
                Order::Short { .. } => Outcome::Short(ShortOutcome {}),
                Order::Http { .. } => Outcome::Http(HttpOutcome {}),
                Order::Tcp(_) | Order::Udp(_) | Order::Quic { .. } => Outcome::Nothing,
            },
            Running::Tcp(load) => Outcome::Tcp(load.finish()),
            Running::Udp(load) => Outcome::Udp(load.finish()),
            Running::Quic(load) => Outcome::Quic(load.finish()),
        }
    }
}

impl Drop for Agreement {
    fn drop(&mut self) {
        let mut arrived = self.waiting.lock();
        arrived.closed = true;
        let left = (
            arrived.echo.take(),
            arrived.socket.take(),
            std::mem::take(&mut arrived.streams),
        );
        // New arrivals do not wait for ending ones.
        drop(arrived);
        drop(left);
        if let Some(service) = &self.service {
            service.finish();
        }
    }
}

fn role(order: &TcpOrder) -> Role {
    if order.send {
        Role::Sender
    } else {
        Role::Receiver
    }
}

fn interval(us: u64) -> Duration {
    Duration::from_micros(us).clamp(SAMPLE[0], SAMPLE[1])
}

/// The resources that an order takes.
fn need(order: &Order) -> Need {
    match order {
        Order::Tcp(tcp) => {
            let duration = Duration::from_micros(tcp.duration_us);
            tcp::need(role(tcp), tcp.flows, duration)
        }
        Order::Udp(udp) => udp::need(udp),
        Order::Echo => echo::NEED,
        Order::Short { bytes } | Order::Http { bytes } => server::need(*bytes),
        Order::Quic { duration_us, .. } => quic::need(Duration::from_micros(*duration_us)),
    }
}

/// The service of an order, if it responds to requests.
fn service(order: &Order, limits: &Limits, lease: &Lease) -> Option<RequestServer> {
    let (service, bytes) = match order {
        Order::Short { bytes } => (Service::Short, *bytes),
        Order::Http { bytes } => (Service::Http, *bytes),
        _ => return None,
    };
    Some(RequestServer::new(server::Config {
        service,
        upload: 0,
        bytes,
        connections: limits.flows as usize,
        timeout: SERVICE_TIMEOUT,
        lease: lease.clone(),
    }))
}

/// Checks that an order makes sense here.
fn check(order: &Order, limits: &Limits) -> Result<(), Refused> {
    match order {
        Order::Tcp(tcp) if tcp.flows == 0 || u32::from(tcp.flows) > limits.flows => {
            Err(Refused::Flows { most: limits.flows })
        }
        Order::Udp(udp) => match limits.rate_bps {
            Some(most) if udp.rate_bps > most => Err(Refused::Rate { most }),
            _ if !PAYLOAD.contains(&udp.payload) || udp.rate_bps == 0 => Err(Refused::Datagrams {
                payload: udp.payload,
                rate_bps: udp.rate_bps,
            }),
            _ => Ok(()),
        },
        Order::Short { bytes } | Order::Http { bytes } if !RESPONSE.contains(bytes) => {
            Err(Refused::Responses { bytes: *bytes })
        }
        Order::Quic { .. } if !quic::AVAILABLE => Err(Refused::WithoutQuic),
        Order::Tcp(_)
        | Order::Echo
        | Order::Short { .. }
        | Order::Http { .. }
        | Order::Quic { .. } => Ok(()),
    }
}
