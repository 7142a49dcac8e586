//! The command line of pathtwin.

// `say!` instead.
#![warn(clippy::print_stderr)]

pub mod cli;
pub mod commands;
mod document;
pub mod exit;
#[cfg(feature = "lab")]
mod external;
pub mod format;
#[cfg(feature = "lab")]
pub mod in_lab;
#[cfg(feature = "lab")]
pub mod progress;
mod say;

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, FromArgMatches, Parser, error::ContextKind};

#[cfg(feature = "lab")]
use crate::cli::Lab;
#[cfg(feature = "history")]
use crate::commands::history;
#[cfg(feature = "page")]
use crate::commands::report;
use crate::{
    cli::{Arguments, Command},
    commands::{compare, explain, facts, iperf3, measure, observe, serve},
    exit::Failure,
};

/// Carries out the command line.
pub fn run() -> ExitCode {
    let mut line = Arguments::command().override_help(help());
    let given = line.try_get_matches_from_mut(words(std::env::args_os()));
    match given.and_then(|given| Arguments::from_arg_matches(&given)) {
        Ok(arguments) => exit::of(command(&arguments.command)),
        Err(error) => error.format(&mut line).exit(),
    }
}

/// Commands of which the help of the program only has the name: nobody starts with them.
const BESIDE: [&str; 2] = ["completions", "manual"];

/// The help of the program: for a terminal of 80 x 24.
fn help() -> String {
    let line = Arguments::command();
    let about = line.get_about().map(ToString::to_string);
    let mut text = format!(
        "{}\n\nUsage: pathtwin COMMAND [OPTIONS], or pathtwin HOST (short for measure HOST)\n\n",
        about.unwrap_or_default()
    );
    let mut beside = String::new();
    for command in line.get_subcommands() {
        let name = command.get_name();
        if BESIDE.contains(&name) {
            beside.push_str(&format!("{name}, "));
            continue;
        }
        let about = command.get_about().map(ToString::to_string);
        text.push_str(&format!("  {name:<10} {}\n", about.unwrap_or_default()));
    }
    text.push_str(&format!(
        "\nTo begin: `pathtwin serve` on one host; on the other, the command it prints.\n\
         `pathtwin COMMAND --help` has examples. Also: {beside}--version.\n",
    ));
    text
}

/// The command line, where a host in place of a command is one to measure. A word that is nearly a
/// command is treated as misspelt.
fn words(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if words
        .get(1)
        .and_then(|word| word.to_str())
        .is_some_and(is_host)
    {
        words.insert(1, "measure".into());
    }
    words
}

fn is_host(word: &str) -> bool {
    let commands = Arguments::command();
    let mut names = commands.get_subcommands().map(clap::Command::get_name);
    let known = names.any(|name| name == word) || word == "help";
    if word.starts_with('-') || word.is_empty() || known {
        return false;
    }
    if word.contains(['.', ':']) || word == "localhost" {
        return true;
    }
    let error = Arguments::try_parse_from(["pathtwin", word]).err();
    error.is_some_and(|e| e.get(ContextKind::SuggestedSubcommand).is_none())
}

fn command(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        #[cfg(feature = "lab")]
        Command::Lab(lab) => match lab {
            Lab::Run(arguments) => match (arguments.segment, &arguments.on, arguments.task) {
                (Some(segment), ..) => commands::lab::segment::run(arguments, segment),
                (_, Some(options), _) => commands::lab::batch::run(arguments, options),
                (.., Some(task)) => commands::lab::segment::task(arguments, task),
                (None, None, None) => commands::lab::run::run(arguments),
            },
            Lab::Exec(arguments) => commands::lab::exec::exec(arguments),
            Lab::Validate(_) | Lab::Accuracy(_) => external::validation(),
            Lab::Gather(arguments) => commands::lab::segment::gather(arguments),
            Lab::Kubernetes(arguments) => commands::lab::kubernetes::kubernetes(arguments),
            Lab::Kernel(arguments) => commands::lab::kernel::kernel(arguments),
        },
        Command::Measure(arguments) => measure::measure(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Iperf3(command) => iperf3::iperf3(command),
        Command::Observe(arguments) => observe::observe(arguments),
        Command::Facts(arguments) => facts::facts(arguments),
        #[cfg(feature = "lab")]
        Command::Explain(arguments) if arguments.corpus.corpus.is_some() => external::validation(),
        Command::Explain(arguments) => explain::explain(arguments),
        #[cfg(feature = "lab")]
        Command::Twin(arguments) => commands::twin::twin(arguments),
        #[cfg(feature = "lab")]
        Command::Advise(arguments) => commands::advise::advise(arguments),
        #[cfg(feature = "lab")]
        Command::Fix(arguments) => commands::fix::fix(arguments),
        #[cfg(feature = "tune")]
        Command::Tune(command) => commands::tune::tune(command),
        Command::Compare(arguments) => compare::compare(arguments),
        #[cfg(feature = "page")]
        Command::Report(arguments) => report::report(arguments),
        #[cfg(feature = "history")]
        Command::History(arguments) => history::history(arguments),
        #[cfg(feature = "watch")]
        Command::Watch(arguments) => commands::watch::watch(arguments),
        #[cfg(all(feature = "history", feature = "page"))]
        Command::Dashboard(arguments) => commands::dashboard::dashboard(arguments),
        #[cfg(feature = "manual")]
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "pathtwin", &mut script);
            format::print(&script).map(|()| ExitCode::SUCCESS)
        }
        #[cfg(feature = "manual")]
        Command::Manual { folder } => commands::manual::manual(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bug: the help had 36 lines, and what to begin with had left the screen.
    #[test]
    fn the_help_fits_a_terminal_and_has_every_command() {
        let help = help();
        assert!(help.lines().count() < 24, "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for command in Arguments::command().get_subcommands() {
            assert!(help.contains(command.get_name()), "{help}");
        }
    }

    /// Bug: examples were wider than 80 columns, and those of a terminal were wrapped into commands
    /// that do not run.
    #[test]
    fn examples_fit_a_terminal() {
        fn check(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string);
            for line in after.unwrap_or_default().lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Arguments::command());
    }

    #[test]
    fn a_host_alone_is_measured_and_a_misspelt_command_is_not() {
        for host in [
            "192.0.2.7",
            "far.example",
            "[2001:db8::1]:9",
            "localhost",
            "gatekeeper",
        ] {
            let given = ["pathtwin", host, "--quick"].map(OsString::from);
            assert_eq!(words(given.into_iter())[1], "measure", "{host}");
        }
        for word in [
            "mesure", "measure", "serv", "observ", "--help", "help", "-V",
        ] {
            let given = ["pathtwin", word].map(OsString::from);
            assert_eq!(words(given.into_iter())[1], word);
        }
    }

    /// The commands in a page's shell blocks, without their surroundings: input and redirected
    /// output.
    fn commands(page: &str) -> Vec<Vec<String>> {
        let blocks = page.split("```sh\n").skip(1);
        let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
        let of = |line: &str| {
            let at = line.find("pathtwin ").filter(|at| {
                *at == 0 || line[..*at].ends_with("| ") || line[..*at].ends_with("sudo ")
            })?;
            let command = line[at..].split([';', '>', '#']).next().unwrap_or_default();
            // No quoted word in the pages has a blank in it.
            let words = command.split_whitespace();
            let words = words.map(|word| word.trim_matches(['"', '\'']).to_owned());
            Some(words.collect())
        };
        lines.filter_map(of).collect()
    }

    #[test]
    #[cfg(all(feature = "lab", feature = "history", feature = "page"))]
    fn the_commands_of_the_guides_are_accepted_and_their_cases_exist() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let guides = std::fs::read_dir(root.join("docs/guides")).unwrap();
        let mut pages: Vec<_> = guides.map(|entry| entry.unwrap().path()).collect();
        pages.push(root.join("packaging/README.md"));
        let mut n = 0;
        for page in pages {
            for words in commands(&std::fs::read_to_string(&page).unwrap()) {
                let accepted = Arguments::try_parse_from(&words);
                let why = accepted.err().map(|e| e.to_string());
                assert_eq!(why, None, "{}: {words:?}", page.display());
                for case in words.iter().filter(|word| word.starts_with("cases/")) {
                    assert!(root.join(case).exists(), "{case}");
                }
                n += 1;
            }
        }
        assert!(n >= 30, "only {n} commands were found");
    }
}
