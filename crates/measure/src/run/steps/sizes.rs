//! What is lost by the size of a packet.

use std::{collections::HashMap, io, time::Duration};

use model::{
    net::Direction,
    run::{Sample, SizeStep},
};
use sys::clock::Instant;

use super::{blank, sized::Sized, udp};
use crate::{
    far::FarError,
    run::{bench::Bench, key::key, schedule::Task},
};

/// Datagrams of each size, at most.
const EACH: u64 = 60;
/// Sizes that are compared, IP packets; and the largest the path carries.
const SIZES: [u32; 5] = [100, 576, 1000, 1280, 1400];
/// Size of the packet in the other direction.
const SHORT: u32 = 60;
/// The next one is sent when the answer is there, or after this time: on a long path many are under
/// way, at about half a Mbit/s.
const GAP: Duration = Duration::from_millis(10);

/// Datagrams of several sizes, in turn, so that all sizes meet the same moments.
pub(crate) fn run(bench: &mut Bench<'_>, task: &Task) -> Result<Vec<Sample>, FarError> {
    let layer = &task.layer;
    let mut sample = blank(bench, key(&task.step.measurement, layer, None, None));
    let largest = udp::largest_payload(bench, layer) + udp::headers(layer.family);
    let mut all: Vec<u32> = SIZES.into_iter().filter(|s| *s < largest).collect();
    all.push(largest);
    let sized = Sized::open(bench, layer)?;
    let ticket = sized.ticket;
    let counted = Count::new(sized, &all).run(bench, task.step.duration_s);
    bench.far.finish(ticket)?;
    sample.sizes = counted.map_err(|source| FarError::Data {
        what: "send datagrams of several sizes",
        address: bench.target(layer),
        source,
    })?;
    Ok(vec![sample])
}

struct Count {
    sized: Sized,
    steps: Vec<SizeStep>,
    /// Of each number without an answer: its step, and the payload of the answer.
    waiting: HashMap<u32, (usize, u16)>,
}

impl Count {
    fn new(sized: Sized, sizes: &[u32]) -> Self {
        let both = [Direction::Up, Direction::Down];
        let steps = sizes.iter().flat_map(|&packet| {
            both.map(|direction| SizeStep {
                packet,
                direction,
                sent: 0,
                received: 0,
            })
        });
        Self {
            sized,
            steps: steps.collect(),
            waiting: HashMap::new(),
        }
    }

    fn run(mut self, bench: &Bench<'_>, seconds: f64) -> io::Result<Vec<SizeStep>> {
        let end = Instant::now().after(Duration::from_secs_f64(seconds));
        let sizes = self.steps.len();
        let turns = (0..EACH).flat_map(|_| 0..sizes);
        for step in turns {
            if Instant::now() >= end || bench.cancelled() {
                break;
            }
            self.ask(step)?;
            self.answers(GAP)?;
        }
        self.answers(self.sized.patience)?;
        Ok(self.steps)
    }

    fn ask(&mut self, number: usize) -> io::Result<()> {
        let step = &mut self.steps[number];
        let (ask, answer) = match step.direction {
            Direction::Up => (step.packet, SHORT),
            Direction::Down => (SHORT, step.packet),
        };
        step.sent += 1;
        if let Some(sent) = self.sized.send(ask, answer)? {
            self.waiting
                .insert(sent, (number, self.sized.payload(answer)));
        }
        Ok(())
    }

    /// Takes answers until none is due any more, or for this time.
    fn answers(&mut self, span: Duration) -> io::Result<()> {
        let deadline = Instant::now().after(span);
        while !self.waiting.is_empty() {
            let Some((number, payload)) = self.sized.receive(deadline)? else {
                break;
            };
            if let Some((step, wanted)) = self.waiting.remove(&number) {
                self.steps[step].received += u64::from(payload == Some(wanted));
            }
        }
        Ok(())
    }
}
