//! The history of a watch, which must not hold up its loop, and loses no run while it fails.
//!
//! A server that hangs answers no client, whatever timeouts it has itself. So a thread of its own
//! writes, and the loop waits for it only so long. What the history does not take is kept as a file
//! and, if the disk is full too, in memory.

mod of_runs;
mod unsaved;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, SystemTime},
};

use model::{
    history::{Entry, HOST, Kind},
    text,
    text::{Text, Value},
};
use store::{Document, Filter, Place, Saved, Store, StoreError};

use crate::moment::{DAY_NS, HOUR_NS};

/// Time within which the history must answer: below the watchdog of the packaged service (180 s).
const LIMIT: Duration = Duration::from_secs(60);
/// Time for it when the watch ends: below the 90 s after which a service manager kills it.
const LAST_LIMIT: Duration = Duration::from_secs(10);
/// Runs that the history did not take, below the folder of the state.
const UNSAVED: &str = "unsaved";
/// Bytes of runs that are kept in memory at most, while neither history nor disk takes them.
const IN_MEMORY: usize = 16 << 20;
/// Changes of `tune` that are searched for around a run, µs.
const BACK_US: u64 = 48 * 3600 * 1_000_000;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the history.
    History,
    /// In a file, until the history takes it.
    File,
    /// In memory, until the history or the disk takes it.
    Memory,
}

/// The history, and the runs that it has not taken yet.
pub struct History {
    place: Place,
    /// Folders of runs that wait; new ones go into the first.
    folders: Vec<PathBuf>,
    /// True if runs wait for a time of the day.
    is_rare: bool,
    /// Of such a history: when it was written last, and the changes of `tune` that it had.
    seen: (Option<SystemTime>, Vec<(u64, String)>),
    limit: Duration,
    memory: VecDeque<Arc<Document>>,
    /// A thread that had no answer in time.
    late: Option<Receiver<Delivered>>,
    /// What could not be done the last time: it is logged once.
    failed: Option<String>,
}

/// What a thread has done.
#[derive(Default)]
struct Delivered {
    /// Runs of files that the history has taken.
    files: usize,
    /// Documents of memory that it has taken.
    taken: Vec<Arc<Document>>,
    changes: Vec<(u64, String)>,
    error: Option<Text>,
}

impl History {
    /// The history at `place`, with files below the folder of the state.
    pub fn new(place: Place, folder: &Path) -> Self {
        Self {
            place,
            folders: vec![folder.join(UNSAVED)],
            is_rare: false,
            seen: Default::default(),
            limit: LIMIT,
            memory: VecDeque::new(),
            late: None,
            failed: None,
        }
    }

    /// Writes to a file once a day only, or after others have opened it: runs wait below the folder
    /// `runtime`.
    #[must_use]
    pub fn once_a_day(mut self, runtime: &Path) -> Self {
        self.folders.insert(0, runtime.join(UNSAVED));
        self.is_rare = self.place.file().is_some();
        self
    }

    /// Time from one [`Self::retry`] to the next, ns.
    pub fn every_ns(&self) -> u64 {
        match self.is_rare {
            true => DAY_NS,
            false => HOUR_NS,
        }
    }

    /// Waits at most this long for an answer.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Adds a run and all that were not taken before. Returns where the run is, and the changes of
    /// `tune` of the two days before it, as far as the history says.
    pub fn keep(
        &mut self,
        document: Document,
        log: &mut dyn FnMut(&Text),
    ) -> (Kept, Vec<(u64, String)>) {
        let since_us = document.created_us.saturating_sub(BACK_US);
        let document = Arc::new(document);
        self.memory.push_back(document.clone());
        let delivered = match self.is_rare && self.place.written() == self.seen.0 {
            true => Delivered {
                changes: self.seen.1.clone(),
                ..Delivered::default()
            },
            false => self.deliver(Some(since_us)),
        };
        let kept = self.settle(&delivered, log);
        let is_there = |all: &[Arc<Document>]| all.iter().any(|one| Arc::ptr_eq(one, &document));
        let place = match is_there(&delivered.taken) {
            true => Kept::History,
            false if is_there(&kept) => Kept::File,
            false => Kept::Memory,
        };
        (place, delivered.changes)
    }

    /// Adds the runs that were not taken before, if there are any.
    pub fn retry(&mut self, log: &mut dyn FnMut(&Text)) {
        let mut folders = self.folders.iter();
        if self.memory.is_empty() && folders.all(|folder| unsaved::list(folder).is_empty()) {
            return;
        }
        let delivered = self.deliver(None);
        self.settle(&delivered, log);
    }

    /// Tries it a last time, for a short time, and logs the runs that are lost.
    pub fn end(&mut self, log: &mut dyn FnMut(&Text)) {
        self.limit = self.limit.min(LAST_LIMIT);
        self.retry(log);
        if let [memory, disk] = &self.folders[..]
            && let Err(error) = unsaved::rescue(memory, disk)
        {
            log(&text!("write {file}: {error}", file = disk, error = &error));
        }
        for run in self.memory.drain(..) {
            log(&text!(
                "run {run} is lost: neither the history nor the disk takes it, and the watch ends",
                run = &run.id
            ));
        }
    }

    /// Asks a thread to save everything, and waits for it.
    fn deliver(&mut self, since_us: Option<u64>) -> Delivered {
        let answer = match self.late.take() {
            Some(late) => match late.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.late = Some(late);
                    return self.unanswered();
                }
                _ => self.start(since_us),
            },
            None => self.start(since_us),
        };
        match answer.recv_timeout(self.limit) {
            Ok(delivered) => {
                if delivered.error.is_none() {
                    self.see(&delivered, since_us.is_some());
                }
                delivered
            }
            Err(RecvTimeoutError::Timeout) => {
                self.late = Some(answer);
                self.unanswered()
            }
            Err(RecvTimeoutError::Disconnected) => self.unanswered(),
        }
    }

    /// Remembers the history as it is after this watch has written to it.
    fn see(&mut self, delivered: &Delivered, has_changes: bool) {
        self.seen.0 = self.place.written();
        if has_changes {
            self.seen.1.clone_from(&delivered.changes);
        }
    }

    fn start(&self, since_us: Option<u64>) -> Receiver<Delivered> {
        let (sender, answer) = mpsc::channel();
        let (place, folders) = (self.place.clone(), self.folders.clone());
        let memory: Vec<Arc<Document>> = self.memory.iter().cloned().collect();
        // If no thread can be made, the sender is gone: there is no answer.
        let _ = std::thread::Builder::new().spawn(move || {
            // Nobody waits any more if it is late.
            let _ = sender.send(save(&place, &folders, memory, since_us));
        });
        answer
    }

    fn unanswered(&self) -> Delivered {
        Delivered {
            error: Some(text!(
                "{place} does not answer within {time}",
                place = self.place.to_string(),
                time = Value::Us(self.limit.as_micros() as f64)
            )),
            ..Delivered::default()
        }
    }

    /// Keeps what was not taken, as files if possible, and logs it. Returns what is in files now.
    fn settle(&mut self, delivered: &Delivered, log: &mut dyn FnMut(&Text)) -> Vec<Arc<Document>> {
        let taken = |one: &Arc<Document>| delivered.taken.iter().any(|own| Arc::ptr_eq(own, one));
        self.memory.retain(|one| !taken(one));
        let mut written = Vec::new();
        let mut error = delivered.error.clone();
        while let Some(document) = self.memory.pop_front() {
            match unsaved::write(&self.folders[0], &document) {
                Ok(()) => written.push(document),
                Err(why) => {
                    self.memory.push_front(document);
                    error = Some(text!(
                        "{history}; and write {folder}: {error}",
                        history = error.unwrap_or_else(|| text!("the history takes no run")),
                        folder = &self.folders[0],
                        error = &why
                    ));
                    break;
                }
            }
        }
        self.say(delivered, error, log);
        self.forget(log);
        written
    }

    fn say(&mut self, delivered: &Delivered, error: Option<Text>, log: &mut dyn FnMut(&Text)) {
        let failed = error.as_ref().map(Text::to_string);
        if let Some(error) = error
            && self.failed != failed
        {
            let text = match self.memory.is_empty() {
                true => text!(
                    "runs are kept in {folder} for now: {error}",
                    folder = &self.folders[0],
                    error = error
                ),
                false => text!("runs are kept in memory for now: {error}", error = error),
            };
            log(&text);
        }
        self.failed = failed;
        if delivered.files > 0 {
            log(&text!(
                "runs of before are in the history now: {count}",
                count = delivered.files
            ));
        }
    }

    /// Drops the oldest runs of memory if there are too many.
    fn forget(&mut self, log: &mut dyn FnMut(&Text)) {
        let mut bytes: usize = self.memory.iter().map(|one| one.body.len()).sum();
        while bytes > IN_MEMORY
            && let Some(oldest) = self.memory.pop_front()
        {
            bytes -= oldest.body.len();
            log(&text!(
                "run {run} is lost: neither the history nor the disk takes it, and no more fit in memory",
                run = &oldest.id
            ));
        }
    }
}

/// Returns true if a change of `tune` in a history, which many hosts may share, was made from one
/// of these hosts; or if it does not say from which, as one of an older program.
pub(crate) fn is_of(change: &Entry, is_one: impl Fn(&str) -> bool) -> bool {
    change.labels.get(HOST).is_none_or(|host| is_one(host))
}

/// Saves all runs that were not taken before, and reads the changes of `tune` since a time.
fn save(
    place: &Place,
    folders: &[PathBuf],
    memory: Vec<Arc<Document>>,
    since_us: Option<u64>,
) -> Delivered {
    let mut delivered = Delivered::default();
    let done = all(place, folders, memory, since_us, &mut delivered);
    delivered.error = done.err().map(|error| error.text());
    delivered
}

fn all(
    place: &Place,
    folders: &[PathBuf],
    memory: Vec<Arc<Document>>,
    since_us: Option<u64>,
    delivered: &mut Delivered,
) -> Result<(), StoreError> {
    let mut store = Store::open(place)?;
    let mut refused = None;
    for document in memory {
        if is_taken(store.save(&document), &mut refused)? {
            delivered.taken.push(document);
        }
    }
    for folder in folders {
        unsaved::move_to(folder, &mut delivered.files, |document| {
            is_taken(store.save(document), &mut refused)
        })?;
    }
    if let Some(since_us) = since_us {
        let changes = store.list(&Filter {
            kind: Some(Kind::Change),
            since_us: Some(since_us),
            ..Filter::default()
        })?;
        let own = sys::machine::host_name();
        let here = changes.into_iter().filter(|c| is_of(c, |host| host == own));
        delivered.changes = here.map(|c| (c.created_us, c.id)).collect();
    }
    refused.map_or(Ok(()), Err)
}

/// True if a document was taken, false if it was refused for itself: it will be each time, and must
/// not hold up the others. The first such refusal is remembered.
///
/// # Errors
/// The history takes no document now.
fn is_taken(
    saved: Result<Saved, StoreError>,
    refused: &mut Option<StoreError>,
) -> Result<bool, StoreError> {
    match saved {
        Ok(_) => Ok(true),
        Err(
            error @ (StoreError::TooLarge { .. }
            | StoreError::Format { .. }
            | StoreError::Damaged { .. }),
        ) => {
            refused.get_or_insert(error);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
