//! Columns of the true state of the bottleneck's queue and of the configured losses.

use analysis::{models, percentile};
use model::{
    record::{Kind, LossyStage, QueuePlace, QueueSample, Record},
    row::Row,
};

use super::{Window, of};
use crate::cell::CellResult;

pub(super) fn fill(row: &mut Row, result: &CellResult, truth: &[Record<'_>], window: Window) {
    let bottleneck = result
        .output
        .queues
        .iter()
        .find(|q| q.place == QueuePlace::Bottleneck && q.direction == row.direction);
    if let Some((queue, rate)) = bottleneck.and_then(|q| Some((q, q.rate_bps?))) {
        let samples = of(truth, Kind::Queue, queue.id);
        let waits: Vec<f64> = samples
            .iter()
            .filter(|r| window.holds(r.at_ns))
            .map(|r| QueueSample::read(r.payload).backlog_bytes as f64)
            .map(|bytes| models::drain_s(bytes, rate as f64) * 1e3)
            .collect();
        row.queue_p50_ms = stats::median(&waits);
        row.queue_p99_ms = percentile::p99(&waits);
        if let Some(last) = samples.last().map(|r| QueueSample::read(r.payload)) {
            row.queue_drops = Some(last.drops);
            row.queue_marks = Some(last.marks);
        }
    }
    for loss in result
        .output
        .losses
        .iter()
        .filter(|l| l.direction == row.direction)
    {
        match loss.stage {
            // In addition to a queue, or instead of one.
            LossyStage::Policer => {
                row.queue_drops = Some(row.queue_drops.unwrap_or(0) + loss.drops)
            }
            // Its drops include its queue and its loss.
            LossyStage::Tunnel => {}
            LossyStage::Loss => row.true_loss = loss.share().or(row.true_loss),
        }
    }
}
