//! Far ends: their addresses, their keys, and plans measured with them.

use std::{net::IpAddr, sync::atomic::AtomicBool, time::SystemTime};

use anyhow::{Context, anyhow};
use measure::{
    key,
    reach::{self, ReachError},
    run::{Start, Third},
};
use model::{
    plan::Plan,
    run::{Asked, Run},
    units::Seed,
};
use traffic::wire::Key;

use super::{known, live};
use crate::{
    exit::{Failure, code},
    format,
};

/// A far end with `pathtwin serve`.
pub(crate) struct Far<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: Option<u16>,
    /// Its addresses inside tunnels.
    pub(crate) via: &'a [IpAddr],
    pub(crate) key: Option<&'a str>,
    /// True if it needs no key.
    pub(crate) open: bool,
}

/// Progress display of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// On standard error.
    Shown,
    /// It is one of many.
    #[cfg(feature = "tune")]
    Hidden,
}

/// A reachable far end.
pub(crate) struct Reached {
    name: String,
    asked: Asked,
    key: Key,
    /// True if the key was given and is not stored yet.
    is_new: bool,
    pub(super) far: reach::FarEnd,
    /// A third point to probe in addition to the path.
    pub(super) third: Option<Third>,
}

impl Far<'_> {
    /// Finds its addresses.
    ///
    /// # Errors
    /// No address answers, or no key is known.
    pub(crate) fn reach(&self) -> Result<Reached, Failure> {
        let name = known::name(self.host, self.port);
        let key = if self.open {
            Key::OPEN
        } else {
            client_key(self.key, &name)?
        };
        let far = reach::FarEnd::find(self.host, self.port, self.via)
            .map_err(unreached("pathtwin serve"))?;
        for tunnel in &far.unreached {
            let why = &tunnel.why;
            format::say(format_args!(
                "the tunnel is not measured: {why}; is the tunnel up, and does `pathtwin serve` \
                 listen on that address?"
            ));
        }
        Ok(Reached {
            name,
            asked: Asked {
                host: self.host.to_owned(),
                port: self.port,
                via: self.via.to_vec(),
                open: self.open,
            },
            key,
            is_new: self.key.is_some() && !self.open,
            far,
            third: None,
        })
    }
}

impl Reached {
    /// Number of layers that are measured.
    #[cfg(feature = "tune")]
    pub(crate) fn layers(&self) -> usize {
        self.far.layers()
    }

    /// The address from which this host reaches it.
    #[cfg(feature = "lab")]
    pub(crate) fn own_address(&self) -> std::io::Result<IpAddr> {
        self.far.own_address()
    }

    /// Returns the address at which its sessions are opened.
    #[cfg(any(feature = "lab", feature = "history"))]
    pub(crate) fn control(&self) -> std::net::SocketAddr {
        self.far.control
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// No session could be opened, or there is no result.
    pub(crate) fn measure(
        &self,
        plan: &Plan,
        seed_given: Option<u64>,
        progress: Progress,
        stop: &'static AtomicBool,
    ) -> Result<Run, Failure> {
        let (random, seed) = seed(seed_given)?;
        let start = Start {
            control: self.far.control,
            key: &self.key,
            plan,
            seed,
            targets: &self.far.targets,
            unreached: self.far.unreached.clone(),
            third: self.third.as_ref(),
            slot: false,
            program: env!("CARGO_PKG_VERSION"),
            id: format!("{random:016x}"),
            started_us: now_us(),
            lab: false,
            cancel: stop,
        };
        let run = match progress {
            #[cfg(feature = "tune")]
            Progress::Hidden => measure::run::measure(start, &mut |_| {}),
            Progress::Shown => {
                let mut display = live::Display::new(plan.budget);
                let run = measure::run::measure(start, &mut |event| display.show(&event));
                display.finish();
                run
            }
        };
        if run.is_ok() && self.is_new {
            known::remember(&self.name, &self.key);
        }
        let mut run = run.map_err(|e| Failure::new(code::FAILED, e))?;
        run.asked = Some(self.asked.clone());
        Ok(run)
    }
}

fn client_key(given: Option<&str>, host: &str) -> Result<Key, Failure> {
    if let Some(known) = known::of_host(given, host)? {
        return Ok(known);
    }
    let client = key::of_client(given, std::io::stdin().lock())?;
    if client.on_command_line {
        format::say(format_args!(
            "a key on the command line is visible to every user of this host (ps); --key FILE and --key - are not"
        ));
    }
    Ok(client.key)
}

/// Returns a hint for a host that cannot be reached, on which `program` should run.
pub(super) fn unreached(program: &str) -> impl FnOnce(ReachError) -> Failure {
    move |error| match error {
        ReachError::Resolve { .. } | ReachError::LinkLocal(_) => Failure::new(code::USE, error),
        ReachError::NoAddress(_) => Failure::new(code::FAILED, error),
        ReachError::Connect { .. } => {
            let hint = format!("{error}; is `{program}` running there, and is the port open?");
            Failure::new(code::FAILED, anyhow!(hint))
        }
    }
}

/// A random number, and the seed: part of it unless one was given.
pub(super) fn seed(given: Option<u64>) -> Result<(u64, Seed), Failure> {
    let random = u64::from_le_bytes(traffic::wire::key::random().context("draw a seed")?);
    let seed = given.map_or(Seed(random >> 32), Seed);
    Ok((random, seed))
}

/// µs since 1970.
pub(super) fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as u64)
}
