//! Commands that are passed on to the program that validates pathtwin.

use clap::Parser;

use super::{Accuracy, Arguments, Command, Corpus, Form, Lab, Validate};

/// A command of that program.
#[derive(Debug)]
pub enum Check {
    /// `lab validate`.
    Validate(Validate),
    /// `lab accuracy`.
    Accuracy(Accuracy),
    /// `explain --corpus`, and its output format.
    Corpus(Corpus, Form),
}

impl Check {
    /// Reads the command line, which is that of pathtwin; `None` for any other command.
    pub fn parse() -> Option<Self> {
        match Arguments::parse().command {
            Command::Lab(Lab::Validate(arguments)) => Some(Self::Validate(arguments)),
            Command::Lab(Lab::Accuracy(arguments)) => Some(Self::Accuracy(arguments)),
            Command::Explain(arguments) => Some(Self::Corpus(arguments.corpus, arguments.output)),
            _ => None,
        }
    }
}
