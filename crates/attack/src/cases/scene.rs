//! Test set-up: a server, a legitimate client, and their state before the attack.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    case::{Seen, Target},
    legitimate::{Client, Figures, PACED, compare},
    process::{Held, most_while, rests},
    served::Served,
    trouble::Trouble,
};

/// A server to attack.
pub(super) struct Scene {
    pub(super) served: Served,
    /// Resources it held before the attack, after its first client.
    pub(super) before: Held,
    without: Figures,
}

impl Deref for Scene {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.served
    }
}

/// Progress of an attack.
pub(super) struct Going<'a> {
    on: &'a AtomicBool,
    ready: &'a AtomicBool,
}

impl Going<'_> {
    pub(super) fn on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Signals that the attack has reached its peak, so that the legitimate client may start.
    pub(super) fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Holds the attack until the legitimate client has measured.
    pub(super) fn hold(&self) {
        self.ready();
        while self.on() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Maximum time for an attack to reach its peak.
const READY: Duration = Duration::from_secs(30);

impl Scene {
    /// A server with a client's usual rates, and the client's figures without an attack.
    pub(super) fn new(target: &Target, arguments: &[&str]) -> Result<Self, Trouble> {
        let arguments = [&[PACED], arguments].concat();
        Self::of(Served::start(target, &arguments)?)
    }

    /// The same for a running server.
    pub(super) fn of(served: Served) -> Result<Self, Trouble> {
        // The memory used by a client is allocated before the attack.
        Self::with(served, Served::at_rest)
    }

    /// The same for a server with limits too small for a normal session.
    pub(super) fn of_small(served: Served) -> Result<Self, Trouble> {
        Self::with(served, |served| Ok(Held::settled(served.pid())?))
    }

    /// The client's figures first, then the resources that the server holds `at_rest`.
    fn with(
        served: Served,
        at_rest: impl Fn(&Served) -> Result<Held, Trouble>,
    ) -> Result<Self, Trouble> {
        let without = Client::start(&served)?.figures()?;
        let before = at_rest(&served)?;
        Ok(Self {
            served,
            before,
            without,
        })
    }

    /// Attacks at least as long as a legitimate client measures; records its figures and the
    /// server's maximum resources.
    pub(super) fn beside<T: Send>(
        &self,
        seen: &mut Seen,
        attack: impl FnOnce(&Going<'_>) -> Result<T, Trouble> + Send,
    ) -> Result<(T, Held), Trouble> {
        let (on, ready) = (AtomicBool::new(true), AtomicBool::new(false));
        let going = Going {
            on: &on,
            ready: &ready,
        };
        let (both, most) = most_while(self.pid(), || {
            thread::scope(|scope| {
                let attacker = scope.spawn(|| attack(&going));
                let begun = Instant::now();
                while !ready.load(Ordering::Relaxed)
                    && !attacker.is_finished()
                    && begun.elapsed() < READY
                {
                    thread::sleep(Duration::from_millis(5));
                }
                let figures = Client::start(&self.served).and_then(Client::figures);
                on.store(false, Ordering::Relaxed);
                let attacked = attacker.join().unwrap_or_else(|_| Err(Trouble::Panicked));
                (figures, attacked)
            })
        })?;
        let (figures, attacked) = both;
        compare(figures, self.without, seen);
        seen.note(format!("at most: {most}"));
        Ok((attacked?, most))
    }

    /// Waits until the server has released its resources; records whether it does.
    pub(super) fn rests(&self, seen: &mut Seen) -> Result<(), Trouble> {
        Ok(rests(self.pid(), &self.before, seen)?)
    }
}
