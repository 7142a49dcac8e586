//! Find out why TCP is slow on a path, prove the fix on a twin of it.

#[cfg(feature = "lab")]
mod accuracy;
mod arguments;
mod compare;
mod document;
#[cfg(feature = "lab")]
mod exec;
mod explain;
mod facts;
#[cfg(feature = "history")]
mod history;
mod iperf3;
#[cfg(feature = "lab")]
mod kernel;
mod key;
mod measure;
mod observe;
mod output;
#[cfg(feature = "lab")]
mod progress;
#[cfg(feature = "page")]
mod report;
#[cfg(feature = "lab")]
mod run;
mod serve;
#[cfg(feature = "lab")]
mod validate;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

#[cfg(feature = "lab")]
use crate::arguments::Lab;
use crate::arguments::{Arguments, Command};

/// Exit codes (see `docs/reference/exit-codes.md`).
pub(crate) mod code {
    /// A verdict: a check failed.
    pub(crate) const VERDICT: u8 = 1;
    /// Wrong use: arguments or spec.
    pub(crate) const USE: u8 = 2;
    /// The environment lacks something.
    pub(crate) const LACKS: u8 = 3;
    /// A run failed.
    pub(crate) const FAILED: u8 = 4;
    /// Stopped by Ctrl-C, as a shell would say it.
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// An error with the exit code it leads to.
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
}

impl Failure {
    pub(crate) fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self {
            code,
            error: error.into(),
        }
    }
}

#[cfg(feature = "lab")]
impl From<lab::LabError> for Failure {
    fn from(error: lab::LabError) -> Self {
        use lab::LabError::{FilesWritable, Kernel, Lacks, NoCache, NoGuest};
        let lacks = matches!(
            error,
            NoGuest(_) | Kernel(_) | Lacks(_) | NoCache | FilesWritable
        );
        let code = if lacks { code::LACKS } else { code::FAILED };
        Self::new(code, error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(code::FAILED, error)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        #[cfg(feature = "lab")]
        Command::Lab(lab) => match lab {
            Lab::Run(run) => run::run(&run),
            Lab::Exec(exec) => exec::exec(&exec),
            Lab::Validate(arguments) => validate::validate(&arguments),
            Lab::Accuracy(arguments) => accuracy::accuracy(&arguments),
            Lab::Kernel(kernel) => kernel::kernel(&kernel),
        },
        Command::Measure(arguments) => measure::measure(&arguments),
        Command::Serve(arguments) => serve::serve(&arguments),
        Command::Iperf3(command) => iperf3::iperf3(&command),
        Command::Observe(arguments) => observe::observe(&arguments),
        Command::Facts(arguments) => facts::facts(&arguments),
        Command::Explain(command) => explain::explain(&command),
        Command::Compare(arguments) => compare::compare(&arguments),
        #[cfg(feature = "page")]
        Command::Report(arguments) => report::report(&arguments),
        #[cfg(feature = "history")]
        Command::History(arguments) => history::history(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "pathtwin", &mut script);
            output::print(&script).map(|()| ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|failure| {
        eprintln!("pathtwin: {:#}", failure.error);
        ExitCode::from(failure.code)
    })
}
