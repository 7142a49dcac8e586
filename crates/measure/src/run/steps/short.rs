//! Requests one after the other, each on a connection of its own.

use model::run::Sample;
use traffic::{
    load::ask::Asking,
    wire::{Greeting, message::Order},
};

use super::requests::{self, PATIENCE};
use crate::{
    far::{self, FarError},
    run::{bench::Bench, schedule::Task},
};

pub(crate) fn run(bench: &mut Bench<'_>, task: &Task, bytes: u64) -> Result<Vec<Sample>, FarError> {
    requests::run(
        bench,
        task,
        Order::Short { bytes },
        |token, address, terms| {
            let greeting = Greeting::Data { token, index: 0 };
            let connect = far::connector(address, PATIENCE);
            Asking::short(connect, greeting.bytes(), terms).map_err(|source| FarError::Data {
                what: "ask",
                address,
                source,
            })
        },
    )
}
