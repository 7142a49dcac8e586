//! Search for candidates in waves, with each direction judged separately.

use model::{
    job::Cause,
    net::{Direction, Layer},
    twin::Course,
};
use stats::Random;

use crate::{
    candidate::{Bounds, Candidate, Choice},
    design::latin,
    moments::Moments,
    statistics::{ABSENT, Fitness, Seeds, Target, Values, fitness, is_of},
};

/// Share of the first box that the second wave samples around each of the best.
const NEARER: f64 = 0.35;

/// Number of paths tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// In the first wave.
    pub(crate) first: usize,
    /// In the second wave.
    pub(crate) second: usize,
    /// Number of them that are measured again with several seeds.
    pub(crate) members: usize,
    /// Number of these seeds.
    pub(crate) seeds: usize,
}

/// A candidate that was measured.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) candidate: Candidate,
    pub(crate) values: Values,
}

/// A path measured with several seeds.
#[derive(Clone, Debug)]
pub(crate) struct Finalist {
    pub(crate) tried: Tried,
    /// Names of the results.
    pub(crate) names: Vec<String>,
    /// The shown step with the first seed.
    pub(crate) course: Option<Course>,
}

/// Result of a search.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// All that was tried once.
    pub(crate) tried: Vec<Tried>,
    /// The best of the first wave with several seeds: how much figures vary by chance.
    pub(crate) repeated: Vec<Values>,
    /// The best, measured with several seeds.
    pub(crate) members: Vec<Finalist>,
    pub(crate) runs: usize,
    pub(crate) failed: usize,
    pub(crate) first_failure: Option<Cause>,
}

impl Found {
    /// Returns the target that paths are compared with: the Run, with the variation observed so
    /// far.
    pub(crate) fn target<'a>(&self, values: &'a Values) -> Target<'a> {
        let members = self.members.iter().map(|m| &m.tried.values);
        Target {
            values,
            seeds: Seeds::of(self.repeated.iter().chain(members)),
        }
    }
}

/// Candidates over all possible queues: the best guess of each first, then points distributed
/// evenly over the box. The directions are drawn independently, so that one run covers both.
pub(crate) fn first_wave(known: &Moments, count: usize, random: &mut Random) -> Vec<Candidate> {
    let mut choices = |direction| -> Vec<Choice> {
        let line = known.line(direction);
        let bounds = Bounds::of(known, direction);
        let centres = line.queues.len().min(count);
        let places = latin(count - centres, random);
        let queue = |i: usize| line.queues[i % line.queues.len()];
        let guesses = (0..centres).map(|i| bounds.centre(queue(i)));
        let drawn = places
            .into_iter()
            .enumerate()
            .map(|(i, place)| bounds.at(queue(i), place));
        guesses.chain(drawn).collect()
    };
    let (down, up) = (choices(Direction::Down), choices(Direction::Up));
    let both = down.into_iter().zip(up);
    both.map(|(down, up)| Candidate { down, up }).collect()
}

/// Candidates near the best choices of each direction: half of them near the best one, the others
/// in turn near that of each other queue, or near the second best one of a single queue.
pub(crate) fn second_wave(
    known: &Moments,
    run: &Target<'_>,
    tried: &[Tried],
    count: usize,
    random: &mut Random,
) -> Vec<Candidate> {
    let mut choices = |direction| -> Vec<Choice> {
        let bounds = Bounds::of(known, direction);
        let best = best(known, run, tried, direction, &|_| true);
        let others = best_of_others(&best);
        let places = latin(count, random);
        let near = |(i, place): (usize, [f64; 2])| {
            let choice = match i % 2 {
                0 => best.first()?,
                _ => others.get(i / 2 % others.len().max(1)).or(best.first())?,
            };
            Some(bounds.around(choice, NEARER).at(choice.queue, place))
        };
        places.into_iter().enumerate().filter_map(near).collect()
    };
    let (down, up) = (choices(Direction::Down), choices(Direction::Up));
    let both = down.into_iter().zip(up);
    both.map(|(down, up)| Candidate { down, up }).collect()
}

/// The best choice of each queue but that of the best; of a single queue, the second best.
fn best_of_others(best: &[Choice]) -> Vec<Choice> {
    let mut seen: Vec<Choice> = Vec::new();
    for choice in best {
        if seen.iter().all(|other| other.queue != choice.queue) {
            seen.push(*choice);
        }
    }
    match seen.len() {
        0 | 1 => best.get(1).copied().into_iter().collect(),
        _ => seen.split_off(1),
    }
}

/// The best of each direction together, then the second best, and so on.
pub(crate) fn finalists(
    known: &Moments,
    run: &Target<'_>,
    tried: &[Tried],
    count: usize,
) -> Vec<Candidate> {
    let down = best(known, run, tried, Direction::Down, &|_| true);
    let up = best(known, run, tried, Direction::Up, &|_| true);
    let most = down.len().max(up.len()).min(count);
    // A direction with fewer choices continues with its best.
    let nth = |of: &[Choice], i: usize| of.get(i).or(of.first()).copied();
    let pair = |i| {
        Some(Candidate {
            down: nth(&down, i)?,
            up: nth(&up, i)?,
        })
    };
    (0..most).filter_map(pair).collect()
}

/// The choices of a direction, the best first, by the statistics of the Run that count.
pub(crate) fn best(
    known: &Moments,
    run: &Target<'_>,
    tried: &[Tried],
    direction: Direction,
    counts: &dyn Fn(&crate::statistics::Statistic) -> bool,
) -> Vec<Choice> {
    let ranked = ranked(known, run, tried, direction, counts);
    ranked
        .into_iter()
        .map(|(tried, _)| *tried.candidate.choice(direction))
        .collect()
}

/// Returns the paths tried, the best of a direction first; last those with a figure as far away as
/// one that is absent.
///
/// Bug: where the first wave met the loss of no plain queue, PIE fitted better, although it held
/// back a flood of UDP by 4 ms instead of 38, and the second wave knew PIE alone.
pub(crate) fn ranked<'a>(
    known: &Moments,
    run: &Target<'_>,
    tried: &'a [Tried],
    direction: Direction,
    counts: &dyn Fn(&crate::statistics::Statistic) -> bool,
) -> Vec<(&'a Tried, Fitness)> {
    let fit = |t: &'a Tried| {
        let of = |s: &crate::statistics::Statistic| is_of(s, known, direction) && counts(s);
        let unasked = t.candidate.unasked(known, direction);
        (t, fitness(run, &t.values, &of).with_parameters(unasked))
    };
    let mut all: Vec<(&Tried, Fitness)> = tried.iter().map(fit).collect();
    let is_absent = |f: &Fitness| f.worst.as_ref().is_some_and(|(_, i)| *i >= ABSENT);
    all.sort_by(|(_, a), (_, b)| {
        let by_score = a.score.total_cmp(&b.score);
        is_absent(a).cmp(&is_absent(b)).then(by_score)
    });
    all
}

/// The layers on which members are measured: all that the Run was.
pub(crate) fn layers(known: &Moments) -> Vec<Layer> {
    match known.tunnel {
        Some(tunnel) if tunnel.beside_underlay => vec![Layer::Underlay, Layer::Tunnel],
        _ => vec![known.layer],
    }
}

#[cfg(test)]
mod tests {
    use model::cell::Queue;

    use super::*;

    fn choice(queue: Queue, loss: f64) -> Choice {
        Choice {
            queue,
            buffer: 5e4,
            burst: 5e4,
            loss,
        }
    }

    /// Bug: where the first wave met the loss of no plain queue, the second was of PIE and CoDel.
    #[test]
    fn no_possible_queue_is_left_out_of_the_second_wave() {
        let ranked = [
            choice(Queue::Pie, 0.003),
            choice(Queue::Pie, 0.004),
            choice(Queue::Codel, 0.002),
            choice(Queue::Fifo, 0.008),
            choice(Queue::Fifo, 0.009),
        ];
        assert_eq!(best_of_others(&ranked), [ranked[2], ranked[3]]);
        assert_eq!(best_of_others(&ranked[..2]), [ranked[1]]);
        assert!(best_of_others(&ranked[..1]).is_empty());
    }
}
