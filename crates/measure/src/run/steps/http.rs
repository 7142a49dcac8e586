//! HTTP/1.1 requests one after the other, on a connection that is kept.

use model::run::Sample;
use traffic::{load::requests::RequestClient, wire::message::Order};

use super::requests;
use crate::{
    far::{self, FarError},
    run::{bench::Bench, schedule::Task},
};

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task, bytes: u64) -> Result<Vec<Sample>, FarError> {
    requests::run(
        bench,
        task,
        Order::Http { bytes },
        |ticket, address, config| {
            let error = |source| FarError::Data {
                what: "request",
                address,
                source,
            };
            let stream = far::streams(ticket, address, 1)?
                .pop()
                .ok_or_else(|| error(std::io::ErrorKind::NotConnected.into()))?;
            RequestClient::http(stream, config).map_err(error)
        },
    )
}
