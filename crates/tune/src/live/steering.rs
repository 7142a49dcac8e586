//! The processors for what a device receives (RPS) and sends (XPS).

use model::{
    change::{Saved, Setting, processors, sending},
    text::Text,
};

use super::{queues, queues::Direction};
use crate::error::{HostError, Refusal, RefusalReason};

pub(super) fn read(device: &str, of: Direction) -> Result<Saved, HostError> {
    let masks = queues::read(device, of)?;
    Ok(Saved::Processors { masks })
}

pub(super) fn check(
    setting: &Setting,
    of: Direction,
    cpus: u32,
    old: &Saved,
) -> Result<Vec<Text>, Refusal> {
    let Saved::Processors { masks } = old else {
        return Ok(Vec::new());
    };
    if masks.is_empty() {
        return Err(Refusal::new(
            setting,
            match of {
                Direction::Receive => RefusalReason::NoReceiveQueues,
                Direction::Transmit => RefusalReason::OneTransmitQueue,
            },
        ));
    }
    let there = std::thread::available_parallelism().map_or(1, |n| n.get());
    if cpus as usize > there {
        let reason = RefusalReason::TooManyProcessors { has: there };
        return Err(Refusal::new(setting, reason));
    }
    Ok(Vec::new())
}

pub(super) fn write(device: &str, of: Direction, cpus: u32) -> Result<(), HostError> {
    queues::write(device, of, |queue, count| match of {
        Direction::Receive => processors(cpus),
        Direction::Transmit => sending(queue, count, cpus),
    })
}

pub(super) fn restore(
    device: &str,
    of: Direction,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Processors { masks } = old else {
        return Err(HostError::unusable(setting));
    };
    queues::restore(device, of, masks)
}
