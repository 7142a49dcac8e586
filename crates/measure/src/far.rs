//! The far end, as the near end talks to it.

use std::{
    io,
    net::{SocketAddr, TcpStream, UdpSocket},
    time::Duration,
};

use model::{evidence::Evidence, facts::HostFacts};
use sys::socket;
use traffic::wire::{
    Channel, ChannelError, Key, PublicKey, Ticket,
    datagram::{Datagram, GREETING},
    message::{Code, Order, Outcome, Reply, Request, Welcome},
};

/// How long to wait for a connection or a reply.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Longest reply, bytes after inflation: many connections looked at for minutes.
const LONGEST_REPLY: usize = 64 << 20;

/// Times a greeting datagram is sent before the address counts as dead, and how long each waits.
const TRIES: u32 = 8;
/// Proofs that are sent without an answer before it counts as lost.
const PROOFS: u32 = 3;
const TRY: Duration = Duration::from_millis(750);

/// Why the far end did not do its part.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// No connection.
    #[error(
        "connect to {address}: {source}; is `pathtwin serve` running there, and is the port open?"
    )]
    Connect {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The control channel.
    #[error("{0}")]
    Channel(#[from] ChannelError),
    /// The far end said no.
    #[error("the far end: {why}")]
    Refused {
        /// What kind of reason it gave.
        code: Code,
        /// The reason.
        why: String,
    },
    /// What this end's own host refused.
    #[error("this end: {what}: {source}")]
    Own {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// A plan of which iperf3 can do nothing.
    #[error("the plan has no step that iperf3 can do: give it one of kind tcp")]
    Plan,
    /// It answered something that was not asked.
    #[error("the far end gave an answer that does not fit the question")]
    Confused,
    /// A data connection or socket.
    #[error("{what} to {address}: {source}")]
    Data {
        /// What was tried.
        what: &'static str,
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

impl FarError {
    /// Whether the session is over, so that no further step makes sense.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Channel(_) | Self::Connect { .. })
    }
}

/// A session with the far end.
pub struct Far {
    channel: Channel,
    address: SocketAddr,
    /// What it said of itself.
    pub welcome: Welcome,
}

impl Far {
    /// Opens a session.
    pub fn connect(address: SocketAddr, key: &Key, program: &str) -> Result<Self, FarError> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)
            .map_err(|source| FarError::Connect { address, source })?;
        stream
            .set_read_timeout(Some(TIMEOUT))
            .map_err(ChannelError::from)?;
        let mut channel = Channel::connect(stream, key, LONGEST_REPLY)?;
        channel.set_timeout(Some(TIMEOUT * 3));
        channel.send(&Request::Hello {
            program: program.to_owned(),
        })?;
        match channel.receive()? {
            Reply::Welcome(welcome) => Ok(Self {
                channel,
                address,
                welcome,
            }),
            Reply::No { code, why } => Err(FarError::Refused { code, why }),
            _ => Err(FarError::Confused),
        }
    }

    /// The control connection's address at the far end.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The control connection's address at this end.
    pub fn own_address(&self) -> io::Result<SocketAddr> {
        self.channel.stream().local_addr()
    }

    fn ask(&mut self, request: &Request) -> Result<Reply, FarError> {
        self.channel.send(request)?;
        match self.channel.receive()? {
            Reply::No { code, why } => Err(FarError::Refused { code, why }),
            reply => Ok(reply),
        }
    }

    fn done(&mut self, request: &Request) -> Result<(), FarError> {
        match self.ask(request)? {
            Reply::Done => Ok(()),
            _ => Err(FarError::Confused),
        }
    }

    /// The far host's facts.
    pub fn facts(&mut self, toward: Option<std::net::IpAddr>) -> Result<HostFacts, FarError> {
        match self.ask(&Request::Facts { toward })? {
            Reply::Facts { facts } => Ok(*facts),
            _ => Err(FarError::Confused),
        }
    }

    /// Lets the far host remember its counters, and with `hotspots` sample its processors from now
    /// on if it may.
    pub fn mark(&mut self, hotspots: bool) -> Result<(), FarError> {
        self.done(&Request::Mark { hotspots })
    }

    /// What the far host's counters did since.
    pub fn evidence(&mut self) -> Result<Evidence, FarError> {
        match self.ask(&Request::Evidence)? {
            Reply::Evidence { evidence } => Ok(*evidence),
            _ => Err(FarError::Confused),
        }
    }

    /// Whether it can do what not every server can.
    pub fn can(&self, ability: &str) -> bool {
        self.welcome.abilities.iter().any(|a| a == ability)
    }

    /// Agrees on a load or a service.
    pub fn open(&mut self, order: Order) -> Result<Ticket, FarError> {
        match self.ask(&Request::Open(order))? {
            Reply::Opened { token, secret, .. } => Ok(Ticket { token, secret }),
            _ => Err(FarError::Confused),
        }
    }

    /// As [`open`](Self::open), of a load whose far end shows a key.
    pub fn open_with_key(&mut self, order: Order) -> Result<(Ticket, PublicKey), FarError> {
        match self.ask(&Request::Open(order))? {
            Reply::Opened {
                token,
                secret,
                key: Some(key),
            } => Ok((Ticket { token, secret }, key)),
            _ => Err(FarError::Confused),
        }
    }

    /// Starts the far half of a load.
    pub fn start(&mut self, ticket: Ticket) -> Result<(), FarError> {
        let token = ticket.token;
        self.done(&Request::Start { token })
    }

    /// Ends a load or a service.
    pub fn finish(&mut self, ticket: Ticket) -> Result<Outcome, FarError> {
        let token = ticket.token;
        match self.ask(&Request::Finish { token })? {
            Reply::Finished { outcome } => Ok(*outcome),
            _ => Err(FarError::Confused),
        }
    }

    /// Shows that this end is still there.
    pub fn ping(&mut self) -> Result<(), FarError> {
        self.done(&Request::Ping)
    }

    /// Ends the session.
    pub fn bye(mut self) {
        let _ = self.channel.send(&Request::Bye);
        self.channel.close();
    }
}

/// Opens connections for requests of their own; what they say first is up to the client. Each try
/// waits for as long as `timeout`.
pub fn connector(address: SocketAddr, timeout: Duration) -> traffic::load::requests::Connect {
    Box::new(move || TcpStream::connect_timeout(&address, timeout))
}

/// Makes the data connections of a load.
pub fn streams(
    ticket: Ticket,
    address: SocketAddr,
    flows: u16,
) -> Result<Vec<TcpStream>, FarError> {
    (0..flows)
        .map(|index| {
            let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
            let greeting = ticket.greeting(index.into());
            io::Write::write_all(&mut &stream, &greeting.bytes())?;
            Ok(stream)
        })
        .collect::<io::Result<_>>()
        .map_err(|source| FarError::Data {
            what: "connect",
            address,
            source,
        })
}

/// A UDP socket whose address the far end has seen to receive.
pub fn datagrams(ticket: Ticket, address: SocketAddr) -> Result<UdpSocket, FarError> {
    prove(ticket, address).map_err(|source| FarError::Data {
        what: "send datagrams",
        address,
        source,
    })
}

fn prove(ticket: Ticket, address: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = if address.is_ipv4() {
        (std::net::Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (std::net::Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = socket::udp(any)?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(TRY))?;
    let token = ticket.token;
    let mut next = Datagram::Hello(token);
    let mut proofs = 0;
    for _ in 0..TRIES {
        // Word that nobody listens may come and go; what counts is an answer.
        let _ = socket.send(&next.greeting());
        if matches!(next, Datagram::Prove(..)) {
            proofs += 1;
        }
        let mut bytes = [0; GREETING];
        while let Ok(n) = socket.recv(&mut bytes) {
            match Datagram::parse(&bytes[..n]) {
                Some(Datagram::Challenge(t, challenge)) if t == token => {
                    next = Datagram::Prove(token, ticket.challenge_code(&challenge));
                    proofs += 1;
                    socket.send(&next.greeting())?;
                }
                Some(Datagram::Proved(t)) if t == token => return Ok(socket),
                _ => {}
            }
        }
        // The far end may have got the proof and its answer be lost: it has a socket for this
        // address then, which takes no more proofs. If not, the start of the load will say so.
        if proofs >= PROOFS {
            return Ok(socket);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        format!("no answer to {TRIES} datagrams; is the UDP port open?"),
    ))
}
