//! The common part of steps of requests: the load, what is recorded beside it, the sample.

use std::{net::SocketAddr, time::Duration};

use analysis::percentile;
use model::{
    run::{self, Invalid, Sample},
    text,
    text::Text,
};
use sys::clock::Instant;
use traffic::{
    load::requests::{
        Exchange, RequestClient,
        client::{Config, MOST, Requests},
    },
    wire::Ticket,
};

use super::{Blank, Cost, loaded::Context, probes};
use crate::{
    far::{FarError, load::Service},
    run::{bench::Bench, task::Task},
};

/// How long to wait for a connection, and for any part of an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// How long after the end of the step the last answer may come.
const GRACE: Duration = Duration::from_secs(5);

/// What the near end saw of the requests.
pub(super) struct Seen {
    requests: Requests,
    context: Context,
}

/// What a step of requests takes: half of the time its answers are under way, by experience.
pub(super) fn cost(duration_s: f64) -> Cost {
    Cost {
        time_s: duration_s,
        loaded_s: duration_s * 0.5,
    }
}

/// Runs requests for answers of `bytes` at a service, by a client that `start` makes.
pub(super) fn measure<S: Service>(
    bench: &mut Bench<'_>,
    task: &Task,
    service: &S,
    bytes: u64,
    start: impl FnOnce(Ticket, SocketAddr, Config) -> Result<RequestClient, FarError>,
) -> Result<Seen, FarError> {
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
        most_requests: MOST,
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
    })
}

/// What the plan's budget and the far end's limit leave.
fn left(bench: &Bench<'_>) -> Option<u64> {
    let budget = bench.plan.budget.bytes;
    let most = [budget, bench.far.welcome.limits.bytes];
    let most = most.into_iter().flatten().min()?;
    Some(most.saturating_sub(bench.bytes))
}

impl Seen {
    pub(super) fn samples(self, blank: &Blank<'_>) -> Vec<Sample> {
        let mut sample = self.context.apply(blank.of(None));
        if self.requests.exchanges.is_empty() {
            let none = || text!("no request was answered before the timeout");
            let why = self.requests.error.clone().map_or_else(none, Text::plain);
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
