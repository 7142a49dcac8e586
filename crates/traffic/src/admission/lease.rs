//! Lease of one load: its allowance, and the resources that it holds.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sys::clock::Instant;

use super::{
    account::{Account, Amounts, Held, Refused, Scope},
    bytes::{Budget, Spent},
    client::{Client, Meters},
    meter::{self, Meter},
};

/// Grace time after the end of a load: its peer starts later by the delay of one message, and data
/// in flight at that time still counts.
pub const GRACE: Duration = Duration::from_secs(1);

/// A load: the resources it holds, and the budgets it uses. Copies share the same lease.
#[derive(Clone, Debug)]
pub struct Lease(Arc<Leased>);

#[derive(Debug)]
struct Leased {
    client: Arc<Client>,
    duration: Duration,
    _held: Held,
}

impl Lease {
    /// For a load of this host's user, limited only by the request to send and receive no more than
    /// `bytes`, and no faster than `rate_bps` in each direction.
    pub fn own(duration: Duration, bytes: Option<u64>, rate_bps: Option<u64>) -> Self {
        let account = Account::new(Scope::Session, Amounts::ALL, None);
        let meter = || [Meter::new(rate_bps), Meter::new(None)];
        let client = Client {
            time: None,
            bytes: Budget::new(bytes),
            large: Budget::new(None),
            meters: Meters {
                sent: meter(),
                received: meter(),
            },
            ended: AtomicBool::new(false),
            _held: None,
            account: account.clone(),
        };
        Self::new(Arc::new(client), duration, Held::nothing(account))
    }

    pub(super) fn new(client: Arc<Client>, duration: Duration, held: Held) -> Self {
        Self(Arc::new(Leased {
            client,
            duration,
            _held: held,
        }))
    }

    /// Returns the requested duration of the load.
    pub fn duration(&self) -> Duration {
        self.0.duration
    }

    /// Returns the latest end of a load that has started at `zero`.
    pub fn deadline(&self, zero: Instant) -> Instant {
        zero.after(self.0.duration.saturating_add(GRACE))
    }

    /// Returns true if its session has ended, so that the load must end, too.
    pub fn is_over(&self) -> bool {
        self.0.client.ended.load(Ordering::Relaxed)
    }

    /// Bytes that its session may still move; absent = without bound.
    pub fn bytes_left(&self) -> Option<u64> {
        self.0.client.bytes.left()
    }

    /// Returns true if bytes or rate are limited.
    pub fn is_metered(&self) -> bool {
        let Client { bytes, meters, .. } = &*self.0.client;
        let all = meters.sent.iter().chain(&meters.received);
        bytes.left().is_some() || all.into_iter().any(|m| m.rate_bps().is_some())
    }

    /// The lowest bound of the rate in one direction, bit/s; absent = none.
    pub fn rate_bps(&self) -> Option<u64> {
        let meters = &self.0.client.meters.sent;
        meters.iter().filter_map(Meter::rate_bps).min()
    }

    /// Returns the maximum bytes per call for an even rate.
    pub fn chunk(&self, most: usize) -> usize {
        self.rate_bps()
            .map_or(most, |bps| most.min(meter::chunk(bps)))
    }

    /// Takes up to `most` bytes to be sent now; report the number sent to [`sent`](Self::sent).
    ///
    /// # Errors
    /// No bytes of the session are left.
    pub fn take(&self, most: usize) -> Result<usize, Spent> {
        let bytes = self.0.client.bytes.take_up_to(self.chunk(most) as u64)?;
        Ok(bytes as usize)
    }

    /// Takes up to `most` whole datagrams of `size` bytes; returns their number.
    ///
    /// # Errors
    /// No more may be sent.
    pub fn take_datagrams(&self, size: usize, most: usize) -> Result<usize, Spent> {
        let most = (self.chunk(size.saturating_mul(most)) / size.max(1)).clamp(1, most.max(1));
        let budget = &self.0.client.bytes;
        let wanted = (most * size) as u64;
        let got = budget.take_up_to(wanted)?;
        let whole = got / size.max(1) as u64;
        budget.give_back(got - whole * size as u64);
        if whole == 0 && size > 0 {
            return Err(Spent);
        }
        Ok(whole as usize)
    }

    /// Reports that `sent` of `taken` bytes were sent. Returns the time until which sending must
    /// pause, if it must.
    pub fn sent(&self, taken: usize, sent: usize) -> Option<Instant> {
        let client = &self.0.client;
        client.bytes.give_back(taken.saturating_sub(sent) as u64);
        Meter::charge(&client.meters.sent, sent as u64)
    }

    /// Records the arrival of this many bytes. Returns until when no more should be read, if not
    /// now.
    ///
    /// # Errors
    /// They are more than may be received; the load must end.
    pub fn received(&self, bytes: u64) -> Result<Option<Instant>, Spent> {
        let client = &self.0.client;
        client.bytes.spend(bytes)?;
        Ok(Meter::charge(&client.meters.received, bytes))
    }

    /// Returns true if a reply of `bytes` may be sent now to a datagram of `asked` bytes, and
    /// charges it. Replies longer than their request are also charged to a separate budget.
    pub fn may_answer(&self, asked: usize, bytes: usize) -> bool {
        let client = &self.0.client;
        let bytes = bytes as u64;
        if Meter::is_behind(&client.meters.sent) {
            return false;
        }
        if bytes > asked as u64 && client.large.reserve(bytes).is_err() {
            return false;
        }
        if client.bytes.reserve(bytes).is_err() {
            return false;
        }
        let _ = Meter::charge(&client.meters.sent, bytes);
        true
    }

    /// Holds more for this load.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn hold(&self, amounts: Amounts) -> Result<Hold, Refused> {
        let held = self.0.client.account.take(amounts)?;
        Ok(Hold {
            _lease: self.clone(),
            held,
        })
    }

    /// Takes this many bytes of memory, or the available ones if that is less.
    pub fn hold_memory(&self, bytes: u64) -> Hold {
        Hold {
            held: self.0.client.account.take_memory(bytes),
            _lease: self.clone(),
        }
    }
}

/// Resources that a load holds temporarily.
#[derive(Debug)]
pub struct Hold {
    held: Held,
    _lease: Lease,
}

impl Hold {
    /// Resources held.
    pub fn amounts(&self) -> Amounts {
        self.held.amounts()
    }
}
