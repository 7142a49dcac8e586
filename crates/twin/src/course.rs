//! The step of a Run that its twin shows over time.

use analysis::{
    buckets::Grid,
    timeline::{course, grid_of, is_representative},
};
use model::{
    net::Direction,
    run::{Key, Run, Sample, StepKind},
    twin::{COURSE_POINTS, Course, TwinFigure, TwinSeries},
};

use crate::{
    moments::Moments,
    statistics::{Statistic, Values, is_of},
};

/// The step, and its course in the Run.
#[derive(Debug)]
pub(crate) struct Shown {
    key: Key,
    grid: Grid,
    measured: Course,
}

impl Shown {
    /// The longest load of a single flow, in the direction in which loads add more delay; `None`
    /// if the Run has no series of one.
    pub(crate) fn of(run: &Run, known: &Moments, values: &Values) -> Option<Self> {
        let first = slower(known, values);
        let of = |direction| longest(run, known, values, direction);
        let any = || [Direction::Down, Direction::Up].into_iter().find_map(of);
        let sample = of(first).or_else(any)?;
        let grid = grid_of(sample, COURSE_POINTS);
        Some(Self {
            key: sample.key.clone(),
            grid,
            measured: course(sample, grid),
        })
    }

    /// The step on a path: a Run of the lab has it once.
    pub(crate) fn on(&self, run: &Run) -> Option<Course> {
        let sample = run.valid(&self.key).next()?;
        let course = course(sample, self.grid);
        (!course.goodput_bps.is_empty()).then_some(course)
    }

    /// The Run beside a path.
    pub(crate) fn beside(&self, twin: Course) -> TwinSeries {
        TwinSeries {
            key: self.key.clone(),
            from_us: self.grid.from_us,
            dt_us: self.grid.dt_us,
            measured: self.measured.clone(),
            twin,
        }
    }
}

/// The direction in which loads of a single flow add more delay; down if none of them is known.
fn slower(known: &Moments, values: &Values) -> Direction {
    let added = |direction| {
        let ours = values.iter().filter(|(s, _)| {
            let single = s.key.flows == Some(1) && s.figure == TwinFigure::AddedP50;
            single && is_of(s, known, direction)
        });
        let medians = ours.filter_map(|(_, all)| stats::median(all));
        medians.fold(0.0, f64::max)
    };
    match added(Direction::Up) > added(Direction::Down) {
        true => Direction::Up,
        false => Direction::Down,
    }
}

/// The median repeat of the longest load of a single flow in a direction; of equally long ones
/// that which adds more delay.
fn longest<'a>(
    run: &'a Run,
    known: &Moments,
    values: &Values,
    direction: Direction,
) -> Option<&'a Sample> {
    let statistic = |sample: &Sample, figure| Statistic {
        key: sample.key.clone(),
        figure,
    };
    let ours = |sample: &&Sample| {
        let goodput = statistic(sample, TwinFigure::Goodput);
        sample.valid
            && sample.key.step == StepKind::Tcp
            && sample.key.flows == Some(1)
            && sample.key.family == known.family
            && is_of(&goodput, known, direction)
            // Only loads that the lab can run.
            && values.contains_key(&goodput)
            && is_representative(run, sample)
            && has_series(sample)
    };
    let added = |sample: &Sample| {
        let all = values.get(&statistic(sample, TwinFigure::AddedP50));
        all.and_then(|all| stats::median(all)).unwrap_or(0.0)
    };
    let samples = run.samples.iter().filter(ours);
    samples.max_by(|a, b| {
        let length = length_ds(a).cmp(&length_ds(b));
        let length = length.then(added(a).total_cmp(&added(b)));
        length.then(b.number.cmp(&a.number))
    })
}

/// Length in tenths of a second: timers of equal loads differ by less.
fn length_ds(sample: &Sample) -> i64 {
    let [from, to] = sample.tcp.as_ref().map_or([0, 0], |tcp| tcp.window_us);
    to.saturating_sub(from) / 100_000
}

fn has_series(sample: &Sample) -> bool {
    let grid = grid_of(sample, COURSE_POINTS);
    !course(sample, grid).goodput_bps.is_empty()
}
