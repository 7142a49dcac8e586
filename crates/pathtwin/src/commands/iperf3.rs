//! `pathtwin iperf3`: the protocol of iperf3, as client and as server.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, anyhow};
use iperf3::{
    Error,
    client::{self, Options},
    outcome::Outcome,
    params::{Params, Protocol},
    server::{Config, Report},
};
use model::net::LoadDirection;
use traffic::{
    admission::{Admission, Totals},
    wire::message::Limits,
};

use crate::cli::{
    iperf3::{Iperf3, Server, Test},
    values::addresses,
};
use crate::{
    cli::Format,
    exit::{Failure, code},
    format::say,
};

mod show;

pub(crate) fn iperf3(command: &Iperf3) -> Result<ExitCode, Failure> {
    match command {
        Iperf3::Client(arguments) => client(&arguments.server, &arguments.test, arguments.output),
        Iperf3::Server(arguments) => server(arguments),
    }
}

/// Serves iperf3 clients until it is stopped, and prints each test.
pub(crate) fn server(arguments: &Server) -> Result<ExitCode, Failure> {
    let stop = sys::signal::stop_flag().context("catch Ctrl-C")?;
    let limits = Limits {
        flows: arguments.max_streams,
        time_s: Some(arguments.max_time.as_secs_f64()),
        ..Limits::default()
    };
    let admission = Admission::new(limits, Totals::default());
    let server = bind(arguments.listen, &Config::new(admission))?;
    eprintln!("pathtwin: iperf3 server on {}", server.address());
    let mut printed = Ok(());
    let mut failed = false;
    let mut told = |report: Report| {
        failed = report.result.is_err();
        printed = show::report(&report, arguments.output);
        printed.is_ok() && !arguments.once
    };
    server
        .serve(stop, &mut told)
        .context("take iperf3 connections")?;
    printed?;
    Ok(ExitCode::from(if arguments.once && failed {
        code::VERDICT
    } else {
        0
    }))
}

/// Servers of iperf3 clients beside the own protocol, bound and not yet running.
pub(crate) struct Beside(Vec<iperf3::server::Server>);

impl Beside {
    /// Binds to a port of these addresses, or of every one if none is named. Its clients are
    /// admitted as those of the own protocol are.
    pub(crate) fn bind(
        listen: &[IpAddr],
        port: u16,
        admission: &Admission,
    ) -> Result<Self, Failure> {
        let config = Config::new(admission.clone());
        let every = [Ipv6Addr::UNSPECIFIED.into()];
        let listen = if listen.is_empty() { &every } else { listen };
        let servers = listen.iter().map(|ip| bind((*ip, port).into(), &config));
        Ok(Self(servers.collect::<Result<_, _>>()?))
    }

    /// Serves each in a thread of its own, and prints nothing but to the log.
    pub(crate) fn start(self, stop: &'static std::sync::atomic::AtomicBool) {
        for server in self.0 {
            say(format_args!("iperf3 server on {}", server.address()));
            std::thread::spawn(move || serve_beside(&server, stop));
        }
    }
}

fn serve_beside(server: &iperf3::server::Server, stop: &'static std::sync::atomic::AtomicBool) {
    let mut told = |report: Report| {
        match report.result {
            Ok(_) => say(format_args!("{} measured by iperf3", report.client)),
            Err(error) => say(format_args!("{} by iperf3: {error}", report.client)),
        }
        true
    };
    if let Err(error) = server.serve(stop, &mut told) {
        say(format_args!("take iperf3 connections: {error}"));
    }
}

/// Listens for IPv6 and IPv4, or for IPv4 alone where the host has no IPv6.
fn bind(address: SocketAddr, config: &Config) -> Result<iperf3::server::Server, Failure> {
    use iperf3::server::Server;
    let bound = Server::bind(address, config.clone()).or_else(|error| {
        if address.ip() == Ipv6Addr::UNSPECIFIED {
            Server::bind(
                (Ipv4Addr::UNSPECIFIED, address.port()).into(),
                config.clone(),
            )
        } else {
            Err(error)
        }
    });
    Ok(bound.with_context(|| format!("listen on {address}"))?)
}

/// Measures with the iperf3 server at `url` and prints what it showed.
pub(crate) fn client(url: &str, test: &Test, format: Format) -> Result<ExitCode, Failure> {
    let options = options(test).map_err(|e| Failure::new(code::USE, anyhow!(e)))?;
    let outcome = measure(url, &options)?;
    show::outcome(url, &outcome, format)?;
    Ok(if outcome.invalid.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(code::VERDICT)
    })
}

/// Measures with the iperf3 server at `url`: at the first of its addresses that takes connections.
pub(crate) fn measure(url: &str, options: &Options) -> Result<Outcome, Failure> {
    let stop = sys::signal::stop_flag().context("catch Ctrl-C")?;
    let mut failed = anyhow!("{url} has no address");
    let random = traffic::wire::key::random().context("draw a cookie")?;
    for address in addresses(url)? {
        match client::run(address, options, random, stop) {
            Ok(outcome) => return Ok(outcome),
            Err(Error::Connect(..)) if stop.load(std::sync::atomic::Ordering::Relaxed) => {
                return Err(Failure::new(code::INTERRUPTED, Error::Stopped));
            }
            Err(error @ Error::Connect(..)) => failed = error.into(),
            Err(error) => return Err(failure(error)),
        }
    }
    Err(Failure::new(code::FAILED, failed))
}

fn failure(error: Error) -> Failure {
    let code = match error {
        Error::Stopped => code::INTERRUPTED,
        Error::Congestion { .. } => code::LACKS,
        _ => code::FAILED,
    };
    Failure::new(code, error)
}

fn options(test: &Test) -> Result<Options, String> {
    let protocol = if test.udp {
        Protocol::Udp
    } else {
        Protocol::Tcp
    };
    let (least, most) = if test.udp { (16, 65_507) } else { (1, 1 << 20) };
    let len = match test.length {
        Some(len) if (least..=most).contains(&len) => Some(len as u32),
        Some(len) => {
            return Err(format!(
                "a length of {len} is not in {least} to {most} bytes"
            ));
        }
        None => None,
    };
    let rate = test.bitrate.unwrap_or(if test.udp { 1_000_000 } else { 0 });
    let time = test.time.unwrap_or(Duration::from_secs(10));
    if time.is_zero() || test.bytes == Some(0) {
        return Err("a test needs some time, or bytes".to_owned());
    }
    Ok(Options {
        params: Params {
            protocol,
            direction: match (test.reverse, test.bidir) {
                (true, _) => LoadDirection::Down,
                (_, true) => LoadDirection::Both,
                _ => LoadDirection::Up,
            },
            parallel: test.parallel,
            omit_s: test.omit,
            bytes: test.bytes,
            len,
            rate_bps: Some(rate).filter(|&rate| rate > 0),
            nodelay: test.no_delay,
            congestion: test.congestion.clone(),
            ..Params::default()
        },
        duration: time,
    })
}
