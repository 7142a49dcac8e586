//! Input of a fit: the parts of a Run that all its stages use.

use model::{
    cell::Queue,
    net::Direction,
    path::{Ends, Path, Source},
    run::Run,
};

use crate::{
    candidate::{Bounds, Candidate},
    course::Shown,
    moments::Moments,
    statistics::Values,
};

/// Input of a fit.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    pub(crate) run: &'a Run,
    pub(crate) known: Moments,
    pub(crate) ends: Ends,
    pub(crate) values: Values,
    /// The step that is shown over time, if the Run has series.
    pub(crate) shown: Option<Shown>,
}

impl Input<'_> {
    /// The path of a candidate. `source` is that of the chosen values.
    pub(crate) fn path(&self, candidate: &Candidate, source: Source) -> Path {
        candidate.path(&name(&self.run.id), &self.known, &self.ends, source)
    }

    /// The path by the moments alone, with the likeliest queue of each direction.
    pub(crate) fn path_of_moments(&self) -> Path {
        let choice = |direction| {
            let line = self.known.line(direction);
            let queue = line.queues.first().copied().unwrap_or(Queue::Fifo);
            Bounds::of(&self.known, direction).centre(queue)
        };
        let centre = Candidate {
            down: choice(Direction::Down),
            up: choice(Direction::Up),
        };
        self.path(&centre, Source::Measured)
    }
}

/// A name that is fit for a file, and names the Run.
fn name(run: &str) -> String {
    let alphanumeric = run.chars().filter(char::is_ascii_alphanumeric);
    let start: String = alphanumeric.take(8).collect();
    format!("twin-{start}").trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_nonsense_is_still_a_name() {
        assert_eq!(name("../x"), "twin-x");
        assert_eq!(name(""), "twin");
    }
}
