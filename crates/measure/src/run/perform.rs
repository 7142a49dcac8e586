//! One task of a run.

use model::{
    run::{Invalid, Key, Run, Sample},
    text,
    text::Text,
};
use sys::clock::Instant;

use super::{
    bench::{Bench, Event},
    budget::{self, Spent},
    pace, schedule,
    steps::{self, AnyStep},
    task::Task,
    validity,
};
use crate::far::FarError;

/// Runs a task and stores its samples. False: the run has ended.
pub(super) fn perform(
    bench: &mut Bench<'_>,
    run: &mut Run,
    task: &Task,
    of: usize,
) -> Result<bool, FarError> {
    if bench.cancelled() {
        return Ok(false);
    }
    let task = &pace::fitted(bench, task.clone());
    let step = steps::of(&task.step.measurement);
    let keys = step.keys(task);
    if let Some(why) = step
        .lacks(&bench.far)
        .or_else(|| too_much(bench, task, &*step))
    {
        note_skipped(run, &keys, why, bench.on);
        return Ok(true);
    }
    let number = run.samples.len() as u32;
    for key in &keys {
        (bench.on)(Event::Began {
            key,
            number,
            of,
            block: task.block,
        });
    }
    bench.keep_alive()?;
    let guard = validity::Guard::set(task, run.lab);
    let samples = match step.run(bench, task) {
        Ok(mut samples) => {
            guard.judge(&mut samples);
            if let Some(third) = &mut bench.third {
                third.apply(&mut samples);
            }
            samples
        }
        Err(error) if error.is_final() => return Err(error),
        Err(error) => {
            bench.abandon()?;
            step.failed(bench, task, &error)
        }
    };
    keep(bench, run, task, samples);
    Ok(true)
}

fn keep(bench: &mut Bench<'_>, run: &mut Run, task: &Task, samples: Vec<Sample>) {
    for mut sample in samples {
        sample.number = run.samples.len() as u32;
        sample.block = task.block;
        sample.took_us = bench.at_us().saturating_sub(sample.at_us);
        if bench.cancelled() {
            sample.invalid.push(Invalid::CutShort);
        }
        if let Some(direction) = sample.key.direction {
            pace::mark(pace::line(bench, &task.layer, direction), &mut sample);
        }
        sample.valid = sample.invalid.is_empty();
        (bench.on)(Event::Ended(&sample));
        run.samples.push(sample);
    }
}

/// Notes a task that is skipped, once.
pub(crate) fn note_skipped(run: &mut Run, keys: &[Key], why: Text, on: &mut dyn FnMut(Event<'_>)) {
    let name = keys.first().map(ToString::to_string).unwrap_or_default();
    let note = text!("skipped: {step} ({why})", step = name, why = why);
    if !run.notes.contains(&note) {
        on(Event::Note(&note.to_string()));
        run.notes.push(note);
    }
}

/// Returns why a task does not fit the rest of the budget.
fn too_much(bench: &Bench<'_>, task: &Task, step: &dyn AnyStep) -> Option<Text> {
    let capacity = |direction| {
        let place = (task.layer.clone(), direction);
        bench.capacity.get(&place).copied()
    };
    let spent = Spent {
        time_s: Instant::now().since(bench.zero) as f64 / 1e9,
        bytes: bench.bytes,
    };
    budget::exceeded(
        &bench.plan.budget,
        spent,
        schedule::needs(&task.step, step.rate_bps(&capacity)),
    )
}
