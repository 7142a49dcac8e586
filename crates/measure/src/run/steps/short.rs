//! Requests one after the other, each on a connection of its own.

use model::run::Sample;
use traffic::{load::requests::RequestClient, wire::message::Order};

use super::requests::{self, TIMEOUT};
use crate::{
    far::{self, FarError},
    run::{bench::Bench, schedule::Task},
};

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task, bytes: u64) -> Result<Vec<Sample>, FarError> {
    requests::run(
        bench,
        task,
        Order::Short { bytes },
        |ticket, address, config| {
            let connect = far::connector(address, TIMEOUT);
            RequestClient::short(
                connect,
                move |number| ticket.greeting(number).bytes(),
                config,
            )
            .map_err(|source| FarError::Data {
                what: "request",
                address,
                source,
            })
        },
    )
}
