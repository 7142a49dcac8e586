//! Plans through the protocol of iperf3.

use std::sync::atomic::AtomicBool;

use iperf3::arguments::addresses;
use measure::{
    reach,
    run::iperf3::{Start, measure},
};
use model::{
    net::Layer,
    plan::Plan,
    run::{Asked, Run},
};

use super::{
    far::{now_us, seed, unreached},
    live,
};
use crate::cli::measure::Measure;
use crate::exit::{Failure, code};

/// Runs the part of the plan that iperf3 allows, with the server at `url`.
pub(super) fn run(
    arguments: &Measure,
    url: &str,
    plan: &Plan,
    stop: &'static AtomicBool,
) -> Result<Run, Failure> {
    let (random, seed) = seed(arguments.lab.seed())?;
    let server = addresses(url, arguments.port)?;
    let server = reach::first(url, &server).map_err(unreached("iperf3 -s"))?;
    let start = Start {
        server,
        layer: Layer::Underlay,
        plan,
        seed,
        program: env!("CARGO_PKG_VERSION"),
        id: format!("{random:016x}"),
        started_us: now_us(),
        random: &traffic::wire::key::random,
        cancel: stop,
    };
    let mut display = live::Display::new(plan.budget);
    let run = measure(&start, &mut |event| display.show(&event));
    display.finish();
    let mut run = run.map_err(|e| Failure::new(code::FAILED, e))?;
    run.asked = Some(Asked {
        host: url.to_owned(),
        port: arguments.port,
        ..Asked::default()
    });
    Ok(run)
}
