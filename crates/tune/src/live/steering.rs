//! Processors for packets that a device receives (RPS) and sends (XPS).

use model::{
    change::{Saved, Setting, processors, sending},
    remedy::Flow,
    text::Text,
};

use super::queues;
use crate::error::{HostError, Refusal, RefusalReason};

pub(super) fn read(device: &str, of: Flow) -> Result<Saved, HostError> {
    let masks = queues::read(device, of)?;
    Ok(Saved::Processors { masks })
}

pub(super) fn check(
    setting: &Setting,
    of: Flow,
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
                Flow::Ingress => RefusalReason::NoReceiveQueues,
                Flow::Egress => RefusalReason::OneTransmitQueue,
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

pub(super) fn write(device: &str, of: Flow, cpus: u32) -> Result<(), HostError> {
    queues::write(device, of, |queue, count| match of {
        Flow::Ingress => processors(cpus),
        Flow::Egress => sending(queue, count, cpus),
    })
}

pub(super) fn restore(
    device: &str,
    of: Flow,
    setting: &Setting,
    old: &Saved,
) -> Result<(), HostError> {
    let Saved::Processors { masks } = old else {
        return Err(HostError::unusable(setting));
    };
    queues::restore(device, of, masks)
}
