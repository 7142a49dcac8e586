//! Pages of a history: overview of all paths, single paths, matrix of hosts, reports of runs.
//!
//! `watch` serves them with its live values, and `pathtwin dashboard` without a watch. No request
//! changes anything.

mod collect;
mod memory;
mod mesh;
mod present;
mod summary;

use std::{
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    time::Duration,
};

use model::{
    history::{FigureName, Kind, StepName},
    run::Run,
    text,
    text::{Text, Value},
};
use report::{
    documents::Documents,
    page::{
        self,
        dashboard::{self, Budget, Frame},
    },
};
use store::{Place, Store, StoreError};
use sys::clock::Instant;
use web::{Request, Response, Service, response::Status};

use crate::http::{self, Live};
use memory::Memory;

/// Largest run that is shown, bytes: a larger one is for `pathtwin report`.
const LARGEST: u64 = 64 << 20;
/// Wait for the history while another page is read from it: if it does not respond, requests must
/// not take the places of those for the metrics.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Poll interval.
const PIECE: Duration = Duration::from_millis(20);

/// The pages of a history.
pub struct Pages {
    place: Place,
    program: String,
    /// The state of a watch; absent without one.
    live: Option<Live>,
    store: Mutex<Option<Store>>,
    memory: Mutex<Memory>,
}

/// Error building a page.
#[derive(Debug, thiserror::Error)]
enum PageError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no such page")]
    NoPage,
    #[error("{0}")]
    Run(model::run::RunError),
    #[error("the history is busy or does not respond")]
    Late,
}

impl PageError {
    fn text(&self) -> Text {
        match self {
            Self::NoPage | Self::Store(StoreError::Missing(_) | StoreError::Ambiguous { .. }) => {
                text!("there is no such page")
            }
            Self::Store(error @ StoreError::TooLarge { .. }) => text!(
                "this run is too large to be shown here; pathtwin report shows it: {why}",
                why = error.text()
            ),
            Self::Store(error) => {
                text!("the history cannot be read: {why}", why = error.text())
            }
            Self::Run(error) => text!("this run cannot be read: {why}", why = error.text()),
            Self::Late => text!(
                "the history is busy or does not respond: waited {time} for another page; try again",
                time = Value::Us(TIMEOUT.as_micros() as f64)
            ),
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::NoPage | Self::Store(StoreError::Missing(_) | StoreError::Ambiguous { .. }) => {
                Status::NotFound
            }
            Self::Store(_) | Self::Late => Status::Unavailable,
            Self::Run(_) => Status::Internal,
        }
    }
}

impl Service for Pages {
    fn answer(&self, request: &Request) -> Response {
        if let Some(response) = self
            .live
            .as_ref()
            .and_then(|live| http::metrics(request, live))
        {
            return response;
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return Response::text(Status::MethodNotAllowed, "only GET\n");
        }
        match request.path.as_str() {
            "/style.css" => return Response::css(dashboard::STYLE),
            "/live.js" => return Response::script(dashboard::SCRIPT),
            _ => {}
        }
        let mut frame = self.frame(request);
        match self.page(request, &mut frame) {
            Ok(response) => response,
            Err(error) => {
                let page = dashboard::message(&error.text(), &frame);
                Response::html(page).status(error.status())
            }
        }
    }

    fn sign_in(&self, request: &Request, wrong: bool) -> Response {
        // The style is not secret, and the sign-in page needs it.
        if request.path == "/style.css" {
            return Response::css(dashboard::STYLE);
        }
        let page = dashboard::sign_in(wrong, &self.frame(request));
        Response::html(page).status(Status::Unauthorized)
    }
}

impl Pages {
    /// The pages of the history at a place, with the state of a watch if there is one.
    pub fn new(place: Place, program: &str, live: Option<Live>) -> Self {
        Self {
            place,
            program: program.to_owned(),
            live,
            store: Mutex::default(),
            memory: Mutex::default(),
        }
    }

    fn frame(&self, request: &Request) -> Frame {
        Frame {
            lang: web::preferred(request),
            chosen: web::chosen(request).is_some(),
            query: request.query.clone(),
            program: self.program.clone(),
            now_us: sys::clock::realtime_ns() / 1000,
            mesh: false,
        }
    }

    fn page(&self, request: &Request, frame: &mut Frame) -> Result<Response, PageError> {
        let mut held = within(&self.store, TIMEOUT).ok_or(PageError::Late)?;
        let mut store = match held.take() {
            Some(store) => store,
            None => Store::open(&self.place)?,
        };
        store.allow_documents_of(LARGEST);
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.forget();
        let page = self.routed(request, frame, &mut store, &mut memory);
        // A store that has failed is opened again by the next request.
        if !matches!(&page, Err(PageError::Store(error)) if is_lost(error)) {
            *held = Some(store);
        }
        page
    }

    fn routed(
        &self,
        request: &Request,
        frame: &mut Frame,
        store: &mut Store,
        memory: &mut Memory,
    ) -> Result<Response, PageError> {
        if let Some(run) = request.path.strip_prefix("/run/") {
            return report(store, run, frame);
        }
        let latest = store.latest()?;
        frame.mesh = mesh::hosts(&latest) > 1;
        let live = self.live.as_ref().map(Live::read);
        let budget = live.as_ref().map(|snapshot| Budget {
            charged: snapshot.budget.0,
            of: snapshot.budget.1,
        });
        let live = live.as_ref().map_or(&[][..], |snapshot| &snapshot.paths);
        let mut collected = collect::Collect {
            store,
            memory,
            latest: &latest,
            live,
            now_us: frame.now_us,
        };
        let page = match request.path.as_str() {
            "/" => {
                let place = self.place.to_string();
                dashboard::overview(&collected.cards()?, &place, budget, frame)
            }
            "/path" => {
                let name = request.value("name").ok_or(PageError::NoPage)?;
                let history = collected
                    .path(name, series(request))?
                    .ok_or(PageError::NoPage)?;
                dashboard::path(&history, frame)
            }
            "/mesh" => {
                let mesh = mesh::of(&latest, series(request).as_ref()).ok_or(PageError::NoPage)?;
                dashboard::mesh(&mesh, frame)
            }
            _ => return Err(PageError::NoPage),
        };
        Ok(Response::html(page))
    }
}

/// Locks, if that is possible within a time.
fn within<T>(mutex: &Mutex<T>, limit: Duration) -> Option<MutexGuard<'_, T>> {
    let until = Instant::now().after(limit);
    loop {
        match mutex.try_lock() {
            Ok(held) => return Some(held),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
            Err(TryLockError::WouldBlock) => Instant::now().after(PIECE).wait(),
        }
    }
}

/// The requested series.
fn series(request: &Request) -> Option<(StepName, FigureName)> {
    let series = request.value("step").zip(request.value("figure"));
    series.map(|(step, figure)| (step.into(), figure.into()))
}

/// Returns true if the connection to the history failed, not a document.
fn is_lost(error: &StoreError) -> bool {
    !matches!(
        error,
        StoreError::Missing(_)
            | StoreError::Ambiguous { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Damaged { .. }
    )
}

/// The report of a run, as `pathtwin report` makes it.
fn report(store: &mut Store, id: &str, frame: &Frame) -> Result<Response, PageError> {
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if id.is_empty() || !id.chars().all(is_id) {
        return Err(PageError::NoPage);
    }
    let body = store.body(Kind::Run, id)?;
    let run = Run::parse(&body).map_err(PageError::Run)?;
    let findings = explain::judge(&run);
    let documents = Documents {
        run: Some((run, findings)),
        causes: explain::titles(),
        ..Documents::default()
    };
    let html = page::html(&documents, frame.lang, &frame.program);
    let policy = format!("{}; frame-ancestors 'none'", page::policy());
    Ok(Response::html(html).policy(policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_another_request_waits_for_is_not_waited_for_without_limit() {
        let mutex = Mutex::new(1);
        let held = within(&mutex, Duration::ZERO);
        assert!(held.is_some());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| within(&mutex, 2 * PIECE).is_none());
            assert!(other.join().is_ok_and(|is_none| is_none));
            let other = scope.spawn(|| within(&mutex, TIMEOUT).map(|held| *held));
            drop(held);
            assert_eq!(other.join().ok().flatten(), Some(1));
        });
        assert_eq!(PageError::Late.status(), Status::Unavailable);
    }
}
