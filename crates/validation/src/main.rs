//! `pathtwin lab validate`, `pathtwin lab accuracy` and `pathtwin explain --corpus`: pathtwin
//! executes this program for them, with the same command line.

mod commands;

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use pathtwin::{
    cli::Check,
    exit::{self, Failure, code},
};
use validation::watching::job::{IN_LAB, Part};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(IN_LAB) {
        return exit::of(in_lab(&arguments.next().unwrap_or_default()));
    }
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

/// The part of this program on a node of a lab path, where it was started by itself.
fn in_lab(part: &str) -> Result<ExitCode, Failure> {
    let part: Part = serde_json::from_str(part).context("read the part")?;
    match part {
        Part::Line(script) => script.run()?,
        Part::Serve(script) => script.run()?,
        Part::Setting(setting) => setting.run()?,
        Part::Watch(script) => {
            let watched = serde_json::to_string(&script.run()?).context("write the result")?;
            println!("{watched}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
