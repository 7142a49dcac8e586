//! `pathtwin serve`.

#[cfg(feature = "page")]
mod web;

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, anyhow};
use iperf3::servers::{Event, Servers};
use measure::{
    key,
    serve::{Config, Server, log, target},
};
use model::{remedy::shell, units::Rate};
use sys::privilege::{self, Identity, Keep, PrivilegeError};
use traffic::{
    admission::{Admission, Totals},
    load::udp::Spacing,
    wire::{Key, message::Limits},
};

use crate::cli::serve::Serve;
use crate::{
    exit::{Failure, code},
    format::say,
};

/// Descriptors of the server: each client's loads, requests and probes at the default caps.
const DESCRIPTORS: u64 = 4096;

pub(crate) fn serve(arguments: &Serve) -> Result<ExitCode, Failure> {
    let become_user = identity(arguments)?;
    let (key, made) = if arguments.open {
        (Key::OPEN, None)
    } else {
        key::of_server(arguments.key.as_deref())?
    };
    // Only values above the hard limit need root; with a lower limit, fewer clients are served at
    // once.
    let _ = sys::descriptors::allow(DESCRIPTORS);
    let config = Config {
        key,
        admission: admission(arguments),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        spacing: Spacing::Timer,
    };
    let admission = config.admission.clone();
    #[cfg(feature = "page")]
    let shared = admission.clone();
    let server = bind(arguments, config)?;
    let iperf3 = arguments
        .iperf3
        .map(|port| {
            Servers::bind(
                &arguments.listen,
                port,
                &iperf3::server::Config::new(admission),
            )
        })
        .transpose()
        .map_err(|e| Failure::new(code::FAILED, e))?;
    #[cfg(feature = "page")]
    let web = web::bind(arguments)?;
    give_up(become_user)?;
    sys::memory::keep_little();
    // From here on there may be threads.
    for address in server.addresses() {
        say(format_args!("serving on {address} (TCP and UDP)"));
    }
    say_key(arguments, made.as_deref(), &server.addresses());
    let asked = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let stop = Arc::new(AtomicBool::new(false));
    pass_on(asked, stop.clone());
    if let Some(iperf3) = iperf3 {
        for address in iperf3.addresses() {
            say(format_args!("iperf3 server on {address}"));
        }
        iperf3
            .start(asked, on_iperf3)
            .context("start the iperf3 server")?;
    }
    #[cfg(feature = "page")]
    if let Some(web) = web {
        web.start(shared)?;
    }
    let log = log::start(|line| say(format_args!("{line}"))).context("start the log")?;
    server.run(stop, log).context("serve")?;
    Ok(ExitCode::SUCCESS)
}

/// The limits of clients, each and together.
fn admission(arguments: &Serve) -> Admission {
    let limits = Limits {
        rate_bps: arguments.max_rate.map(Rate::bps),
        time_s: Some(arguments.max_time.as_secs_f64()),
        bytes: arguments.max_bytes.map(|b| b.0),
        flows: arguments.max_flows,
    };
    let total_rate = arguments.total_rate.map(Rate::bps);
    Admission::new(
        limits,
        Totals::of_this_host(arguments.max_clients, total_rate),
    )
}

/// The user to become; `None` to stay root, with --user root.
fn identity(arguments: &Serve) -> Result<Option<Identity>, Failure> {
    if arguments.user == "root" {
        return Ok(None);
    }
    let wrong = |e: PrivilegeError| Failure::new(code::USE, e);
    Identity::of(&arguments.user).map(Some).map_err(wrong)
}

/// Drops root privileges, except the one to choose any congestion control.
fn give_up(identity: Option<Identity>) -> Result<(), Failure> {
    let Some(identity) = identity else {
        say(format_args!(
            "keeps the privileges of its user (--user root)"
        ));
        return Ok(());
    };
    let was_root = sys::sched::is_root();
    let left = privilege::give_up(identity, Keep::NetAdmin).map_err(|e| {
        let hint = "hint: --user root keeps all privileges";
        Failure::new(
            code::LACKS,
            anyhow!("cannot give up the privileges of root: {e}\n{hint}"),
        )
    })?;
    let kept = if left.net_admin {
        "kept CAP_NET_ADMIN, to choose any congestion control"
    } else {
        "kept no capability: only allowed congestion controls can be chosen"
    };
    match was_root {
        true => say(format_args!("became user {}; {kept}", identity.uid)),
        false => say(format_args!("{kept}")),
    }
    Ok(())
}

/// Binds to every address, or to the given ones.
fn bind(arguments: &Serve, config: Config) -> Result<Server, Failure> {
    let bound = if arguments.listen.is_empty() {
        Server::bind_all(arguments.port, config)
    } else {
        let at = |ip: &IpAddr| SocketAddr::new(*ip, arguments.port);
        let all: Vec<_> = arguments.listen.iter().map(at).collect();
        Server::bind(&all, config)
    };
    bound.map_err(|e| Failure::new(code::FAILED, e))
}

fn say_key(arguments: &Serve, made: Option<&Path>, addresses: &[SocketAddr]) {
    let ssh = std::env::var("SSH_CONNECTION").ok();
    let target = target(addresses, ssh.as_deref(), sys::machine::host_name);
    if arguments.open {
        say(format_args!(
            "open: anyone who can reach the port may measure"
        ));
        return say(format_args!(
            "on the other host: pathtwin measure {target} --open"
        ));
    }
    if let Some(file) = made {
        say(format_args!("generated a key in {}", file.display()));
    }
    let file = arguments.key.clone().or_else(key::default_file);
    let Some(file) = file.and_then(|file| std::path::absolute(file).ok()) else {
        return;
    };
    let host = target.split_whitespace().next().unwrap_or_default();
    say(format_args!(
        "on the other host: ssh {host} cat {} | pathtwin measure {target} --key -",
        remote_word(&file)
    ));
}

/// A path as a word of a command for `ssh`, which two shells read: here and there.
fn remote_word(file: &Path) -> String {
    shell::quoted(&shell::quoted(&file.to_string_lossy()))
}

/// Reports the events of an iperf3 server.
fn on_iperf3(event: Event) {
    match event {
        Event::Ended(report) => {
            let client = report.client;
            match report.result {
                Ok(_) => say(format_args!("{client} measured by iperf3")),
                Err(error) => say(format_args!("{client} by iperf3: {error}")),
            }
        }
        Event::Failed(error) => {
            say(format_args!("cannot accept iperf3 connections: {error}"));
        }
    }
}

/// Sets the server's flag when the signal's flag is set.
fn pass_on(asked: &'static AtomicBool, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            sys::signal::sleep(None);
        }
        stop.store(true, Ordering::Relaxed);
    });
}
