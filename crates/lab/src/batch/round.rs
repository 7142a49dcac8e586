//! Submissions of an array job, and the next submission.
//!
//! A cell is never judged by the exit code of its task, only by the files of results. A task may
//! end before it has run all its cells: killed by the scheduler, with its worker, or by one of its
//! own cells. The cell that was running when it ended is tried again in a separate task, so that a
//! cell that ends every task does not prevent others from running. A task without a file has run no
//! cell: it was pending when its job was cancelled, or could not start.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde::{Deserialize, Serialize};
use sys::files::{Existing, Readers};

use super::{BatchError, pack::pack};
use crate::{
    LabError,
    segment::{TaskId, file::Sweep},
};

/// A submission. Written as `round-N.json` before it is submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Identity of everything that the results depend on.
    pub sweep: Sweep,
    /// Number of the submission, from 0.
    pub number: u32,
    /// Unique name of the job.
    pub name: String,
    /// The scheduler's number of the job, `JOB;CLUSTER` on another cluster; absent = not known to
    /// be submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Cells at once in a task.
    pub processors: usize,
    /// Indices of the cells of each task.
    pub tasks: Vec<Vec<usize>>,
    /// Failed attempts at cells without rows, before this submission.
    #[serde(default)]
    pub attempts: BTreeMap<usize, Attempts>,
    /// Submissions without a new row, before this one.
    #[serde(default)]
    pub barren: u32,
}

/// Failed attempts at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// Number of attempts; 0 = only those of an earlier start of the program.
    pub count: u32,
    /// The task of the last cell.
    pub last: TaskId,
}

/// Result of a task in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Cells with rows.
    pub(super) done: BTreeSet<usize>,
    /// Cells with an error.
    pub(super) failed: BTreeSet<usize>,
}

/// Packing of cells into tasks.
pub(super) struct Packing<'a> {
    /// Estimated work of a cell, s.
    pub(super) cost: &'a dyn Fn(usize) -> f64,
    /// Minimum work of a task, s.
    pub(super) least: f64,
    /// Maximum number of tasks of a submission.
    pub(super) most: usize,
    /// Attempts at a cell before it is given up.
    pub(super) tries: u32,
}

impl Round {
    /// The first submission: all cells.
    pub(super) fn first(
        sweep: Sweep,
        name: &str,
        processors: usize,
        packing: &Packing<'_>,
    ) -> Self {
        let cells: Vec<usize> = (0..sweep.cells).collect();
        let processors = processors.max(1);
        // A task's work is shared by its processors.
        let least = packing.least * processors as f64;
        Self {
            sweep,
            number: 0,
            name: format!("{name}-0"),
            job: None,
            processors,
            tasks: pack(&cells, packing.cost, least, packing.most),
            attempts: BTreeMap::new(),
            barren: 0,
        }
    }

    /// Notes the failed attempts after the end of this submission. `left` is the result of each of
    /// its tasks, `None` for one that ran no cell.
    pub(super) fn note(&mut self, left: &[Option<Left>]) {
        for (number, (cells, left)) in self.tasks.iter().zip(left).enumerate() {
            let Some(left) = left else { continue };
            let open = cells
                .iter()
                .filter(|cell| !left.done.contains(cell) && !left.failed.contains(cell));
            // Cells are run in order: these were being run when the task ended.
            let suspects = open.take(self.processors);
            let last = self.task(number);
            let failed = left.failed.difference(&left.done);
            for cell in failed.chain(suspects) {
                let attempts = self.attempts.entry(*cell);
                let attempts = attempts.or_insert(Attempts { count: 0, last });
                attempts.count += 1;
                attempts.last = last;
            }
        }
        self.barren = match left.iter().flatten().any(|left| !left.done.is_empty()) {
            true => 0,
            false => self.barren + 1,
        };
    }

    /// The next submission, after [`Self::note`]; `completed` are all cells with rows. `None` = all
    /// are completed or given up.
    pub(super) fn next(&self, completed: &BTreeSet<usize>, packing: &Packing<'_>) -> Option<Self> {
        if self.barren >= packing.tries {
            return None;
        }
        let attempts = |cell: &usize| self.attempts.get(cell);
        let open = (0..self.sweep.cells).filter(|cell| !completed.contains(cell));
        let (suspects, fresh): (Vec<usize>, Vec<usize>) = open
            .filter(|cell| attempts(cell).is_none_or(|a| a.count < packing.tries))
            .partition(|cell| attempts(cell).is_some());
        // Half of the tasks are reserved for the cells that were not tried: in a few tasks, these
        // would be run one after another.
        let room = match fresh.is_empty() {
            true => packing.most,
            false => packing.most / 2,
        };
        let mut tasks: Vec<Vec<usize>> = suspects
            .into_iter()
            .take(room)
            .map(|cell| vec![cell])
            .collect();
        let rest = packing.most.saturating_sub(tasks.len());
        let least = packing.least * self.processors as f64;
        tasks.extend(pack(&fresh, packing.cost, least, rest));
        let number = self.number + 1;
        let name = self.name.rsplit_once('-').map_or("", |(name, _)| name);
        (!tasks.is_empty()).then(|| Self {
            number,
            name: format!("{name}-{number}"),
            job: None,
            tasks,
            attempts: self
                .attempts
                .iter()
                .filter(|(cell, _)| !completed.contains(cell))
                .map(|(cell, attempts)| (*cell, *attempts))
                .collect(),
            ..self.clone()
        })
    }

    /// The identity of a task.
    pub(super) fn task(&self, task: usize) -> TaskId {
        TaskId {
            round: self.number,
            task: u32::try_from(task).unwrap_or(u32::MAX),
        }
    }

    /// Name of the file.
    pub(super) fn file_name(number: u32) -> String {
        format!("round-{number}.json")
    }

    /// Writes the document to its folder.
    pub(super) fn write(&self, folder: &Path) -> Result<(), LabError> {
        let file = folder.join(Self::file_name(self.number));
        let text = serde_json::to_vec(self).map_err(LabError::GuestJob)?;
        sys::files::write(&file, Readers::ByUmask, Existing::Replace, &text)
            .map_err(LabError::file("write", &file))
    }

    /// Reads the document of a submission.
    ///
    /// # Errors
    /// It cannot be read, or is not such a document.
    pub fn read(folder: &Path, number: u32) -> Result<Self, LabError> {
        let file = folder.join(Self::file_name(number));
        let text = fs::read(&file).map_err(LabError::file("read", &file))?;
        serde_json::from_slice(&text).map_err(|source| BatchError::Document { file, source }.into())
    }

    /// The latest submission in a folder, if there is one.
    pub(super) fn latest(folder: &Path) -> Result<Option<Self>, LabError> {
        let exists = |number: &u32| folder.join(Self::file_name(*number)).exists();
        let last = (0..).take_while(exists).last();
        last.map(|number| Self::read(folder, number)).transpose()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::batch) fn sweep(cells: usize) -> Sweep {
        serde_json::from_value(serde_json::json!({
            "schema": 1, "name": "n", "cells": cells, "spec": "s", "kernel": "k", "guest": "g"
        }))
        .unwrap()
    }

    fn packing(tries: u32) -> Packing<'static> {
        Packing {
            cost: &|_| 1.0,
            least: 4.0,
            most: 100,
            tries,
        }
    }

    fn left(done: &[usize], failed: &[usize]) -> Option<Left> {
        Some(Left {
            done: done.iter().copied().collect(),
            failed: failed.iter().copied().collect(),
        })
    }

    #[test]
    fn cells_of_pending_tasks_keep_their_tasks_when_others_were_killed() {
        let mut round = Round::first(sweep(10_000), "x", 1, &packing(3));
        assert_eq!(round.tasks.len(), 100);
        let mut results = vec![None; 100];
        results[..5].fill(left(&[], &[]));
        round.note(&results);
        let next = round.next(&BTreeSet::new(), &packing(3)).unwrap();
        let alone: Vec<_> = next.tasks.iter().filter(|task| task.len() == 1).collect();
        assert_eq!(alone, [&[0], &[100], &[200], &[300], &[400]]);
        assert!(next.tasks.len() > 95, "{}", next.tasks.len());
    }

    #[test]
    fn cells_that_were_not_tried_have_half_of_the_tasks_when_every_task_was_killed() {
        let mut round = Round::first(sweep(10_000), "x", 1, &packing(3));
        round.note(&vec![left(&[], &[]); 100]);
        let next = round.next(&BTreeSet::new(), &packing(3)).unwrap();
        let alone = next.tasks.iter().filter(|task| task.len() == 1).count();
        assert_eq!((alone, next.tasks.len()), (50, 100));
    }

    #[test]
    fn the_cell_that_ended_its_task_is_tried_alone_and_the_others_are_packed() {
        let mut round = Round::first(sweep(12), "x", 1, &packing(3));
        assert_eq!(round.tasks.len(), 3);
        // The second task ended while it ran cell 5.
        round.note(&[
            left(&[0, 1, 2, 3], &[]),
            left(&[4], &[]),
            left(&[8, 9, 10, 11], &[]),
        ]);
        let completed = [0, 1, 2, 3, 4, 8, 9, 10, 11].into();
        let next = round.next(&completed, &packing(3)).unwrap();
        assert_eq!(next.tasks, [vec![5], vec![6, 7]]);
        assert_eq!((next.number, next.name.as_str()), (1, "x-1"));
        assert_eq!(next.attempts[&5].last, TaskId { round: 0, task: 1 });
    }

    #[test]
    fn several_cells_at_once_are_all_suspects() {
        let mut round = Round::first(sweep(8), "x", 2, &packing(3));
        assert_eq!(round.tasks, [[0, 1, 2, 3, 4, 5, 6, 7]]);
        round.note(&[left(&[0, 2], &[1])]);
        let next = round.next(&[0, 2].into(), &packing(3)).unwrap();
        assert_eq!(next.tasks, [vec![1], vec![3], vec![4], vec![5, 6, 7]]);
    }

    #[test]
    fn a_cluster_that_runs_nothing_is_abandoned() {
        for result in [None, left(&[], &[])] {
            let mut round = Round::first(sweep(1000), "x", 1, &packing(3));
            let mut rounds = 1;
            loop {
                let nothing = vec![result.clone(); round.tasks.len()];
                round.note(&nothing);
                match round.next(&BTreeSet::new(), &packing(3)) {
                    Some(next) => round = next,
                    None => break,
                }
                rounds += 1;
            }
            assert_eq!(rounds, 3);
        }
    }

    #[test]
    fn a_document_round_trips() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Round::latest(folder.path()).unwrap(), None);
        let mut round = Round::first(sweep(12), "x", 1, &packing(3));
        round.write(folder.path()).unwrap();
        round.note(&vec![left(&[], &[]); 3]);
        let next = round.next(&BTreeSet::new(), &packing(3)).unwrap();
        next.write(folder.path()).unwrap();
        assert_eq!(Round::latest(folder.path()).unwrap(), Some(next));
    }

    proptest! {
        /// Tasks that are lost at any cell, cells that fail, and cells that end every task.
        #[test]
        fn all_but_the_cells_that_always_fail_are_completed(
            total in 1usize..80,
            killers in prop::collection::btree_set(0usize..80, 0..6),
            failing in prop::collection::btree_set(0usize..80, 0..6),
            lost in prop::collection::vec(0usize..20, 0..12),
            processors in 1usize..4,
        ) {
            let mut lost = lost.into_iter();
            let packing = packing(20);
            let mut round = Round::first(sweep(total), "x", processors, &packing);
            let mut completed = BTreeSet::new();
            for _ in 0..400 {
                let left: Vec<Option<Left>> = round.tasks.iter().map(|cells| {
                    let most = lost.next().unwrap_or(usize::MAX);
                    let killed = cells.iter().position(|cell| killers.contains(cell));
                    let end = killed.unwrap_or(cells.len()).min(most);
                    let (failed, done) =
                        cells[..end.min(cells.len())].iter().partition(|c| failing.contains(c));
                    Some(Left { done, failed })
                }).collect();
                completed.extend(left.iter().flatten().flat_map(|left| left.done.iter().copied()));
                round.note(&left);
                match round.next(&completed, &packing) {
                    Some(next) => round = next,
                    None => {
                        for cell in 0..total {
                            let bad = killers.contains(&cell) || failing.contains(&cell);
                            prop_assert_eq!(completed.contains(&cell), !bad, "cell {}", cell);
                        }
                        return Ok(());
                    }
                }
            }
            prop_assert!(false, "it does not end");
        }
    }
}
