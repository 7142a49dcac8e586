//! Parts of a watch that a build may lack: the history and its pages.

use std::{net::SocketAddr, sync::Arc};

use model::{text, text::Text};

use super::Start;
use crate::{http::Live, runs::Runs, state::Folder};

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
