//! `pathtwin lab exec`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, anyhow};
use lab::{
    Config, Lab,
    exec::{ExecResult, HostFiles, Programs},
};
use model::job::{Command, Exec as Job};

use crate::{
    cli::{Exec, Format},
    commands::lab::run,
    exit::{Failure, code},
    format,
};

pub(crate) fn exec(arguments: &Exec) -> Result<ExitCode, Failure> {
    let commands =
        groups(&arguments.on, &arguments.rest).map_err(|e| Failure::new(code::USE, e))?;
    let spec = run::read_spec(&arguments.spec, &arguments.cells)?;
    let cells = spec.cells().map_err(|e| Failure::new(code::USE, e))?;
    let cell = cells
        .into_iter()
        .next()
        .ok_or_else(|| anyhow!("the spec has no cells"))?;
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
    let stop = sys::signal::stop_flag().context("watch for Ctrl-C")?;
    let files = match arguments.allow_host_writes {
        true => {
            say_if_writable();
            HostFiles::WritableIfUnavoidable
        }
        false => HostFiles::ReadOnly,
    };
    let programs = Programs { exec: &job, files };
    let result = lab.run(&programs, stop, &mut |_| ())?;
    show(arguments, &job, &result)
}

fn say_if_writable() {
    if !sys::isolation::Means::here().keep_files() {
        format::say(format_args!(
            "nothing keeps these programs from your files: they can write all that you can write"
        ));
    }
}

/// Splits `A… --on NODE -- B…` into groups.
fn groups(first: &str, rest: &[String]) -> anyhow::Result<Vec<Command>> {
    let mut node = first.to_owned();
    let mut argv = Vec::new();
    let mut commands = Vec::new();
    let mut words = rest.iter().peekable();
    while let Some(word) = words.next() {
        if word != "--on" {
            argv.push(word.clone());
            continue;
        }
        let next = words.next().context("--on needs the name of a node")?;
        if words.next().map(String::as_str) != Some("--") {
            anyhow::bail!("after --on {next} there must be -- and a program");
        }
        commands.push(Command {
            node: std::mem::replace(&mut node, next.clone()),
            argv,
        });
        argv = Vec::new();
    }
    commands.push(Command { node, argv });
    match commands.iter().find(|c| c.argv.is_empty()) {
        Some(command) => Err(anyhow!("no program for --on {}", command.node)),
        None => Ok(commands),
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
                eprintln!("== {}: {} ({status})", command.node, command.argv.join(" "));
            }
            format::print(&ended.stdout)?;
            eprint!("{}", String::from_utf8_lossy(&ended.stderr));
        }
    } else {
        let programs = job
            .commands
            .iter()
            .zip(&result.programs)
            .map(|(command, ended)| {
                serde_json::json!({
                    "node": command.node,
                    "argv": command.argv,
                    "status": ended.status,
                    "stdout": String::from_utf8_lossy(&ended.stdout),
                    "stderr": String::from_utf8_lossy(&ended.stderr),
                })
            });
        format::json(&serde_json::json!({
            "programs": programs.collect::<Vec<_>>(),
            "virtual_s": result.virtual_s,
            "wall_s": result.cost.wall_s,
            "cpu_s": result.cost.cpu_s,
        }))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn split(rest: &[&str]) -> anyhow::Result<Vec<Command>> {
        groups(
            "server",
            &rest.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn groups_are_split_at_on() {
        let commands = split(&[
            "iperf3", "-s", "-1", "--on", "client", "--", "iperf3", "-c", "server",
        ])
        .unwrap();
        assert_eq!(commands.len(), 2);
        assert_eq!(
            (commands[0].node.as_str(), commands[0].argv.len()),
            ("server", 3)
        );
        assert_eq!(
            (commands[1].node.as_str(), commands[1].argv.len()),
            ("client", 3)
        );
    }

    #[test]
    fn an_empty_group_is_refused() {
        assert!(split(&["a", "--on", "client", "--"]).is_err());
        assert!(split(&["a", "--on", "client", "b"]).is_err());
        assert!(split(&["a", "--on"]).is_err());
    }
}
