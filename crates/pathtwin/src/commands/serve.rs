//! `pathtwin serve`.

mod log;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, anyhow};
use measure::serve::{Config, Server};
use model::units::Rate;
use sys::privilege::{self, Identity, Keep, PrivilegeError};
use traffic::{
    admission::{Admission, Totals},
    wire::{Key, message::Limits},
};

use crate::cli::serve::Serve;
use crate::{
    commands::iperf3::Beside,
    exit::{Failure, code},
    format::say,
    key,
};

/// Descriptors it may have: each client's loads, requests and probes at the default caps.
const DESCRIPTORS: u64 = 4096;

pub(crate) fn serve(arguments: &Serve) -> Result<ExitCode, Failure> {
    let become_user = identity(arguments)?;
    let (key, made) = if arguments.open {
        (Key::OPEN, None)
    } else {
        key::of_server(arguments.key.as_deref())?
    };
    // Needs root beyond the hard limit only; with fewer, fewer are served at once.
    let _ = sys::descriptors::allow(DESCRIPTORS);
    let config = Config {
        key: key.clone(),
        admission: admission(arguments),
        program: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let server = bind(arguments, &config).map_err(|e| Failure::new(code::FAILED, e))?;
    let iperf3 = arguments
        .iperf3
        .map(|port| Beside::bind(&arguments.listen, port, &config.admission))
        .transpose()?;
    give_up(become_user)?;
    sys::memory::keep_little();
    // From here on there may be threads.
    for address in server.addresses() {
        say(format_args!("serving on {address} (TCP and UDP)"));
    }
    say_key(arguments, made);
    let asked = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let stop = Arc::new(AtomicBool::new(false));
    pass_on(asked, stop.clone());
    if let Some(iperf3) = iperf3 {
        iperf3.start(asked);
    }
    let log = log::start().context("start the log")?;
    server.run(stop, log).context("serve")?;
    Ok(ExitCode::SUCCESS)
}

/// What clients may have, each and together.
fn admission(arguments: &Serve) -> Admission {
    let limits = Limits {
        rate_bps: arguments.max_rate.map(Rate::bps),
        time_s: Some(arguments.max_time.as_secs_f64()),
        bytes: arguments.max_bytes.map(|b| b.0),
        flows: arguments.max_flows,
    };
    let descriptors = sys::descriptors::allowed();
    let total_rate = arguments.total_rate.map(Rate::bps);
    let memory = std::fs::read_to_string("/proc/meminfo").ok();
    let memory = memory.and_then(|text| sys::procfs::memory_bytes(&text));
    let totals = Totals::of(arguments.max_clients, descriptors, total_rate);
    Admission::new(limits, totals.on_host_of(memory))
}

/// Whom to become; `None` to stay root, because it was asked for.
fn identity(arguments: &Serve) -> Result<Option<Identity>, Failure> {
    if arguments.user == "root" {
        return Ok(None);
    }
    let wrong = |e: PrivilegeError| Failure::new(code::USE, e);
    Identity::of(&arguments.user).map(Some).map_err(wrong)
}

/// Leaves root behind, but for the power to choose any congestion control.
fn give_up(identity: Option<Identity>) -> Result<(), Failure> {
    let Some(identity) = identity else {
        say(format_args!(
            "keeps the rights of its user, as --user root asks"
        ));
        return Ok(());
    };
    let was_root = sys::sched::is_root();
    let left = privilege::give_up(identity, Keep::NetAdmin).map_err(|e| {
        let hint = "hint: --user root stays what it is";
        Failure::new(
            code::LACKS,
            anyhow!("give up the rights of root: {e}\n{hint}"),
        )
    })?;
    let kept = if left.net_admin {
        "kept CAP_NET_ADMIN, to choose among all congestion controls"
    } else {
        "kept no capability: only allowed congestion controls can be chosen"
    };
    match was_root {
        true => say(format_args!("became user {}; {kept}", identity.uid)),
        false => say(format_args!("{kept}")),
    }
    Ok(())
}

/// On every address, where a family may be missing, or on those that were named.
fn bind(arguments: &Serve, config: &Config) -> std::io::Result<Server> {
    let at = |ip: IpAddr| SocketAddr::new(ip, arguments.port);
    if !arguments.listen.is_empty() {
        let all: Vec<_> = arguments.listen.iter().copied().map(at).collect();
        return Server::bind(&all, config.clone());
    }
    let (v4, v6) = (
        at(Ipv4Addr::UNSPECIFIED.into()),
        at(Ipv6Addr::UNSPECIFIED.into()),
    );
    match Server::bind(&[v4, v6], config.clone()) {
        Err(e) if e.kind() != std::io::ErrorKind::AddrInUse => Server::bind(&[v4], config.clone()),
        result => result,
    }
}

fn say_key(arguments: &Serve, made: Option<PathBuf>) {
    if arguments.open {
        say(format_args!(
            "open: everybody who reaches the port may measure"
        ));
        say(format_args!(
            "on the other host: pathtwin measure THIS_HOST --open"
        ));
    } else if let Some(file) = made {
        let file = file.display();
        say(format_args!(
            "made a key, kept in {file}; cat {file} shows it"
        ));
        say(format_args!(
            "on the other host: bring it to ~/.config/pathtwin/key (mode 600), then pathtwin measure THIS_HOST"
        ));
    } else {
        say(format_args!("clients need the key of an earlier start"));
    }
}

/// Tells the server's flag what the signal's flag says.
fn pass_on(asked: &'static AtomicBool, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        stop.store(true, Ordering::Relaxed);
    });
}
