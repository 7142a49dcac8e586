//! What steps of requests have in common: probes beside them, the display, what is kept.

use model::{text, text::Text};
use std::{net::SocketAddr, time::Duration};

use analysis::percentile;
use model::{
    plan::Measurement,
    run::{Invalid, Sample, Short},
};
use sys::clock::Instant;
use traffic::{
    load::requests::{
        RequestClient,
        client::{Config, Requests},
    },
    wire::{Ticket, message::Order},
};

use super::{blank, probes};
use crate::{
    far::FarError,
    run::{
        bench::{Bench, Live},
        key::key,
        schedule::Task,
    },
};

/// How long to wait for a connection, and for any part of an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// How long after the end of the step the last answer may come.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a step of requests that `start` makes.
pub(crate) fn run(
    bench: &mut Bench<'_>,
    task: &Task,
    order: Order,
    start: impl FnOnce(Ticket, SocketAddr, Config) -> Result<RequestClient, FarError>,
) -> Result<Vec<Sample>, FarError> {
    let (Measurement::Short { bytes } | Measurement::Http { bytes }) = task.step.measurement else {
        return Err(FarError::Confused);
    };
    let mut sample = blank(bench, key(&task.step.measurement, &task.layer, None, None));
    let span = Duration::from_secs_f64(task.step.duration_s);
    let beside = probes::start(bench, &task.layer)?;
    let ticket = bench.far.open(order)?;
    let mark = bench.mark()?;
    let config = Config {
        bytes,
        timeout: TIMEOUT,
        most_bytes: left(bench),
    };
    let zero = Instant::now();
    let client = start(ticket, bench.target(&task.layer), config)?;
    let watched = watch(bench, &beside, &client, zero, span);
    // Also where the far end is lost: what came so far is of no use to anybody then.
    let requests = client.finish(if bench.cancelled() {
        Duration::ZERO
    } else {
        GRACE
    });
    watched?;
    let window = [0, Instant::now().since(zero) / 1000];
    sample.near = Some(mark.evidence());
    sample.far = Some(bench.far.evidence()?);
    bench.far.finish(ticket)?;
    sample.probes = beside.finish(bench, zero, window)?;
    bench.bytes += requests.exchanges.iter().map(|e| e.bytes).sum::<u64>();
    if requests.exchanges.is_empty() {
        let none = || text!("no request was answered in time");
        let why = requests.error.clone().map_or_else(none, Text::plain);
        sample.invalid.push(Invalid::failed(why));
    }
    sample.load_at_us = Some(bench.us_at(zero));
    sample.short = Some(compose(&requests));
    Ok(vec![sample])
}

/// What the plan's budget and the far end's limit leave.
fn left(bench: &Bench<'_>) -> Option<u64> {
    let budget = bench.plan.budget.bytes;
    let most = [budget, bench.far.welcome.limits.bytes];
    let most = most.into_iter().flatten().min()?;
    Some(most.saturating_sub(bench.bytes))
}

fn watch(
    bench: &mut Bench<'_>,
    beside: &probes::Beside,
    client: &RequestClient,
    zero: Instant,
    span: Duration,
) -> Result<(), FarError> {
    let mut last = (zero, 0);
    bench.watch(span, || {
        let (rtt_us, lost) = beside.live();
        let (_, bytes) = client.live();
        let now = Instant::now();
        let rate = (bytes - last.1) as f64 * 8e9 / now.since(last.0).max(1) as f64;
        last = (now, bytes);
        Live {
            rate_bps: Some(rate),
            rtt_us,
            lost,
            bytes,
            ..Live::default()
        }
    })
}

fn compose(requests: &Requests) -> Short {
    let column = |of: fn(&traffic::load::requests::Exchange) -> Option<u64>| -> Vec<f64> {
        let values = requests.exchanges.iter().filter_map(of);
        values.map(|ns| ns as f64 / 1e3).collect()
    };
    let complete_us = column(|e| Some(e.complete_ns));
    Short {
        n: requests.exchanges.len() as u64,
        failed: requests.failed,
        connect_p50_us: stats::median(&column(|e| e.connect_ns)),
        first_byte_p50_us: stats::median(&column(|e| Some(e.first_byte_ns))),
        complete_p50_us: stats::median(&complete_us),
        complete_p95_us: percentile::p95(&complete_us),
        complete_us,
    }
}
