//! `pathtwin iperf3`: the protocol of iperf3, as client and as server.

use std::{net::SocketAddr, process::ExitCode};

use anyhow::{Context, anyhow};
use iperf3::{
    Error, arguments, client,
    outcome::Outcome,
    server::{self, Config, Report},
};
use report::iperf3::{Peer, document, rows, text};
use traffic::{
    admission::{Admission, Totals},
    wire::message::Limits,
};

use crate::cli::iperf3::{Iperf3, Server, Test};
use crate::{
    cli::Format,
    exit::{Failure, code},
    format::{self, say},
    say::say,
};

pub(crate) fn iperf3(command: &Iperf3) -> Result<ExitCode, Failure> {
    match command {
        Iperf3::Client(arguments) => {
            client(&arguments.server, None, &arguments.test, arguments.output)
        }
        Iperf3::Server(arguments) => serve(arguments),
    }
}

/// Measures with the iperf3 server at `url` and prints the result.
pub(crate) fn client(
    url: &str,
    port: Option<u16>,
    test: &Test,
    output: Format,
) -> Result<ExitCode, Failure> {
    let options = test.request().options();
    let options = options.map_err(|e| Failure::new(code::USE, e))?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let random = traffic::wire::key::random().context("draw a cookie")?;
    let addresses = arguments::addresses(url, port)?;
    let outcome =
        client::run_any(&addresses, &options, random, stop).map_err(|error| match error {
            Error::NoAddress => Failure::new(code::FAILED, anyhow!("{url} has no address")),
            error => failure(error),
        })?;
    print(&Peer::Server(url.to_owned()), &outcome, output)?;
    Ok(match outcome.invalid.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(code::VERDICT),
    })
}

fn failure(error: Error) -> Failure {
    let code = match error {
        Error::Stopped => code::INTERRUPTED,
        Error::Congestion { .. } => code::LACKS,
        _ => code::FAILED,
    };
    Failure::new(code, error)
}

/// Serves iperf3 clients until it is stopped, and prints each test.
fn serve(arguments: &Server) -> Result<ExitCode, Failure> {
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let limits = Limits {
        flows: arguments.max_streams,
        time_s: Some(arguments.max_time.as_secs_f64()),
        ..Limits::default()
    };
    let admission = Admission::new(limits, Totals::default());
    let server = bind(arguments.listen, &Config::new(admission))?;
    say!("pathtwin: iperf3 server on {}", server.address());
    let mut printed = Ok(());
    let mut failed = false;
    let mut on_report = |report: Report| {
        failed = report.result.is_err();
        printed = print_report(&report, arguments.output);
        printed.is_ok() && !arguments.once
    };
    server
        .serve(stop, &mut on_report)
        .context("accept iperf3 connections")?;
    printed?;
    Ok(match arguments.once && failed {
        true => ExitCode::from(code::VERDICT),
        false => ExitCode::SUCCESS,
    })
}

fn print_report(report: &Report, output: Format) -> Result<(), Failure> {
    let client = report.client.to_string();
    match &report.result {
        Ok(outcome) => print(&Peer::Client(client), outcome, output),
        Err(error) => {
            say(format_args!("the test with {client} failed: {error}"));
            Ok(())
        }
    }
}

fn print(peer: &Peer, outcome: &Outcome, output: Format) -> Result<(), Failure> {
    match output {
        Format::Text => format::text(&text(peer, outcome)),
        Format::Json => format::json(&document(peer, outcome)),
        Format::Jsonl => format::json_lines(&rows(peer, outcome)),
    }
}

fn bind(address: SocketAddr, config: &Config) -> Result<server::Server, Failure> {
    let bound = server::Server::bind(address, config.clone());
    Ok(bound.with_context(|| format!("listen on {address}"))?)
}
