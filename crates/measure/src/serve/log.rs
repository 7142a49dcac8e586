//! Log of a server: one line per event, written by a separate thread, so that neither a flood of
//! connections nor a blocked log stops the server.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use model::safe::line;

use super::event::{Event, Log};

/// Events that may wait to be written; further ones are dropped.
const WAITING: usize = 256;

/// Refusals that are written in one [`SPAN`]; further ones are counted.
const REFUSALS: u32 = 20;

/// Interval at which the count is written.
const SPAN: Duration = Duration::from_secs(10);

/// Starts a log whose lines `write_line` writes.
///
/// # Errors
/// The thread cannot be started.
pub fn start(write_line: impl Fn(&str) + Send + 'static) -> std::io::Result<Log> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write(&receiver, &write_line))?;
    Ok(std::sync::Arc::new(move |event| queue(&sender, event)))
}

fn queue(sender: &SyncSender<Event>, event: Event) {
    if !matches!(event, Event::Ordered(..)) {
        // A full queue means a flood, of which the first events suffice.
        let _ = sender.try_send(event);
    }
}

fn write(events: &Receiver<Event>, write_line: &dyn Fn(&str)) {
    let mut refusals = Refusals::new(Instant::now());
    loop {
        let event = events.recv_timeout(SPAN);
        if let Some(more) = refusals.span_over(Instant::now()) {
            write_line(&format!("{more} more refused in the last {SPAN:?}"));
        }
        match event {
            Ok(Event::Rejected(peer, why)) if refusals.is_written() => {
                write_line(&format!("{peer} refused: {}", line(&why.to_string())));
            }
            Ok(Event::Rejected(..) | Event::Ordered(..)) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Event::Connected(peer)) => write_line(&format!("{peer} connected")),
            Ok(Event::Disconnected(peer, None)) => write_line(&format!("{peer} disconnected")),
            Ok(Event::Disconnected(peer, Some(why))) => {
                let why = why.to_string();
                write_line(&format!("{peer} disconnected: {}", line(&why)));
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Counts refusals, and selects those that are written.
struct Refusals {
    since: Instant,
    seen: u32,
}

impl Refusals {
    fn new(now: Instant) -> Self {
        Self {
            since: now,
            seen: 0,
        }
    }

    /// At the end of a span: how many were not written, if any were not.
    fn span_over(&mut self, now: Instant) -> Option<u32> {
        if now.duration_since(self.since) < SPAN {
            return None;
        }
        let more = self.seen.saturating_sub(REFUSALS);
        *self = Self::new(now);
        (more > 0).then_some(more)
    }

    /// Counts one.
    fn is_written(&mut self) -> bool {
        self.seen = self.seen.saturating_add(1);
        self.seen <= REFUSALS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_counted_and_not_written() {
        let start = Instant::now();
        let mut refusals = Refusals::new(start);
        let written = (0..2000).filter(|_| refusals.is_written()).count();
        assert_eq!(written as u32, REFUSALS);
        assert_eq!(refusals.span_over(start + SPAN / 2), None);
        assert_eq!(refusals.span_over(start + SPAN), Some(2000 - REFUSALS));
        assert!(refusals.is_written());
        assert_eq!(refusals.span_over(start + SPAN * 2), None);
    }
}
