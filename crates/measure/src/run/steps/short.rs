//! Requests one after the other, each on a connection of its own.

use model::{
    net::Direction,
    run::{Key, Sample, StepKind},
};
use traffic::load::requests::RequestClient;

use super::{
    Blank, Cost, Measure, Step,
    requests::{self, Seen, TIMEOUT},
};
use crate::{
    far::{self, Action, FarError, load},
    run::{bench::Bench, task::Task},
};

/// Requests, each on a connection of its own.
pub(super) struct Short {
    /// Bytes of an answer.
    pub(super) bytes: u64,
}

impl Step for Short {
    fn kind(&self) -> StepKind {
        StepKind::Short
    }

    fn distinguish(&self, key: &mut Key) {
        key.bytes = Some(self.bytes);
    }

    fn cost(&self, duration_s: f64) -> Cost {
        requests::cost(duration_s)
    }

    fn rate_bps(&self, capacity: &dyn Fn(Direction) -> Option<f64>) -> Option<f64> {
        // Requests are small beside their answers.
        capacity(Direction::Down)
    }
}

impl Measure for Short {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let bytes = self.bytes;
        let service = load::Short { bytes };
        requests::measure(bench, task, &service, bytes, |ticket, address, config| {
            let connect = far::connector(address, TIMEOUT);
            let greeting = move |number| ticket.greeting(number).bytes();
            RequestClient::short(connect, greeting, config).map_err(Action::Request.failed(address))
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        seen.samples(blank)
    }
}
