//! `pathtwin lab exec`.

use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, anyhow};
use lab::{
    Config, Lab,
    exec::{ExecResult, HostFiles, Programs},
};
use model::job::Exec as Job;

use crate::{
    cli::{Exec, Format},
    commands::lab::run,
    exit::{Failure, code},
    format,
    say::say,
};

pub(crate) fn exec(arguments: &Exec) -> Result<ExitCode, Failure> {
    let commands = arguments
        .commands()
        .map_err(|e| Failure::new(code::USE, e))?;
    let spec = run::read_spec(&arguments.spec, &arguments.cells)?;
    let (cell, _) = spec.first_cell().map_err(|e| Failure::new(code::USE, e))?;
    lab::exec::check(&cell, &commands)?;
    let directory = std::env::current_dir().context("find the working directory")?;
    let job = Job {
        cell,
        commands,
        directory: directory.to_string_lossy().into_owned(),
        limit_ns: Duration::from_secs(arguments.limit).as_nanos() as u64,
    };
    let lab = Lab::open(&Config {
        cache: false,
        wall_limit: Duration::from_secs(arguments.cells.wall_limit),
        ..Config::default()
    })?;
    lab.check(std::slice::from_ref(&job.cell))?;
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let files = match arguments.allow_host_writes {
        true => {
            warn_if_writable();
            HostFiles::WritableIfUnavoidable
        }
        false => HostFiles::ReadOnly,
    };
    let programs = Programs { exec: &job, files };
    let result = lab.run(&programs, stop, &mut |_| ())?;
    show(arguments, &job, &result)
}

fn warn_if_writable() {
    if !sys::isolation::Means::here().keep_files() {
        format::say(format_args!(
            "nothing protects your files from these programs: they can write all that you can write"
        ));
    }
}

fn show(arguments: &Exec, job: &Job, result: &ExecResult) -> Result<ExitCode, Failure> {
    let status = result.programs.last().and_then(|p| p.status);
    if arguments.output == Format::Text {
        let several = job.commands.len() > 1;
        for (command, ended) in job.commands.iter().zip(&result.programs) {
            if several {
                let status = ended
                    .status
                    .map_or("stopped".to_owned(), |s| format!("exit {s}"));
                say!("== {}: {} ({status})", command.node, command.argv.join(" "));
            }
            format::print(&ended.stdout)?;
            let _ = io::stderr().write_all(&ended.stderr);
        }
    } else {
        format::json(&result.document(job))?;
    }
    match (&result.error, status) {
        (Some(error), _) => Err(Failure::new(code::FAILED, anyhow!("{error}"))),
        (None, Some(status)) => Ok(ExitCode::from(u8::try_from(status).unwrap_or(code::FAILED))),
        (None, None) => Err(Failure::new(
            code::FAILED,
            anyhow!("the last program did not end"),
        )),
    }
}
