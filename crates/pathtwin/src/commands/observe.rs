//! `pathtwin observe`.

use std::{
    collections::HashMap,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context, anyhow};
use host::observe::Watch;
use indicatif::{ProgressBar, ProgressStyle};
use model::observation::{Filter, Observation};
use sys::{
    Netlink, NetlinkError,
    clock::Instant,
    sock_diag::{self, Owner, WITH_DATA},
};

use crate::cli::observe::Observe;
use crate::{
    cli::Format,
    exit::{Failure, code},
    format,
};

/// Shortest interval: a list of some thousand sockets takes milliseconds.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(100);
/// Lines of the live table, unless said: what fits on most terminals.
const LIVE_LINES: usize = 20;

pub(crate) fn observe(arguments: &Observe) -> Result<ExitCode, Failure> {
    check(arguments).map_err(|e| Failure::new(code::USE, e))?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let mut looker = Looker::open(arguments)?;
    let display = display();
    let ended = looker.look(arguments, stop, &display);
    display.finish_and_clear();
    let (last, cut_short) = match ended? {
        Ended::ReaderLeft => return Ok(ExitCode::SUCCESS),
        Ended::InTime(at) => (at, false),
        Ended::Stopped(at) => (at, !arguments.follow),
    };
    let mut seen = looker.observation(arguments.top);
    seen.cut_short = cut_short;
    match arguments.output {
        Format::Text => format::text(&report::observation::table(&seen))?,
        Format::Json => format::json(&seen)?,
        // Those of a follower are out already.
        Format::Jsonl if arguments.follow => {}
        Format::Jsonl => format::json_lines(&seen.rows(last))?,
    }
    Ok(if cut_short {
        ExitCode::from(code::INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

fn check(arguments: &Observe) -> anyhow::Result<()> {
    let Observe {
        interval, duration, ..
    } = arguments;
    if *interval < MIN_INTERVAL {
        return Err(anyhow!(
            "--interval {interval:?} is too short; it is at least {MIN_INTERVAL:?}"
        ));
    }
    // Three samples are the least a verdict needs.
    if *duration < *interval * 2 {
        return Err(anyhow!(
            "--duration {duration:?} is too short for --interval {interval:?}; it is at least twice that"
        ));
    }
    Ok(())
}

/// Why looking ended, and when, us since it began.
enum Ended {
    InTime(u64),
    Stopped(u64),
    ReaderLeft,
}

/// The socket that lists sockets, and what it has seen.
struct Looker {
    netlink: Netlink,
    watch: Watch,
}

impl Looker {
    fn open(arguments: &Observe) -> Result<Self, Failure> {
        Ok(Self {
            netlink: Netlink::sock_diag().map_err(refused)?,
            watch: Watch::new(Filter {
                dst: arguments.dst,
                port: arguments.port,
            }),
        })
    }

    /// Looks at the sockets each interval until the time is over, or for ever.
    fn look(
        &mut self,
        arguments: &Observe,
        stop: &AtomicBool,
        display: &ProgressBar,
    ) -> Result<Ended, Failure> {
        let start = Instant::now();
        let span = arguments.duration.as_micros() as u64;
        let mut due = start;
        loop {
            let now = micros_since(start);
            self.take(now)?;
            if arguments.follow {
                self.watch.forget_before(now.saturating_sub(span));
                if !self.show_live(arguments, now, display)? {
                    return Ok(Ended::ReaderLeft);
                }
            } else if now >= span {
                return Ok(Ended::InTime(now));
            } else {
                display.set_message(format!(
                    "observing, {:.0} s left",
                    Duration::from_micros(span - now).as_secs_f64().ceil()
                ));
            }
            due = next(due, arguments.interval);
            if !wait(due, stop) {
                return Ok(Ended::Stopped(now));
            }
        }
    }

    fn take(&mut self, at_us: u64) -> Result<(), Failure> {
        let sockets = sock_diag::tcp_sockets(&mut self.netlink, WITH_DATA).map_err(refused)?;
        let mut owners: Option<HashMap<u32, Owner>> = None;
        // Reading all of /proc is worth it only where there is a connection to name.
        self.watch.add(at_us, sockets, |inode| {
            owners
                .get_or_insert_with(sock_diag::owners)
                .get(&inode)
                .cloned()
        });
        Ok(())
    }

    /// `false` if nobody reads the rows any more.
    fn show_live(
        &self,
        arguments: &Observe,
        now: u64,
        display: &ProgressBar,
    ) -> Result<bool, Failure> {
        if arguments.output == Format::Jsonl {
            let rows = self.observation(arguments.top).rows(now);
            return format::json_lines_while_read(&rows);
        }
        if !display.is_hidden() {
            let seen = self.observation(arguments.top.or(Some(LIVE_LINES)));
            display.set_message(report::observation::table(&seen).trim_end().to_owned());
        }
        Ok(true)
    }

    fn observation(&self, top: Option<usize>) -> Observation {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease");
        Observation {
            kernel: release.ok().map(|r| r.trim().to_owned()),
            ..self.watch.observation(top)
        }
    }
}

/// A live message on standard error; nothing where that is no terminal.
fn display() -> ProgressBar {
    let display = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        display.set_style(style);
    }
    display
}

/// The next time to look; those that passed while the last list was taken are left out.
fn next(due: Instant, interval: Duration) -> Instant {
    let mut next = due.after(interval);
    while next < Instant::now() {
        next = next.after(interval);
    }
    next
}

/// Waits until `due`; `false` if it was stopped before.
fn wait(due: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = Instant::now();
        if now >= due {
            return true;
        }
        due.min(now.after(PATIENCE)).wait();
    }
}

fn micros_since(start: Instant) -> u64 {
    u64::try_from(Instant::now().since(start) / 1000).unwrap_or(0)
}

/// A kernel that cannot list sockets lacks something; anything else is a failure.
fn refused(error: NetlinkError) -> Failure {
    match error.errno {
        errno if sock_diag::lacks(errno) => Failure::new(
            code::LACKS,
            anyhow!(
                "{error}; the kernel needs CONFIG_INET_DIAG and CONFIG_INET_TCP_DIAG (modules inet_diag and tcp_diag)"
            ),
        ),
        _ => Failure::new(code::FAILED, error),
    }
}
