//! The start of a watch, with the parts that a build may lack: the history and its pages.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicBool},
};

use model::{text, text::Text};

use super::drift::Compare;
use crate::{config::Config, http::Live, runs::Runs, state::Folder};

/// Start parameters of a watch.
pub struct Start<'a> {
    /// Configuration.
    pub config: Config,
    /// The history.
    #[cfg(feature = "history")]
    pub place: &'a store::Place,
    /// Version of this program.
    pub program: &'a str,
    /// Seed of all random waits.
    pub seed: u64,
    /// Set when it is to end: that of [`sys::signal::stop_flag`], whose signals end its sleeps.
    pub stop: &'a AtomicBool,
    /// Handles events to log.
    pub log: &'a mut dyn FnMut(&Text),
    /// Compares the kept changes of `tune` with this host, or says why it cannot; asked once an
    /// hour.
    pub drift: Compare<'a>,
}

/// The history; on flash, runs wait for it in the folder in memory.
#[cfg(feature = "history")]
pub(super) fn runs(start: &Start<'_>, folder: &Folder) -> Box<dyn Runs> {
    let history = crate::history::History::new(start.place.clone(), folder.path());
    Box::new(match folder.runtime().filter(|_| start.config.flash) {
        Some(runtime) => history.once_a_day(runtime),
        None => history,
    })
}

#[cfg(not(feature = "history"))]
pub(super) fn runs(_: &Start<'_>, _: &Folder) -> Box<dyn Runs> {
    Box::new(crate::runs::NoRuns)
}

/// What is served, for the log.
pub(super) fn served(address: SocketAddr) -> Text {
    match cfg!(all(feature = "page", feature = "history")) {
        true => text!("pages and metrics at http://{address}/", address = address),
        false => text!("metrics at http://{address}/", address = address),
    }
}

/// The pages and metrics, or metrics alone.
#[cfg(all(feature = "page", feature = "history"))]
pub(super) fn service(start: &Start<'_>, live: &Live) -> Arc<dyn web::Service> {
    let place = start.place.clone();
    let pages = crate::page::Pages::new(place, start.program, Some(live.clone()));
    Arc::new(pages)
}

#[cfg(not(all(feature = "page", feature = "history")))]
pub(super) fn service(_: &Start<'_>, live: &Live) -> Arc<dyn web::Service> {
    Arc::new(crate::http::Metrics(live.clone()))
}
