//! The far end from the view of the near end.

mod data;
mod error;
pub mod load;
mod reply;

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::AsFd,
    time::Duration,
};

use model::{evidence::Evidence, facts::HostFacts, text::Text};
use traffic::wire::{
    Channel, ChannelError, Key, Ticket, Token, channel,
    message::{Numbered, Request, SLOT, Welcome},
};

pub use data::{connector, datagrams, stream, streams};
pub use error::{Action, FarError};
pub use reply::{Named, Outcome};

use load::{Agreed, Load, Service};
use reply::{Counters, Done, Ended, Facts, Finished, Opened, Reply};

/// Timeout of a connection.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Timeout of a reply after the run was ended.
const HURRIED: Duration = Duration::from_secs(5);

/// Longest reply, bytes after inflation: many connections sampled for minutes.
const LONGEST_REPLY: usize = 64 << 20;

/// A session with the far end.
pub struct Far {
    control: Control,
    address: SocketAddr,
    /// Its description of itself.
    pub welcome: Welcome,
    /// Loads and services that have not ended.
    open: Vec<Token>,
}

impl Far {
    /// Opens a session.
    ///
    /// # Errors
    /// Nothing listens at `address`, it is not a server of this protocol, or it rejects this
    /// client.
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
        let mut control = Control {
            channel,
            requested: 0,
        };
        let welcome = control.request("hello", hello)?;
        Ok(Self {
            control,
            address,
            welcome,
            open: Vec::new(),
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
        self.control.channel.stream().local_addr()
    }

    /// Round trip of the control connection by the kernel's estimate, µs.
    pub fn round_trip_us(&self) -> Option<f64> {
        let info = sys::tcp_info::read(self.control.channel.stream().as_fd()).ok()?;
        info.min_rtt_us.map(f64::from)
    }

    /// The far host's facts, with the path from there to `toward`.
    ///
    /// # Errors
    /// The far end refuses, or the session failed.
    pub fn facts(&mut self, toward: Option<IpAddr>) -> Result<HostFacts, FarError> {
        let facts: Facts = self.control.request("facts", Request::Facts { toward })?;
        Ok(facts.facts)
    }

    /// Makes the far host record its counters, and with `hotspots` sample its processors from now
    /// on if permitted.
    ///
    /// # Errors
    /// The far end refuses, or the session failed.
    pub fn mark(&mut self, hotspots: bool) -> Result<(), FarError> {
        let Done {} = self.control.request("mark", Request::Mark { hotspots })?;
        Ok(())
    }

    /// Changes of the far host's counters since the mark.
    ///
    /// # Errors
    /// There was no mark, or the session failed.
    pub fn evidence(&mut self) -> Result<Evidence, FarError> {
        let counters: Counters = self.control.request("evidence", Request::Evidence)?;
        Ok(counters.evidence)
    }

    /// Returns true if it has an ability that not every server has.
    pub fn can(&self, ability: &str) -> bool {
        self.welcome.abilities.iter().any(|a| a == ability)
    }

    /// Agrees on a load or a service.
    ///
    /// # Errors
    /// The far end refuses because its limits do not allow it, or the session failed.
    pub fn open<S: Service>(&mut self, service: &S) -> Result<Agreed<S>, FarError> {
        let request = Request::Open(service.order());
        let opened: Opened<S::Key> = self.control.request("open", request)?;
        let Opened { token, secret, key } = opened;
        self.open.push(token);
        Ok(Agreed::new(Ticket { token, secret }, key))
    }

    /// Starts the far half of a load.
    ///
    /// # Errors
    /// The far end refuses, as it does when connections or datagrams of the load did not arrive, or
    /// the session failed.
    pub fn start<L: Load>(&mut self, load: &Agreed<L>) -> Result<(), FarError> {
        let token = load.token;
        let Done {} = self.control.request("start", Request::Start { token })?;
        Ok(())
    }

    /// Ends a load or a service, and returns the far end's result.
    ///
    /// # Errors
    /// The far end has forgotten it, or the session failed.
    pub fn finish<S: Service>(&mut self, service: Agreed<S>) -> Result<S::Outcome, FarError> {
        let token = service.token;
        self.open.retain(|open| *open != token);
        let finished: Finished<S::Outcome> =
            self.control.request("finish", Request::Finish { token })?;
        Ok(finished.outcome.0)
    }

    /// Ends all loads and services that have not ended, whose results nobody needs: each counts
    /// against the far end's limit.
    ///
    /// # Errors
    /// The session failed.
    pub fn abandon(&mut self) -> Result<(), FarError> {
        for token in std::mem::take(&mut self.open) {
            let ended: Result<Ended, _> = self.control.request("finish", Request::Finish { token });
            if let Err(error) = ended
                && error.is_final()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes the slot for loads of clients that watch, until the session ends. A server without
    /// that ability grants none, and needs none.
    ///
    /// # Errors
    /// Another session has it ([`FarError::is_busy`]), or the session failed.
    pub fn slot(&mut self) -> Result<(), FarError> {
        if !self.can(SLOT) {
            return Ok(());
        }
        let Done {} = self.control.request("slot", Request::Slot)?;
        Ok(())
    }

    /// Shows that this end is still there.
    ///
    /// # Errors
    /// The session failed.
    pub fn ping(&mut self) -> Result<(), FarError> {
        let Done {} = self.control.request("ping", Request::Ping)?;
        Ok(())
    }

    /// Waits for a few seconds only from now on: this end's operator has ended the run, and the
    /// path may be dead.
    pub fn hurry(&mut self) {
        self.control.channel.set_timeout(Some(HURRIED));
    }

    /// Ends the session.
    pub fn bye(mut self) {
        let _ = self.control.send(Request::Bye);
        self.control.channel.close();
    }
}

/// The outcome in a reply to `finish`, as read by [`Far::finish`]; `None`: the far end refuses.
/// `requested`: number of that request; `limit`: maximum bytes of the inflated message.
///
/// # Errors
/// It is too long or damaged, the reply to another request, or the outcome of another service.
pub fn outcome<S: Service>(
    requested: u32,
    deflated: bool,
    bytes: &[u8],
    limit: usize,
) -> Result<Option<S::Outcome>, ChannelError> {
    let reply: Numbered<Reply<Finished<S::Outcome>>> = channel::unpack(deflated, bytes, limit)?;
    let reply = reply_to(requested, reply)?;
    Ok(reply.0.ok().map(|finished| finished.outcome.0))
}

/// The reply to the request of a number, if it is that.
fn reply_to<A>(requested: u32, Numbered(number, reply): Numbered<A>) -> Result<A, ChannelError> {
    match number == requested {
        true => Ok(reply),
        false => Err(ChannelError::Number {
            due: requested,
            got: number,
        }),
    }
}

/// The control channel, with the number of the last request.
struct Control {
    channel: Channel,
    requested: u32,
}

impl Control {
    fn send(&mut self, request: Request) -> Result<(), ChannelError> {
        self.requested = self.requested.wrapping_add(1);
        self.channel.send(&Numbered(self.requested, request))
    }

    /// Sends a request and takes its reply, which must be an `A`.
    fn request<A: Named>(&mut self, name: &'static str, request: Request) -> Result<A, FarError> {
        self.send(request)?;
        let reply: Result<Numbered<Reply<A>>, _> = self.channel.receive();
        let reply = reply.and_then(|reply| reply_to(self.requested, reply));
        let reply = reply.map_err(|source| match source {
            ChannelError::Message { .. } | ChannelError::Number { .. } => FarError::Reply {
                request: name,
                source,
            },
            source => FarError::Channel(source),
        })?;
        reply.0.map_err(|refusal| FarError::Refused {
            code: refusal.code,
            why: refusal.text.unwrap_or_else(|| Text::name(refusal.why)),
        })
    }
}
