//! The far end from the view of the near end.

mod answer;
mod data;
mod error;
pub mod load;

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::AsFd,
    time::Duration,
};

use model::{evidence::Evidence, facts::HostFacts};
use traffic::wire::{
    Channel, ChannelError, Key, Ticket, channel,
    message::{Request, Welcome},
};

pub use answer::{Named, Nothing, Outcome};
pub use data::{connector, datagrams, stream, streams};
pub use error::{Action, FarError};

use answer::{Counters, Done, Facts, Finished, Opened, Reply};
use load::{Agreed, Load, Service};

/// How long to wait for a connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Longest reply, bytes after inflation: many connections sampled for minutes.
const LONGEST_REPLY: usize = 64 << 20;

/// A session with the far end.
pub struct Far {
    channel: Channel,
    address: SocketAddr,
    /// What it reported of itself.
    pub welcome: Welcome,
}

impl Far {
    /// Opens a session.
    ///
    /// # Errors
    /// Nothing listens at `address`, it is no server of this protocol, or it does not let this
    /// client in.
    pub fn connect(address: SocketAddr, key: &Key, program: &str) -> Result<Self, FarError> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)
            .map_err(|source| FarError::Connect { address, source })?;
        stream
            .set_read_timeout(Some(TIMEOUT))
            .map_err(ChannelError::from)?;
        let mut channel = Channel::connect(stream, key, LONGEST_REPLY)?;
        channel.set_timeout(Some(TIMEOUT * 3));
        let hello = Request::Hello {
            program: program.to_owned(),
        };
        let welcome = ask(&mut channel, "hello", &hello)?;
        Ok(Self {
            channel,
            address,
            welcome,
        })
    }

    /// The control connection's address at the far end.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The control connection's address at this end.
    ///
    /// # Errors
    /// The socket is not connected any more.
    pub fn own_address(&self) -> io::Result<SocketAddr> {
        self.channel.stream().local_addr()
    }

    /// Round trip of the control connection by the kernel's estimate, µs.
    pub fn round_trip_us(&self) -> Option<f64> {
        let info = sys::tcp_info::read(self.channel.stream().as_fd()).ok()?;
        info.min_rtt_us.map(f64::from)
    }

    /// The far host's facts, with the path from there to `toward`.
    ///
    /// # Errors
    /// The far end refuses, or the session failed.
    pub fn facts(&mut self, toward: Option<IpAddr>) -> Result<HostFacts, FarError> {
        let facts: Facts = ask(&mut self.channel, "facts", &Request::Facts { toward })?;
        Ok(facts.facts)
    }

    /// Lets the far host remember its counters, and with `hotspots` sample its processors from now
    /// on if it may.
    ///
    /// # Errors
    /// The far end refuses, or the session failed.
    pub fn mark(&mut self, hotspots: bool) -> Result<(), FarError> {
        let Done {} = ask(&mut self.channel, "mark", &Request::Mark { hotspots })?;
        Ok(())
    }

    /// What the far host's counters did since.
    ///
    /// # Errors
    /// There was no mark, or the session failed.
    pub fn evidence(&mut self) -> Result<Evidence, FarError> {
        let counters: Counters = ask(&mut self.channel, "evidence", &Request::Evidence)?;
        Ok(counters.evidence)
    }

    /// Whether it can do what not every server can.
    pub fn can(&self, ability: &str) -> bool {
        self.welcome.abilities.iter().any(|a| a == ability)
    }

    /// Agrees on a load or a service.
    ///
    /// # Errors
    /// The far end refuses, as it does what its limits do not allow, or the session failed.
    pub fn open<S: Service>(&mut self, service: &S) -> Result<Agreed<S>, FarError> {
        let request = Request::Open(service.order());
        let opened: Opened<S::Key> = ask(&mut self.channel, "open", &request)?;
        let Opened { token, secret, key } = opened;
        Ok(Agreed::new(Ticket { token, secret }, key))
    }

    /// Starts the far half of a load.
    ///
    /// # Errors
    /// The far end refuses, as it does when connections or datagrams of the load did not arrive, or
    /// the session failed.
    pub fn start<L: Load>(&mut self, load: &Agreed<L>) -> Result<(), FarError> {
        let token = load.token;
        let Done {} = ask(&mut self.channel, "start", &Request::Start { token })?;
        Ok(())
    }

    /// Ends a load or a service, and takes what the far end saw of it.
    ///
    /// # Errors
    /// The far end does not know it any more, or the session failed.
    pub fn finish<S: Service>(&mut self, service: Agreed<S>) -> Result<S::Outcome, FarError> {
        let token = service.token;
        let finished: Finished<S::Outcome> =
            ask(&mut self.channel, "finish", &Request::Finish { token })?;
        Ok(finished.outcome.0)
    }

    /// Shows that this end is still there.
    ///
    /// # Errors
    /// The session failed.
    pub fn ping(&mut self) -> Result<(), FarError> {
        let Done {} = ask(&mut self.channel, "ping", &Request::Ping)?;
        Ok(())
    }

    /// Ends the session.
    pub fn bye(mut self) {
        let _ = self.channel.send(&Request::Bye);
        self.channel.close();
    }
}

/// The outcome in the content of a message that answers `finish`, as [`Far::finish`] reads it;
/// `None`: the far end refuses. `limit`: most bytes that it may have when it is inflated.
///
/// # Errors
/// It is too long or damaged, or the reply to something else, or the outcome of another service.
pub fn outcome<S: Service>(
    deflated: bool,
    bytes: &[u8],
    limit: usize,
) -> Result<Option<S::Outcome>, ChannelError> {
    let reply: Reply<Finished<S::Outcome>> = channel::unpack(deflated, bytes, limit)?;
    Ok(reply.0.ok().map(|finished| finished.outcome.0))
}

/// Sends a request and takes its reply, which must be an `A`.
fn ask<A: Named>(
    channel: &mut Channel,
    name: &'static str,
    request: &Request,
) -> Result<A, FarError> {
    channel.send(request)?;
    let reply: Reply<A> = channel.receive().map_err(|source| match source {
        ChannelError::Message { .. } => FarError::Reply {
            request: name,
            source,
        },
        source => FarError::Channel(source),
    })?;
    reply.0.map_err(|refusal| FarError::Refused {
        code: refusal.code,
        why: refusal.why,
    })
}
