//! Session of one client.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    account::{Amounts, Refused},
    client::Client,
    lease::Lease,
};

/// Resources that a load requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Resources that it holds from its start to its end.
    pub amounts: Amounts,
    /// Duration; absent = until its session ends, like a service.
    pub duration: Option<Duration>,
    /// Bytes that it is known to move.
    pub bytes: u64,
}

/// A client. When it is dropped, its loads end.
#[derive(Debug)]
pub struct Session(pub(super) Arc<Client>);

impl Session {
    /// Admits a load.
    ///
    /// # Errors
    /// It would exceed a limit; then nothing is held.
    pub fn lease(&self, need: &Need) -> Result<Lease, Refused> {
        let client = &self.0;
        if let (Some(asked), Some(most)) = (need.duration, client.time)
            && asked > most
        {
            return Err(Refused::Time { most });
        }
        match client.bytes.left() {
            Some(0) => return Err(Refused::Bytes),
            Some(left) if need.bytes > left => return Err(Refused::MoreBytes { left }),
            _ => {}
        }
        let held = client.account.take(need.amounts)?;
        let duration = need.duration.unwrap_or(Duration::MAX);
        Ok(Lease::new(client.clone(), duration, held))
    }

    /// Bytes that its loads may still move; absent = without bound.
    pub fn bytes_left(&self) -> Option<u64> {
        self.0.bytes.left()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Relaxed);
    }
}
