//! What a client and the server agreed on: a load or a service, what has come in for it, and what
//! runs of it.

use std::{
    net::{TcpStream, UdpSocket},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sys::{clock::Instant, socket};
use traffic::{
    load::{
        answers::{self, Answers, Manner},
        budget::Budget,
        echo::Echo,
        tcp::{self, TcpLoad},
        udp::{self, UdpLoad},
    },
    quic::{self, Identity, QuicLoad},
    tcp::Role,
    wire::PublicKey,
    wire::message::{Limits, Order, Outcome, TcpOrder, UdpOrder},
};

use super::registry::{Arrival, Taker};

/// How long after its start a load waits for what belongs to it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Longest and shortest time between looks.
const LOOK: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(1)];

/// How long a peer of a service may take to ask, and to take any part of its answer.
const SERVICE_PATIENCE: Duration = Duration::from_secs(10);

/// Longest answer to a request, bytes.
const LONGEST_ANSWER: u64 = 1 << 30;

/// Streams and sockets that have come in.
#[derive(Default)]
struct Came {
    streams: Vec<(u16, TcpStream)>,
    socket: Option<UdpSocket>,
    echoes: Vec<Echo>,
}

#[derive(Default)]
struct Waiting {
    came: Mutex<Came>,
    changed: Condvar,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Came> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready` holds, and takes what it gives.
    fn wait<T>(&self, mut ready: impl FnMut(&mut Came) -> Option<T>) -> Option<T> {
        let deadline = Instant::now().after(PATIENCE);
        let mut came = self.lock();
        loop {
            if let Some(value) = ready(&mut came) {
                return Some(value);
            }
            let left = deadline.since(Instant::now());
            let left = Duration::from_nanos(u64::try_from(left).ok().filter(|ns| *ns > 0)?);
            came = self
                .changed
                .wait_timeout(came, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// An agreement.
pub(crate) struct Agreement {
    order: Order,
    rate_bps: Option<u64>,
    budget: Budget,
    look_memory: Budget,
    waiting: Arc<Waiting>,
    /// Answers to requests, from the moment it is agreed on.
    answers: Option<Arc<Answers>>,
    /// Who this end is in QUIC.
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
    /// Agrees to an order, or says why not.
    pub(crate) fn new(
        order: Order,
        limits: &Limits,
        budget: &Budget,
        look_memory: &Budget,
    ) -> Result<Self, String> {
        let left = budget.left();
        match &order {
            Order::Tcp(tcp) => check_tcp(tcp, limits)?,
            Order::Udp(udp) => check_udp(udp, limits, left)?,
            Order::Echo => {}
            Order::Short { bytes } | Order::Http { bytes } => check_answer(*bytes, left)?,
            Order::Quic { .. } if !quic::AVAILABLE => {
                return Err("this server does not do that".to_owned());
            }
            Order::Quic { duration_us, .. } => check_time(*duration_us, limits)?,
        }
        if left == Some(0) {
            return Err("the limit of bytes is reached".to_owned());
        }
        let identity = matches!(order, Order::Quic { .. }).then(Identity::generate);
        Ok(Self {
            identity: identity.transpose().map_err(|e| e.to_string())?,
            answers: answers(&order, limits, budget).map(Arc::new),
            order,
            rate_bps: limits.rate_bps,
            budget: budget.clone(),
            look_memory: look_memory.clone(),
            waiting: Arc::default(),
            running: Running::Not,
        })
    }

    /// The key that this end will show.
    pub(crate) fn public_key(&self) -> Option<PublicKey> {
        self.identity.as_ref().map(Identity::public_key)
    }

    /// Takes what comes in for it.
    pub(crate) fn taker(&self) -> Taker {
        if let Some(answers) = self.answers.clone() {
            return Arc::new(move |arrival| {
                if let Arrival::Stream(_, stream) = arrival {
                    answers.take(stream);
                }
            });
        }
        let waiting = self.waiting.clone();
        let echo = matches!(self.order, Order::Echo);
        let flows = match &self.order {
            Order::Tcp(tcp) => usize::from(tcp.flows),
            _ => 0,
        };
        Arc::new(move |arrival| {
            let mut came = waiting.lock();
            match arrival {
                Arrival::Stream(index, stream) if came.streams.len() < flows => {
                    came.streams.push((index, stream));
                }
                Arrival::Socket(socket) if echo && came.echoes.is_empty() => {
                    came.echoes.extend(Echo::start(socket).ok());
                }
                Arrival::Socket(socket) if !echo => came.socket = Some(socket),
                // More than was agreed on.
                Arrival::Stream(..) | Arrival::Socket(_) => {}
            }
            waiting.changed.notify_all();
        })
    }

    /// Starts the load, once all that belongs to it has come in.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        self.running = match self.order.clone() {
            Order::Tcp(order) => Running::Tcp(self.start_tcp(&order)?),
            Order::Udp(order) => Running::Udp(self.start_udp(&order)?),
            Order::Quic {
                send,
                duration_us,
                look_us,
            } => Running::Quic(self.start_quic(send, duration_us, look_us)?),
            _ => return Err("there is nothing to start".to_owned()),
        };
        Ok(())
    }

    fn start_tcp(&self, order: &TcpOrder) -> Result<TcpLoad, String> {
        let mut streams = self
            .waiting
            .wait(|came| {
                (came.streams.len() == usize::from(order.flows))
                    .then(|| std::mem::take(&mut came.streams))
            })
            .ok_or("its connections did not arrive")?;
        streams.sort_by_key(|(index, _)| *index);
        let streams: Vec<_> = streams.into_iter().map(|(_, stream)| stream).collect();
        if let (true, Some(cc)) = (order.send, &order.cc) {
            for stream in &streams {
                socket::set_congestion(stream, cc)
                    .map_err(|e| format!("congestion control {cc}: {e}"))?;
            }
        }
        let terms = tcp::Terms {
            role: if order.send {
                Role::Sender
            } else {
                Role::Receiver
            },
            zero: Instant::now(),
            duration: Duration::from_micros(order.duration_us),
            look: Duration::from_micros(order.look_us).clamp(LOOK[0], LOOK[1]),
            rate_bps: self.rate_bps,
            budget: self.budget.clone(),
            look_memory: self.look_memory.clone(),
        };
        TcpLoad::start(streams, terms).map_err(|e| e.to_string())
    }

    fn start_udp(&self, order: &UdpOrder) -> Result<UdpLoad, String> {
        let socket = self.socket()?;
        let terms = udp::Terms {
            rate_bps: order.rate_bps,
            payload: order.payload as usize,
            zero: Instant::now(),
            duration: Duration::from_micros(order.duration_us),
            budget: self.budget.clone(),
        };
        let load = if order.send {
            UdpLoad::send(socket, terms)
        } else {
            UdpLoad::receive(socket, terms)
        };
        load.map_err(|e| e.to_string())
    }

    fn socket(&self) -> Result<UdpSocket, String> {
        self.waiting
            .wait(|came| came.socket.take())
            .ok_or_else(|| "its datagrams did not arrive".to_owned())
    }

    fn start_quic(
        &mut self,
        sends: bool,
        duration_us: u64,
        look_us: u64,
    ) -> Result<QuicLoad, String> {
        let identity = self.identity.take().ok_or("it runs already")?;
        let socket = self.socket()?;
        let terms = quic::Terms {
            sends,
            zero: Instant::now(),
            duration: Duration::from_micros(duration_us),
            look: Duration::from_micros(look_us).clamp(LOOK[0], LOOK[1]),
            rate_bps: self.rate_bps,
            budget: self.budget.clone(),
        };
        QuicLoad::start(socket, quic::Side::Far(identity), terms).map_err(|e| e.to_string())
    }

    /// Ends it and says what came of it.
    pub(crate) fn finish(self) -> Outcome {
        for echo in std::mem::take(&mut self.waiting.lock().echoes) {
            echo.finish();
        }
        if let Some(answers) = self.answers {
            answers.finish();
        }
        match self.running {
            Running::Not => Outcome::Nothing,
            Running::Tcp(load) => Outcome::Tcp(load.finish()),
            Running::Udp(load) => Outcome::Udp(load.finish()),
            Running::Quic(load) => Outcome::Quic(load.finish()),
        }
    }
}

/// The service that an order asks for, if it asks for one that answers requests.
fn answers(order: &Order, limits: &Limits, budget: &Budget) -> Option<Answers> {
    let (manner, bytes) = match order {
        Order::Short { bytes } => (Manner::Short, *bytes),
        Order::Http { bytes } => (Manner::Http, *bytes),
        _ => return None,
    };
    Some(Answers::new(answers::Terms {
        manner,
        bytes,
        most: limits.flows as usize,
        patience: SERVICE_PATIENCE,
        rate_bps: limits.rate_bps,
        budget: budget.clone(),
    }))
}

fn check_answer(bytes: u64, left: Option<u64>) -> Result<(), String> {
    if !(1..=LONGEST_ANSWER).contains(&bytes) {
        return Err(format!("an answer has 1 to {LONGEST_ANSWER} bytes"));
    }
    if left.is_some_and(|left| bytes > left) {
        return Err("this would pass the limit of bytes".to_owned());
    }
    Ok(())
}

fn check_time(duration_us: u64, limits: &Limits) -> Result<(), String> {
    match limits.time_s {
        Some(most) if duration_us as f64 / 1e6 > most => {
            Err(format!("a load may last {most} s here"))
        }
        _ => Ok(()),
    }
}

fn check_tcp(order: &TcpOrder, limits: &Limits) -> Result<(), String> {
    if order.flows == 0 || u32::from(order.flows) > limits.flows {
        return Err(format!(
            "a load may have 1 to {} connections here",
            limits.flows
        ));
    }
    check_time(order.duration_us, limits)
}

fn check_udp(order: &UdpOrder, limits: &Limits, left: Option<u64>) -> Result<(), String> {
    if let Some(most) = limits.rate_bps
        && order.rate_bps > most
    {
        return Err(format!("the rate may be {most} bit/s here"));
    }
    if !(17..=65_507).contains(&order.payload) || order.rate_bps == 0 {
        return Err("a datagram has 17 to 65507 bytes, and a rate is not 0".to_owned());
    }
    let bytes = order.rate_bps as f64 / 8.0 * order.duration_us as f64 / 1e6;
    if left.is_some_and(|left| bytes > left as f64) {
        return Err("this would pass the limit of bytes".to_owned());
    }
    check_time(order.duration_us, limits)
}
