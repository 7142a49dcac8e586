//! A plan through the protocol of iperf3.

use std::{
    net::{SocketAddr, TcpStream},
    sync::atomic::AtomicBool,
};

use anyhow::anyhow;
use measure::run::iperf3::{Start, measure};
use model::{net::Layer, plan::Plan, run::Run};

use super::{REACH, live, now_us, seed};
use crate::cli::measure::Measure;
use crate::{
    cli::values::addresses,
    exit::{Failure, code},
};

/// Carries out what iperf3 allows of the plan, with the server at `url`.
pub(super) fn run(
    arguments: &Measure,
    url: &str,
    plan: &Plan,
    stop: &'static AtomicBool,
) -> Result<Run, Failure> {
    let (random, seed) = seed(arguments)?;
    let start = Start {
        server: reach(url)?,
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
    run.map_err(|e| Failure::new(code::FAILED, e))
}

/// The first of the server's addresses that takes connections. It is only tried where there is a choice: a server tells
/// its owner of a connection without a test as an error.
fn reach(url: &str) -> Result<SocketAddr, Failure> {
    let mut failed = anyhow!("{url} has no address");
    let addresses = addresses(url)?;
    if let [only] = addresses[..] {
        return Ok(only);
    }
    for address in addresses {
        match TcpStream::connect_timeout(&address, REACH) {
            Ok(_) => return Ok(address),
            Err(e) => failed = anyhow!("connect to {address}: {e}"),
        }
    }
    Err(Failure::new(
        code::FAILED,
        failed.context("is an iperf3 server running there, and is the port open?"),
    ))
}
