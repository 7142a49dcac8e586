//! Amounts that are held for a time: counted at a session, its address, its network and the server.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use model::{
    text,
    text::{Text, Value},
};

/// A limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Clients.
    Sessions,
    /// Loads and services.
    Loads,
    /// TCP connections of loads, and streams of iperf3.
    Connections,
    /// Threads.
    Threads,
    /// File descriptors.
    Descriptors,
    /// Bytes of memory for samples and buffers, the kernel's included.
    Memory,
    /// Bit/s that are agreed to be sent as datagrams.
    SendRate,
    /// Bit/s that are agreed to be received as datagrams.
    ReceiveRate,
}

impl Resource {
    fn text(self) -> Text {
        match self {
            Self::Sessions => text!("sessions"),
            Self::Loads => text!("loads"),
            Self::Connections => text!("connections"),
            Self::Threads => text!("threads"),
            Self::Descriptors => text!("descriptors"),
            Self::Memory => text!("bytes of memory"),
            Self::SendRate => text!("bit/s as the rate of all UDP loads that it sends"),
            Self::ReceiveRate => text!("bit/s as the rate of all UDP loads that it receives"),
        }
    }
}

/// Scope of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Account of a client.
    Session,
    /// All clients at one address (IPv4) or in one /64 (IPv6).
    Address,
    /// All clients in one /24 (IPv4) or /56 (IPv6).
    Network,
    /// All clients.
    Server,
}

/// Reason for refusing admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A limit of an amount in use at a time.
    Limit {
        /// The resource.
        resource: Resource,
        /// Scope of the limit.
        scope: Scope,
        /// The limit.
        most: u64,
    },
    /// It would last too long.
    Time {
        /// The limit.
        most: Duration,
    },
    /// All bytes are used up.
    Bytes,
    /// It is known to need more bytes than are left.
    MoreBytes {
        /// The remainder.
        left: u64,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// The reason, for people.
    pub fn text(&self) -> Text {
        match self {
            Self::Limit {
                resource,
                scope,
                most,
            } => limit(*resource, *scope, *most),
            Self::Time { most } => text!(
                "a load may last {most} s here",
                most = Value::Count(most.as_secs_f64())
            ),
            Self::Bytes => text!("the byte limit is reached"),
            Self::MoreBytes { left } => text!(
                "this would exceed the byte limit, of which {left} bytes are left",
                left = *left
            ),
        }
    }

    /// Returns true if it may be admitted later, when others have left.
    pub fn is_passing(&self) -> bool {
        let others = |scope: &Scope| *scope != Scope::Session;
        matches!(self, Self::Limit { scope, .. } if others(scope))
    }
}

fn limit(resource: Resource, scope: Scope, most: u64) -> Text {
    let resource = resource.text();
    match scope {
        Scope::Session => text!(
            "a client may have {most} {resource} here",
            most = most,
            resource = resource
        ),
        Scope::Address => text!(
            "clients at one address may have {most} {resource} here: try again later",
            most = most,
            resource = resource
        ),
        Scope::Network => text!(
            "clients of one network may have {most} {resource} here: try again later",
            most = most,
            resource = resource
        ),
        Scope::Server => text!(
            "all clients together may have {most} {resource} here: try again later",
            most = most,
            resource = resource
        ),
    }
}

/// Amounts of each resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// [`Resource::Sessions`].
    pub sessions: u64,
    /// [`Resource::Loads`].
    pub loads: u64,
    /// [`Resource::Connections`].
    pub connections: u64,
    /// [`Resource::Threads`].
    pub threads: u64,
    /// [`Resource::Descriptors`].
    pub descriptors: u64,
    /// [`Resource::Memory`], bytes.
    pub memory: u64,
    /// [`Resource::SendRate`], bit/s.
    pub send_bps: u64,
    /// [`Resource::ReceiveRate`], bit/s.
    pub receive_bps: u64,
}

/// Number of resources.
const ALL: usize = 8;

impl Amounts {
    /// All amounts 0.
    pub const NONE: Self = Self::each(0);
    /// All amounts unlimited.
    pub const ALL: Self = Self::each(u64::MAX);

    const fn each(n: u64) -> Self {
        Self {
            sessions: n,
            loads: n,
            connections: n,
            threads: n,
            descriptors: n,
            memory: n,
            send_bps: n,
            receive_bps: n,
        }
    }

    fn parts(&self) -> [(Resource, u64); ALL] {
        [
            (Resource::Sessions, self.sessions),
            (Resource::Loads, self.loads),
            (Resource::Connections, self.connections),
            (Resource::Threads, self.threads),
            (Resource::Descriptors, self.descriptors),
            (Resource::Memory, self.memory),
            (Resource::SendRate, self.send_bps),
            (Resource::ReceiveRate, self.receive_bps),
        ]
    }

    fn of(parts: [u64; ALL]) -> Self {
        let [
            sessions,
            loads,
            connections,
            threads,
            descriptors,
            memory,
            send_bps,
            receive_bps,
        ] = parts;
        Self {
            sessions,
            loads,
            connections,
            threads,
            descriptors,
            memory,
            send_bps,
            receive_bps,
        }
    }

    /// Each amount as `f` makes it.
    pub(super) fn map(&self, f: impl Fn(u64) -> u64) -> Self {
        Self::of(self.parts().map(|(_, n)| f(n)))
    }

    fn with(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let (a, b) = (self.parts(), other.parts());
        Self::of(std::array::from_fn(|i| f(a[i].1, b[i].1)))
    }
}

/// Resources held at one level, and its limits.
#[derive(Debug)]
pub(super) struct Account {
    scope: Scope,
    caps: Amounts,
    held: Mutex<Amounts>,
    parent: Option<Arc<Account>>,
}

impl Account {
    pub(super) fn new(scope: Scope, caps: Amounts, parent: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            scope,
            caps,
            held: Mutex::default(),
            parent,
        })
    }

    /// Resources held now, by it and all below it.
    pub(super) fn held(&self) -> Amounts {
        *self.lock()
    }

    /// Takes amounts here and at all levels above.
    pub(super) fn take(self: &Arc<Self>, amounts: Amounts) -> Result<Held, Refused> {
        self.acquire(&amounts)?;
        Ok(Held {
            account: self.clone(),
            amounts,
        })
    }

    /// This account and all above it, the server last.
    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |account| account.parent.as_deref())
    }

    fn acquire(&self, amounts: &Amounts) -> Result<(), Refused> {
        for (above, level) in self.levels().enumerate() {
            level.add(amounts).inspect_err(|_| {
                let taken = self.levels().take(above);
                taken.for_each(|level| level.subtract(amounts));
            })?;
        }
        Ok(())
    }

    /// Takes up to this many bytes of memory.
    pub(super) fn take_memory(self: &Arc<Self>, bytes: u64) -> Held {
        let mut wanted = bytes;
        loop {
            wanted = wanted.min(self.room().memory);
            let amounts = Amounts {
                memory: wanted,
                ..Amounts::NONE
            };
            match self.take(amounts) {
                Ok(held) => return held,
                // Other threads took some in the meantime.
                Err(_) if wanted > 0 => wanted /= 2,
                Err(_) => return Held::nothing(self.clone()),
            }
        }
    }

    /// Resources that could be taken now.
    fn room(&self) -> Amounts {
        let rooms = self.levels().map(|level| {
            let held = level.held();
            level.caps.with(&held, u64::saturating_sub)
        });
        rooms.fold(Amounts::ALL, |all, room| all.with(&room, u64::min))
    }

    fn add(&self, amounts: &Amounts) -> Result<(), Refused> {
        let mut held = self.lock();
        let after = held.with(amounts, u64::saturating_add);
        for (((resource, after), (_, most)), (_, wanted)) in after
            .parts()
            .into_iter()
            .zip(self.caps.parts())
            .zip(amounts.parts())
        {
            if wanted > 0 && after > most {
                return Err(Refused::Limit {
                    resource,
                    scope: self.scope,
                    most,
                });
            }
        }
        *held = after;
        Ok(())
    }

    fn subtract(&self, amounts: &Amounts) {
        let mut held = self.lock();
        *held = held.with(amounts, u64::saturating_sub);
    }

    fn give_back(&self, amounts: &Amounts) {
        self.levels().for_each(|level| level.subtract(amounts));
    }

    fn lock(&self) -> MutexGuard<'_, Amounts> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Amounts that go back when it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    account: Arc<Account>,
    amounts: Amounts,
}

impl Held {
    pub(super) fn nothing(account: Arc<Account>) -> Self {
        Self {
            account,
            amounts: Amounts::NONE,
        }
    }

    pub(super) fn amounts(&self) -> Amounts {
        self.amounts
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.give_back(&self.amounts);
    }
}
