//! `pathtwin lab validate`, `pathtwin lab accuracy` and `pathtwin explain --corpus`: pathtwin
//! becomes this program for them, which has the same command line.

mod commands;

use std::process::ExitCode;

use anyhow::anyhow;
use pathtwin::{
    cli::Check,
    exit::{self, Failure, code},
};

fn main() -> ExitCode {
    exit::of(match Check::parse() {
        Some(Check::Validate(arguments)) => commands::validate::validate(&arguments),
        Some(Check::Accuracy(arguments)) => commands::accuracy::accuracy(&arguments),
        Some(Check::Corpus(arguments, form)) => commands::corpus::corpus(&arguments, form),
        None => {
            let other = anyhow!("this program only checks pathtwin; for all else run pathtwin");
            Err(Failure::new(code::USE, other))
        }
    })
}
