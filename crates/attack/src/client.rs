//! Hostile client of the measurement protocol.
//!
//! It contains all knowledge of the protocol that the attacks need, so that protocol changes affect
//! only this module.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use model::text::Text;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};
use traffic::wire::{
    Channel, Key, Ticket,
    datagram::{Datagram, GREETING},
    greeting::CONTROL,
    message::{Numbered, Order, Outcome, Reply, Request, TcpOrder, UdpOrder},
};

use crate::trouble::Trouble;

/// Timeout of a reply, above the server's limits.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Longest reply, bytes.
const LONGEST: usize = 64 << 20;

/// Timeout of a reply to a datagram, and the number of attempts.
const TRY: Duration = Duration::from_millis(150);
const TRIES: usize = 20;

/// A control channel under the key.
pub struct Session {
    channel: Channel,
    at: SocketAddr,
    from: IpAddr,
    flows: u16,
    /// Number of the last request, and of the last that was answered.
    asked: u32,
    answered: u32,
}

/// An accepted load or service.
#[derive(Debug)]
pub struct Opened {
    ticket: Ticket,
    /// Number of the next data connection; each can be used once.
    next: AtomicU32,
}

/// The first request of every session.
pub fn hello() -> Request {
    Request::Hello {
        program: "attack".to_owned(),
    }
}

impl Session {
    /// Opens a session with the key, from an address of this host.
    ///
    /// # Errors
    /// The session is rejected.
    pub fn open_from(from: IpAddr, at: SocketAddr, key: &Key) -> Result<Self, Trouble> {
        let stream = connect_from(from, at)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let mut channel = Channel::connect(stream, key, LONGEST)?;
        channel.set_timeout(Some(TIMEOUT));
        let mut session = Self {
            channel,
            at,
            from,
            flows: 1,
            asked: 0,
            answered: 0,
        };
        if let Reply::Welcome(welcome) = session.ask(&hello())? {
            session.flows = u16::try_from(welcome.limits.flows).unwrap_or(u16::MAX);
        }
        Ok(session)
    }

    /// Maximum connections of one load.
    pub fn flows(&self) -> u16 {
        self.flows
    }

    /// Opens a session with the key.
    ///
    /// # Errors
    /// The session is rejected.
    pub fn new(at: SocketAddr, key: &Key) -> Result<Self, Trouble> {
        Self::open_from(at.ip(), at, key)
    }

    /// Waits for one more reply, which must be that to the first request without one.
    ///
    /// # Errors
    /// The server rejects the request, answers another one, or the channel ends.
    pub fn reply(&mut self) -> Result<Reply, Trouble> {
        let Numbered(number, reply) = self.channel.receive()?;
        self.answered += 1;
        if number != self.answered {
            let due = self.answered;
            return Err(Trouble::Order { number, due });
        }
        match reply {
            Reply::No { code, why, text } => Err(Trouble::Refused {
                code,
                why: text.map_or_else(|| Text::name(why), |text| *text),
            }),
            reply => Ok(reply),
        }
    }

    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    /// The server rejects the request, or the channel ends.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, Trouble> {
        self.post(request)?;
        self.reply()
    }

    /// Sends a request without waiting for a reply.
    ///
    /// # Errors
    /// The channel ended.
    pub fn post(&mut self, request: &Request) -> Result<(), Trouble> {
        self.asked += 1;
        Ok(self.channel.send(&Numbered(self.asked, request))?)
    }

    /// Sets the timeout of replies.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.channel.set_timeout(Some(timeout));
    }

    /// Opens a load or a service.
    ///
    /// # Errors
    /// The server rejects the request, or the channel ends.
    pub fn open(&mut self, order: Order) -> Result<Opened, Trouble> {
        match self.ask(&Request::Open(order))? {
            Reply::Opened { token, secret, .. } => Ok(Opened {
                ticket: Ticket { token, secret },
                next: AtomicU32::new(0),
            }),
            other => Err(Trouble::Reply {
                reply: Box::new(other),
                request: "open",
            }),
        }
    }

    /// Starts a load.
    ///
    /// # Errors
    /// The server rejects the request, or the channel ends.
    pub fn start(&mut self, opened: &Opened) -> Result<(), Trouble> {
        let token = opened.ticket.token;
        self.ask(&Request::Start { token }).map(|_| ())
    }

    /// Ends a load or a service.
    ///
    /// # Errors
    /// The server rejects the request, or the channel ends.
    pub fn finish(&mut self, opened: &Opened) -> Result<Outcome, Trouble> {
        let token = opened.ticket.token;
        match self.ask(&Request::Finish { token })? {
            Reply::Finished { outcome } => Ok(*outcome),
            other => Err(Trouble::Reply {
                reply: Box::new(other),
                request: "finish",
            }),
        }
    }

    /// Opens a data connection.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn stream(&self, opened: &Opened) -> io::Result<TcpStream> {
        let mut stream = connect_from(self.from, self.at)?;
        let number = opened.next.fetch_add(1, Ordering::Relaxed);
        stream.write_all(&self.greeting(opened, number))?;
        Ok(stream)
    }

    /// The first bytes of a data connection, as seen on the path.
    pub fn greeting(&self, opened: &Opened, number: u32) -> Vec<u8> {
        opened.ticket.greeting(number).bytes()
    }

    /// Opens several data connections.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn streams(&self, opened: &Opened, count: u16) -> io::Result<Vec<TcpStream>> {
        (0..count).map(|_| self.stream(opened)).collect()
    }

    /// A socket with a proved address.
    ///
    /// # Errors
    /// It was not proved.
    pub fn proved(&self, opened: &Opened) -> Result<UdpSocket, Trouble> {
        let socket = UdpSocket::bind((self.from, 0))?;
        socket.connect(self.at)?;
        if !prove(&socket, |challenge| self.answer(opened, challenge))? {
            return Err(Trouble::NotProved);
        }
        Ok(socket)
    }

    /// The next datagram in the proof of an address: at the start, or after a challenge.
    pub fn answer(&self, opened: &Opened, challenge: Option<&[u8]>) -> Vec<u8> {
        let ticket = &opened.ticket;
        let next = match challenge.and_then(Datagram::parse) {
            Some(Datagram::Challenge(token, challenge)) => {
                Datagram::Prove(token, ticket.challenge_code(&challenge))
            }
            _ => Datagram::Hello(ticket.token),
        };
        next.greeting().to_vec()
    }

    /// Ends the session as after a power loss of its host, except for the kernel's reset.
    pub fn drop_dead(self) {
        drop(self.channel);
    }
}

/// Proves an address on a connected socket, with the datagrams returned by `answer`.
///
/// # Errors
/// The kernel refuses.
pub fn prove(
    socket: &UdpSocket,
    mut answer: impl FnMut(Option<&[u8]>) -> Vec<u8>,
) -> io::Result<bool> {
    socket.set_read_timeout(Some(TRY))?;
    let mut next = answer(None);
    for _ in 0..TRIES {
        let _ = socket.send(&next);
        let mut bytes = [0; GREETING * 4];
        while let Ok(n) = socket.recv(&mut bytes) {
            match Datagram::parse(&bytes[..n]) {
                Some(Datagram::Challenge(..)) => {
                    next = answer(Some(&bytes[..n]));
                    let _ = socket.send(&next);
                }
                Some(Datagram::Proved(_)) => return Ok(true),
                _ => {}
            }
        }
    }
    Ok(false)
}

/// Returns true if a datagram confirms that an address is proved.
pub fn is_proved(bytes: &[u8]) -> bool {
    matches!(Datagram::parse(bytes), Some(Datagram::Proved(_)))
}

/// Datagrams of a stranger who has observed those of a client but does not have its secrets: the
/// original `hello`, and a forged proof.
pub fn stranger(overheard: &[u8]) -> impl FnMut(Option<&[u8]>) -> Vec<u8> {
    let overheard = overheard.to_vec();
    move |challenge| match challenge.and_then(Datagram::parse) {
        Some(Datagram::Challenge(token, secret)) => {
            Datagram::Prove(token, secret).greeting().to_vec()
        }
        _ => overheard.clone(),
    }
}

/// A TCP load that the server sends or receives.
pub fn tcp(send: bool, flows: u16, duration: Duration) -> Order {
    Order::Tcp(TcpOrder {
        send,
        flows,
        cc: None,
        duration_us: duration.as_micros() as u64,
        sample_us: 1000,
    })
}

/// A UDP load that the server sends or receives.
pub fn udp(send: bool, rate_bps: u64, payload: u32, duration: Duration) -> Order {
    Order::Udp(UdpOrder {
        send,
        rate_bps,
        payload,
        duration_us: duration.as_micros() as u64,
    })
}

/// Connects from an address of this host.
///
/// # Errors
/// The kernel refuses.
pub fn connect_from(from: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddr::new(from, 0))?;
    connect(&socket, &to)?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// A greeting of a client with the key, as recorded on the path.
///
/// # Errors
/// The kernel refuses.
pub fn recorded(key: &Key) -> io::Result<[u8; CONTROL]> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let key = key.clone();
    let client = std::thread::spawn(move || Channel::connect(stream, &key, 1000).is_ok());
    let (mut tap, _) = listener.accept()?;
    let mut bytes = [0; CONTROL];
    tap.read_exact(&mut bytes)?;
    drop(tap);
    let _ = client.join();
    Ok(bytes)
}

/// Reads until nothing has arrived for `silence`, until the end, or until `deadline`.
pub fn drain(stream: &mut TcpStream, silence: Duration, deadline: Instant) -> u64 {
    let _ = stream.set_read_timeout(Some(silence));
    let mut buffer = vec![0; 1 << 18];
    let mut sum = 0;
    while Instant::now() < deadline {
        match stream.read(&mut buffer) {
            Ok(n @ 1..) => sum += n as u64,
            _ => break,
        }
    }
    sum
}

/// Like [`drain`], for a datagram socket: payload bytes, without those of the proof.
pub fn drain_datagrams(socket: &UdpSocket, silence: Duration, deadline: Instant) -> u64 {
    let _ = socket.set_read_timeout(Some(silence));
    let mut buffer = vec![0; 1 << 16];
    let mut sum = 0;
    let mut last = Instant::now();
    while Instant::now() < deadline && last.elapsed() < silence {
        if let Ok(n) = socket.recv(&mut buffer)
            && !matches!(
                Datagram::parse(&buffer[..n]),
                Some(Datagram::Challenge(..) | Datagram::Proved(_))
            )
        {
            sum += n as u64;
            last = Instant::now();
        }
    }
    sum
}
