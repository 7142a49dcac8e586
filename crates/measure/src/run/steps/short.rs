//! Requests one after the other, each on a connection of its own.

use model::run::Sample;
use traffic::{
    load::requests::RequestClient,
    wire::{Greeting, message::Order},
};

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
        |token, address, config| {
            let greeting = Greeting::Data { token, index: 0 };
            let connect = far::connector(address, TIMEOUT);
            RequestClient::short(connect, greeting.bytes(), config).map_err(|source| {
                FarError::Data {
                    what: "request",
                    address,
                    source,
                }
            })
        },
    )
}
