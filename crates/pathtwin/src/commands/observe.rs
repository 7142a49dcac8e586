//! `pathtwin observe`.

use std::{ops::ControlFlow, process::ExitCode, time::Duration};

use anyhow::Context;
use host::observe::{Config, End, Observer};
use indicatif::{ProgressBar, ProgressStyle};
use model::observation::Filter;
#[cfg(feature = "tune")]
use model::observation::Observation;

use crate::cli::observe::Observe;
use crate::{
    cli::Format,
    exit::{Failure, code},
    format,
};

/// Default number of lines of the live table: fits on most terminals.
const LIVE_LINES: usize = 20;

pub(crate) fn observe(arguments: &Observe) -> Result<ExitCode, Failure> {
    let filter = Filter {
        dst: arguments.dst,
        port: arguments.port,
    };
    let (interval, duration) = (arguments.interval, arguments.duration);
    let config = Config::new(filter, interval, duration, arguments.follow)?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let mut observer = Observer::open(config)?;
    let display = display();
    let end = observer.run(stop, &mut |observer, now, left| {
        show_live(arguments, &display, observer, now, left)
    });
    display.finish_and_clear();
    let (last, cut_short) = match end? {
        End::Cancelled => return Ok(ExitCode::SUCCESS),
        End::Complete(at) => (at, false),
        End::Stopped(at) => (at, !arguments.follow),
    };
    let mut observation = observer.observation(arguments.top);
    observation.cut_short = cut_short;
    match arguments.output {
        Format::Text => format::text(&report::observation::table(&observation, format::width()))?,
        Format::Json => format::json(&observation)?,
        // With --follow the rows are printed already.
        Format::Jsonl if arguments.follow => {}
        Format::Jsonl => format::json_lines(&observation.rows(last))?,
    }
    Ok(match cut_short {
        true => ExitCode::from(code::INTERRUPTED),
        false => ExitCode::SUCCESS,
    })
}

/// The connections of this host over a time; none if it was stopped.
#[cfg(feature = "tune")]
pub(crate) fn for_a_time(span: Duration) -> Result<Option<Observation>, Failure> {
    let config = Config::over(span)?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let mut observer = Observer::open(config)?;
    let end = observer.run(stop, &mut |_, _, _| {
        Ok::<_, Failure>(ControlFlow::Continue(()))
    });
    Ok(match end? {
        End::Complete(_) => Some(observer.observation(None)),
        End::Cancelled | End::Stopped(_) => None,
    })
}

/// Shows the time left, or with --follow the connections; breaks if the reader of the rows has
/// closed the pipe.
fn show_live(
    arguments: &Observe,
    display: &ProgressBar,
    observer: &Observer,
    now: u64,
    left: Option<Duration>,
) -> Result<ControlFlow<()>, Failure> {
    if let Some(left) = left {
        let seconds = left.as_secs_f64().ceil();
        display.set_message(format!("observing, {seconds:.0} s left"));
    } else if arguments.output == Format::Jsonl {
        let rows = observer.observation(arguments.top).rows(now);
        if !format::json_lines_while_read(&rows)? {
            return Ok(ControlFlow::Break(()));
        }
    } else if !display.is_hidden() {
        let observation = observer.observation(arguments.top.or(Some(LIVE_LINES)));
        let table = report::observation::table(&observation, width_of_messages());
        display.set_message(table.trim_end().to_owned());
    }
    Ok(ControlFlow::Continue(()))
}

/// Columns of the terminal behind standard error.
fn width_of_messages() -> Option<usize> {
    sys::terminal::size(std::io::stderr()).map(|(width, _)| width)
}

/// A live message on standard error; hidden if that is not a terminal.
fn display() -> ProgressBar {
    let display = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        display.set_style(style);
    }
    display
}
