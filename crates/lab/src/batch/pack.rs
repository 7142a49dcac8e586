//! Packing of cells into tasks.

/// Splits cells into at most `most` tasks, in their order, each of at least `least` seconds of
/// estimated work; only a single task has less.
pub(super) fn pack(
    cells: &[usize],
    cost: &dyn Fn(usize) -> f64,
    least: f64,
    most: usize,
) -> Vec<Vec<usize>> {
    let total: f64 = cells.iter().map(|cell| cost(*cell)).sum();
    let least = least.max(total / most.max(1) as f64);
    let mut tasks = Vec::new();
    let (mut task, mut work) = (Vec::new(), 0.0);
    for cell in cells {
        task.push(*cell);
        work += cost(*cell);
        if work >= least {
            tasks.push(std::mem::take(&mut task));
            work = 0.0;
        }
    }
    // The rest is too small for a task.
    match tasks.last_mut() {
        Some(last) => last.append(&mut task),
        None if !task.is_empty() => tasks.push(task),
        None => {}
    }
    tasks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_sweep_is_a_single_task() {
        assert_eq!(pack(&[4, 5], &|_| 1.0, 60.0, 100), [[4, 5]]);
        assert!(pack(&[], &|_| 1.0, 60.0, 100).is_empty());
    }

    #[test]
    fn cells_longer_than_a_task_get_one_each() {
        assert_eq!(pack(&[1, 2, 3], &|_| 90.0, 60.0, 100), [[1], [2], [3]]);
    }

    proptest! {
        #[test]
        fn every_cell_is_in_one_task_and_every_task_has_enough_work(
            costs in prop::collection::vec(0.01f64..100.0, 1..300),
            least in 0.0f64..200.0,
            most in 1usize..40,
        ) {
            let cells: Vec<usize> = (0..costs.len()).collect();
            let tasks = pack(&cells, &|cell| costs[cell], least, most);
            prop_assert_eq!(tasks.concat(), cells);
            prop_assert!(tasks.len() <= most && tasks.iter().all(|task| !task.is_empty()));
            let work = |task: &Vec<usize>| task.iter().map(|cell| costs[*cell]).sum::<f64>();
            prop_assert!(tasks.len() == 1 || tasks.iter().all(|task| work(task) >= least));
        }
    }
}
