//! One client: its requests, in turn.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use traffic::{
    load::{budget::Budget, looks::MEMORY},
    quic,
    wire::{
        Channel, ChannelError, Token,
        message::{Outcome, QUIC, Reply, Request, Welcome},
    },
};

use super::{Event, Shared, agreement::Agreement};
use host::{evidence::Scope, state};

/// How long a client may be silent. It sends a ping more often than this.
const PATIENCE: Duration = Duration::from_secs(60);

/// Agreements of one client at once: one load or service each.
const AGREEMENTS: usize = 32;

/// Counts a session for as long as it lives.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a session in a thread of its own, with the request that has come.
pub(crate) fn start(channel: Channel, first: Request, peer: SocketAddr, shared: &Arc<Shared>) {
    shared.sessions.fetch_add(1, Ordering::Relaxed);
    let counted = Counted(shared.clone());
    let body = move || {
        let shared = &counted.0;
        (shared.log)(Event::Came(peer));
        let mut session = Session::new(channel, peer, shared.clone());
        let why = match session.serve(first) {
            Ok(()) => None,
            Err(error) => Some(error.to_string()),
        };
        drop(session);
        (shared.log)(Event::Left(peer, why));
    };
    let spawned = std::thread::Builder::new()
        .name("session".to_owned())
        .stack_size(256 << 10)
        .spawn(body);
    if let Err(error) = spawned {
        (shared.log)(Event::Refused(peer, format!("no thread for it: {error}")));
    }
}

struct Session {
    channel: Channel,
    peer: SocketAddr,
    shared: Arc<Shared>,
    agreements: HashMap<Token, Agreement>,
    /// What counters are taken of: found out when the facts were asked for.
    scope: Scope,
    mark: Option<state::Mark>,
    /// Bytes that its loads may still move, all together.
    budget: Budget,
    /// Memory for the looks of its loads, all together.
    look_memory: Budget,
}

impl Drop for Session {
    fn drop(&mut self) {
        for (token, agreement) in self.agreements.drain() {
            self.shared.registry.remove(token);
            let _ = agreement.finish();
        }
    }
}

impl Session {
    fn new(channel: Channel, peer: SocketAddr, shared: Arc<Shared>) -> Self {
        Self {
            budget: Budget::new(shared.config.limits.bytes),
            look_memory: Budget::new(Some(MEMORY)),
            channel,
            peer,
            shared,
            agreements: HashMap::new(),
            scope: Scope::default(),
            mark: None,
        }
    }

    fn serve(&mut self, first: Request) -> Result<(), ChannelError> {
        self.channel.set_patience(Some(PATIENCE));
        let mut request = first;
        while !self.shared.stopped() && request != Request::Bye {
            let reply = self.reply(request);
            self.channel.send(&reply)?;
            request = match self.channel.receive() {
                Ok(request) => request,
                // Gone without a word: nothing is wrong at this end.
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
                // The one before gives way first: only one at a time samples the processors.
                self.mark = None;
                self.mark = Some(state::Mark::now(&self.scope, hotspots));
                Ok(Reply::Done)
            }
            Request::Evidence => self.evidence(),
            Request::Open(order) => self.open(order),
            Request::Start { token } => self.start(token),
            Request::Finish { token } => self.finish(token),
            Request::Ping | Request::Bye => Ok(Reply::Done),
        };
        result.unwrap_or_else(|why| Reply::No { why })
    }

    fn welcome(&self) -> Welcome {
        Welcome {
            program: self.shared.config.program.clone(),
            abilities: quic::AVAILABLE
                .then(|| QUIC.to_owned())
                .into_iter()
                .collect(),
            congestion: state::congestion(),
            limits: self.shared.config.limits,
        }
    }

    fn evidence(&mut self) -> Result<Reply, String> {
        let mark = self.mark.take().ok_or("no mark was set")?;
        Ok(Reply::Evidence {
            evidence: Box::new(mark.evidence()),
        })
    }

    fn open(&mut self, order: traffic::wire::message::Order) -> Result<Reply, String> {
        if self.agreements.len() >= AGREEMENTS {
            return Err(format!("more than {AGREEMENTS} loads at once"));
        }
        let limits = &self.shared.config.limits;
        (self.shared.log)(Event::Asked(self.peer, format!("{order:?}")));
        let agreement = Agreement::new(order, limits, &self.budget, &self.look_memory)?;
        let token = Token::generate().map_err(|e| e.to_string())?;
        let key = agreement.public_key();
        self.shared.registry.add(token, agreement.taker());
        self.agreements.insert(token, agreement);
        Ok(Reply::Opened { token, key })
    }

    fn start(&mut self, token: Token) -> Result<Reply, String> {
        let agreement = self.agreements.get_mut(&token).ok_or("no such load")?;
        agreement.start()?;
        Ok(Reply::Done)
    }

    fn finish(&mut self, token: Token) -> Result<Reply, String> {
        let agreement = self.agreements.remove(&token).ok_or("no such load")?;
        self.shared.registry.remove(token);
        let outcome: Outcome = agreement.finish();
        Ok(Reply::Finished {
            outcome: Box::new(outcome),
        })
    }
}
