//! Consecutive requests: on one keep-alive HTTP/1.1 connection, or each on a separate connection.

use std::{marker::PhantomData, net::SocketAddr, time::Duration};

use analysis::percentile;
use model::{
    net::Direction,
    run::{self, Invalid, Key, Sample, StepKind},
    text,
};
use sys::clock::Instant;
use traffic::{
    load::requests::{
        Exchange, RequestClient,
        client::{Config, MAX, Requests},
    },
    wire::Ticket,
};

use super::{Blank, Cost, Measure, Step, loaded::Context, probes};
use crate::{
    far::{
        self, Action, FarError,
        load::{self, Service},
    },
    run::{bench::Bench, budget::bytes_left, task::Task},
};

/// Timeout of a connection, and of each read of a response.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// Grace time for the last response after the end of the step.
const GRACE: Duration = Duration::from_secs(5);

/// Requests for responses of one size, each on a separate connection.
pub(super) struct Short {
    /// Bytes of a response.
    pub(super) bytes: u64,
}

/// HTTP/1.1 requests for responses of one size, on one keep-alive connection.
pub(super) struct Http {
    /// Bytes of a response.
    pub(super) bytes: u64,
}

/// The near end's result of the requests at a service of type `S`.
pub(super) struct Seen<S> {
    requests: Requests,
    context: Context,
    service: PhantomData<fn() -> S>,
}

/// Responses are in flight half of the time, by experience.
fn cost(duration_s: f64) -> Cost {
    Cost {
        time_s: duration_s,
        loaded_s: duration_s * 0.5,
    }
}

impl Step for Short {
    fn kind(&self) -> StepKind {
        StepKind::Short
    }

    fn distinguish(&self, key: &mut Key) {
        key.bytes = Some(self.bytes);
    }

    fn cost(&self, duration_s: f64) -> Cost {
        cost(duration_s)
    }

    fn rate_bps(&self, capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        // Requests are small compared with their responses.
        capacity(Direction::Down)
    }
}

impl Step for Http {
    fn kind(&self) -> StepKind {
        StepKind::Http
    }

    fn distinguish(&self, key: &mut Key) {
        key.bytes = Some(self.bytes);
    }

    fn cost(&self, duration_s: f64) -> Cost {
        cost(duration_s)
    }

    fn rate_bps(&self, capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        // Requests are small compared with their responses.
        capacity(Direction::Down)
    }
}

impl Measure for Short {
    type Seen = Seen<load::Short>;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Self::Seen, FarError> {
        let bytes = self.bytes;
        let service = load::Short { bytes };
        measure(bench, task, &service, bytes, |ticket, address, config| {
            let connect = far::connector(address, TIMEOUT);
            let greeting = move |number| ticket.greeting(number).bytes();
            RequestClient::short(connect, greeting, config).map_err(Action::Request.failed(address))
        })
    }

    fn samples(&self, seen: Self::Seen, blank: &Blank<'_>) -> Vec<Sample> {
        seen.samples(blank)
    }
}

impl Measure for Http {
    type Seen = Seen<load::Http>;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Self::Seen, FarError> {
        let bytes = self.bytes;
        let service = load::Http { bytes };
        measure(bench, task, &service, bytes, |ticket, address, config| {
            let stream = far::stream(ticket, address, 0)?;
            RequestClient::http(stream, config).map_err(Action::Request.failed(address))
        })
    }

    fn samples(&self, seen: Self::Seen, blank: &Blank<'_>) -> Vec<Sample> {
        seen.samples(blank)
    }
}

/// Runs requests for responses of `bytes` at a service, with a client created by `start`.
fn measure<S: Service>(
    bench: &mut Bench<'_>,
    task: &Task,
    service: &S,
    bytes: u64,
    start: impl FnOnce(Ticket, SocketAddr, Config) -> Result<RequestClient, FarError>,
) -> Result<Seen<S>, FarError> {
    let span = Duration::from_secs_f64(task.step.duration_s);
    let probing = probes::start(bench, &task.layer)?;
    let agreed = bench.far.open(service)?;
    let mark = bench.mark()?;
    let config = Config {
        start: Instant::now(),
        upload: 0,
        bytes,
        timeout: TIMEOUT,
        most_bytes: left(bench),
        most_requests: MAX,
        batch: None,
    };
    let zero = Instant::now();
    let client = start(*agreed, bench.target(&task.layer), config)?;
    let watched = probing.watch(bench, span, zero, || client.live().1);
    // Also where the far end is lost: the client ends first.
    let requests = client.finish(if bench.cancelled() {
        Duration::ZERO
    } else {
        GRACE
    });
    watched?;
    let window = [0, Instant::now().since(zero) / 1000];
    let near = mark.evidence();
    let far = bench.far.evidence()?;
    bench.far.finish(agreed)?;
    let probes = probing.finish(bench, zero, window)?;
    bench.bytes += requests.exchanges.iter().map(|e| e.bytes).sum::<u64>();
    Ok(Seen {
        requests,
        context: Context {
            load_at_us: bench.us_at(zero),
            probes,
            near,
            far,
        },
        service: PhantomData,
    })
}

/// Remainder of the plan's budget and the far end's limit.
fn left(bench: &Bench<'_>) -> Option<u64> {
    let limit = bench.far.welcome.limits.bytes;
    let limit = limit.map(|most| most.saturating_sub(bench.bytes));
    let budget = bytes_left(&bench.plan.budget, bench.bytes);
    [budget, limit].into_iter().flatten().min()
}

impl<S> Seen<S> {
    fn samples(self, blank: &Blank<'_>) -> Vec<Sample> {
        let mut sample = self.context.apply(blank.of(None));
        if self.requests.exchanges.is_empty() {
            let why = match &self.requests.error {
                Some(why) => text!("a request failed: {why}", why = why.clone()),
                None => text!("no request was answered before the timeout"),
            };
            sample.invalid.push(Invalid::failed(why));
        }
        sample.short = Some(compose(&self.requests));
        vec![sample]
    }
}

fn compose(requests: &Requests) -> run::Short {
    let column = |of: fn(&Exchange) -> Option<u64>| -> Vec<f64> {
        let values = requests.exchanges.iter().filter_map(of);
        values.map(|ns| ns as f64 / 1e3).collect()
    };
    let complete_us = column(|e| Some(e.complete_ns));
    run::Short {
        n: requests.exchanges.len() as u64,
        failed: requests.failed,
        connect_p50_us: stats::median(&column(|e| e.connect_ns)),
        first_byte_p50_us: stats::median(&column(|e| Some(e.first_byte_ns))),
        complete_p50_us: stats::median(&complete_us),
        complete_p95_us: percentile::p95(&complete_us),
        complete_us,
    }
}
