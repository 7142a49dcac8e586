//! Session of a client.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use sys::clock::Instant;
use traffic::{
    admission, quic,
    wire::{
        Channel, ChannelError, Ticket, Token,
        message::{Numbered, Order, Outcome, QUIC, Reply, Request, SLOT, Welcome},
    },
};

use super::{
    agreement::Agreement, event::Event, refused::Refused, rejected::Rejected, shared::Shared, slot,
};
use host::{evidence::Scope, state};

/// Idle timeout of a client. It sends a ping more often than this.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a session in its own thread, with the received request.
pub(crate) fn start(
    channel: Channel,
    first: Numbered<Request>,
    peer: SocketAddr,
    admitted: admission::Session,
    shared: &Arc<Shared>,
) {
    let log = shared.log.clone();
    let shared = shared.clone();
    let body = move || {
        (shared.log)(Event::Connected(peer));
        let mut session = Session::new(channel, peer, admitted, shared.clone());
        let why = session.serve(first).err();
        drop(session);
        // The samples and messages of a long load have taken much memory that is free now.
        sys::memory::trim();
        (shared.log)(Event::Disconnected(peer, why));
    };
    let spawned = std::thread::Builder::new()
        .name("session".to_owned())
        .stack_size(256 << 10)
        .spawn(body);
    if let Err(error) = spawned {
        log(Event::Rejected(peer, Rejected::Thread(error)));
    }
}

struct Session {
    channel: Channel,
    peer: SocketAddr,
    shared: Arc<Shared>,
    /// Declared before the admission, so that loads end first.
    agreements: HashMap<Token, Agreement>,
    admitted: admission::Session,
    /// Devices whose counters are read: known after the facts are collected.
    scope: Scope,
    mark: Option<state::Mark>,
    slot: Option<slot::Number>,
}

impl Drop for Session {
    fn drop(&mut self) {
        for (token, agreement) in self.agreements.drain() {
            self.shared.registry.remove(token);
            drop(agreement);
        }
        if let Some(number) = &self.slot {
            self.shared.slot.free(number);
        }
    }
}

impl Session {
    fn new(
        channel: Channel,
        peer: SocketAddr,
        admitted: admission::Session,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            channel,
            peer,
            shared,
            agreements: HashMap::new(),
            admitted,
            scope: Scope::default(),
            mark: None,
            slot: None,
        }
    }

    fn serve(&mut self, first: Numbered<Request>) -> Result<(), ChannelError> {
        self.channel.set_timeout(Some(TIMEOUT));
        let Numbered(mut number, mut request) = first;
        while !self.shared.stopped() && request != Request::Bye {
            let reply = self.reply(request);
            self.channel.send(&Numbered(number, reply))?;
            Numbered(number, request) = match self.channel.receive() {
                Ok(request) => request,
                // Closed without a `bye`: not an error of this end.
                Err(ChannelError::Io(e)) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    fn reply(&mut self, request: Request) -> Reply {
        let result = match request {
            Request::Hello { .. } => Ok(Reply::Welcome(self.welcome())),
            Request::Facts { toward } => {
                let toward = toward.unwrap_or(self.peer.ip().to_canonical());
                let (facts, scope) = state::facts(Some(toward));
                self.scope = scope;
                Ok(Reply::Facts {
                    facts: Box::new(facts),
                })
            }
            Request::Mark { hotspots } => {
                // The one before is dropped first: only one at a time samples the processors.
                self.mark = None;
                self.mark = Some(state::Mark::now(&self.scope, hotspots));
                Ok(Reply::Done)
            }
            Request::Evidence => self.evidence(),
            Request::Open(order) => self.open(order),
            Request::Start { token } => self.start(token),
            Request::Finish { token } => self.finish(token),
            Request::Slot => self.slot(),
            Request::Ping | Request::Bye => Ok(Reply::Done),
        };
        result.unwrap_or_else(|refused| Reply::No {
            code: refused.code(),
            why: refused.to_string(),
            text: Some(Box::new(refused.text())),
        })
    }

    fn welcome(&self) -> Welcome {
        Welcome {
            program: self.shared.config.program.clone(),
            abilities: [Some(SLOT), quic::AVAILABLE.then_some(QUIC)]
                .into_iter()
                .flatten()
                .map(str::to_owned)
                .collect(),
            congestion: state::congestion(),
            limits: *self.shared.config.admission.limits(),
        }
    }

    fn slot(&mut self) -> Result<Reply, Refused> {
        if self.slot.is_none() {
            self.slot = Some(self.shared.slot.take(Instant::now()).ok_or(Refused::Slot)?);
        }
        Ok(Reply::Done)
    }

    fn evidence(&mut self) -> Result<Reply, Refused> {
        let mark = self.mark.take().ok_or(Refused::Unmarked)?;
        Ok(Reply::Evidence {
            evidence: Box::new(mark.evidence()),
        })
    }

    fn open(&mut self, order: Order) -> Result<Reply, Refused> {
        let limits = self.shared.config.admission.limits();
        (self.shared.log)(Event::Ordered(self.peer, order.clone()));
        let agreement = Agreement::new(order, limits, &self.admitted)?;
        let ticket = Ticket::generate().map_err(Refused::Random)?;
        let key = agreement.public_key();
        self.shared.registry.add(ticket, agreement.taker());
        let Ticket { token, secret } = ticket;
        self.agreements.insert(token, agreement);
        Ok(Reply::Opened { token, secret, key })
    }

    fn start(&mut self, token: Token) -> Result<Reply, Refused> {
        let agreement = self.agreements.get_mut(&token).ok_or(Refused::Unknown)?;
        agreement.start(self.shared.config.spacing)?;
        Ok(Reply::Done)
    }

    fn finish(&mut self, token: Token) -> Result<Reply, Refused> {
        let agreement = self.agreements.remove(&token).ok_or(Refused::Unknown)?;
        self.shared.registry.remove(token);
        let outcome: Outcome = agreement.finish();
        Ok(Reply::Finished {
            outcome: Box::new(outcome),
        })
    }
}
