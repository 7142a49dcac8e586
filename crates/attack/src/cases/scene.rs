//! A server, a legitimate client beside the attack, and what both were like before.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    case::{Seen, Target, Trouble},
    legitimate::{Client, Figures, PACED, compare},
    process::{Held, most_while, rests},
    served::Served,
};

/// A server to attack.
pub(super) struct Scene {
    pub(super) served: Served,
    /// What it held before the attack, and after its first client.
    pub(super) before: Held,
    without: Figures,
}

impl Deref for Scene {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.served
    }
}

/// Whether an attack is to go on, and whether it has what it wants.
pub(super) struct Going<'a> {
    on: &'a AtomicBool,
    ready: &'a AtomicBool,
}

impl Going<'_> {
    pub(super) fn on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Says that the attack is at its worst: a legitimate client may come.
    pub(super) fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Goes on as it is until the legitimate client has measured.
    pub(super) fn hold(&self) {
        self.ready();
        while self.on() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Longest that an attack may take to be at its worst.
const READY: Duration = Duration::from_secs(30);

impl Scene {
    /// A server with a client's usual rates, and what a client measures without an attack.
    pub(super) fn new(target: &Target, arguments: &[&str]) -> Result<Self, Trouble> {
        let arguments = [&[PACED], arguments].concat();
        Self::of(Served::start(target, &arguments)?)
    }

    /// The same, of a server that runs.
    pub(super) fn of(served: Served) -> Result<Self, Trouble> {
        let without = Client::start(&served)?.figures()?;
        // Memory that a client costs is there before the attackers come.
        let before = served.at_rest()?;
        Ok(Self {
            served,
            before,
            without,
        })
    }

    /// The same, of a server that is too small for all that a session may otherwise have.
    pub(super) fn of_small(served: Served) -> Result<Self, Trouble> {
        let without = Client::start(&served)?.figures()?;
        let before = Held::settled(served.pid())?;
        Ok(Self {
            served,
            before,
            without,
        })
    }

    /// Attacks for as long as a legitimate client measures, at least; notes what it measured and
    /// what the server held at most.
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
                let attacked = attacker
                    .join()
                    .unwrap_or_else(|_| Err(Trouble::setup("the attacker ended by a panic")));
                (figures, attacked)
            })
        })?;
        let (figures, attacked) = both;
        compare(figures, self.without, seen);
        seen.note(format!("at most: {most}"));
        Ok((attacked?, most))
    }

    /// Waits until the server holds what it held before; notes whether it does.
    pub(super) fn rests(&self, seen: &mut Seen) -> Result<(), Trouble> {
        Ok(rests(self.pid(), &self.before, seen)?)
    }
}
