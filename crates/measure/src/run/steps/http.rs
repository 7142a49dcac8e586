//! HTTP/1.1 requests one after the other, on a connection that is kept.

use model::{
    net::Direction,
    run::{Key, Sample, StepKind},
};
use traffic::load::requests::RequestClient;

use super::{
    Blank, Cost, Measure, Step,
    requests::{self, Seen},
};
use crate::{
    far::{self, Action, FarError, load},
    run::{bench::Bench, task::Task},
};

/// HTTP/1.1 requests on one kept connection.
pub(super) struct Http {
    /// Bytes of an answer.
    pub(super) bytes: u64,
}

impl Step for Http {
    fn kind(&self) -> StepKind {
        StepKind::Http
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

impl Measure for Http {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let bytes = self.bytes;
        let service = load::Http { bytes };
        requests::measure(bench, task, &service, bytes, |ticket, address, config| {
            let stream = far::stream(ticket, address, 0)?;
            RequestClient::http(stream, config).map_err(Action::Request.failed(address))
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        seen.samples(blank)
    }
}
