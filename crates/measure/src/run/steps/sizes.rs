//! Loss by size of packet.

use std::{collections::HashMap, io, time::Duration};

use model::{
    net::Direction,
    run::{Sample, SizeStep, StepKind},
};
use sys::clock::Instant;

use super::{Blank, Cost, Measure, Step, sized::Sized, udp};
use crate::{
    far::{
        Action, FarError,
        load::{Agreed, Echo},
    },
    run::{bench::Bench, task::Task},
};

/// Datagrams of each size, at most.
const EACH: u64 = 60;
/// Sizes that are compared, IP packets; and the largest the path carries.
const SIZES: [u32; 5] = [100, 576, 1000, 1280, 1400];
/// Size of the packet in the other direction.
const SHORT: u32 = 60;
/// The next one is sent when the reply has arrived, or after this time: on a long path many are in
/// flight, at about half a Mbit/s.
const GAP: Duration = Duration::from_millis(10);

/// Datagrams of several sizes in turn, so that all sizes see the same conditions.
pub(super) struct Sizes;

impl Step for Sizes {
    fn kind(&self) -> StepKind {
        StepKind::Sizes
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: 0.0,
        }
    }
}

impl Measure for Sizes {
    type Seen = Vec<SizeStep>;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Vec<SizeStep>, FarError> {
        let layer = &task.layer;
        let largest = udp::largest_payload(bench, layer) + layer.family.udp_headers();
        let mut all: Vec<u32> = SIZES.into_iter().filter(|s| *s < largest).collect();
        all.push(largest);
        let sized = Sized::open(bench, layer)?;
        let (echo, counted) = Count::new(sized, &all).run(bench, task.step.duration_s);
        bench.far.finish(echo)?;
        counted.map_err(Action::Sizes.failed(bench.target(layer)))
    }

    fn samples(&self, seen: Vec<SizeStep>, blank: &Blank<'_>) -> Vec<Sample> {
        vec![Sample {
            sizes: seen,
            ..blank.of(None)
        }]
    }
}

struct Count {
    sized: Sized,
    steps: Vec<SizeStep>,
    /// By the number of each unanswered datagram: its step, and the payload of the reply.
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

    /// Counts, and returns the service for the far end to finish.
    fn run(mut self, bench: &Bench<'_>, seconds: f64) -> (Agreed<Echo>, io::Result<Vec<SizeStep>>) {
        let result = self.exchange(bench, seconds);
        (self.sized.echo, result.map(|()| self.steps))
    }

    fn exchange(&mut self, bench: &Bench<'_>, seconds: f64) -> io::Result<()> {
        let end = Instant::now().after(Duration::from_secs_f64(seconds));
        let sizes = self.steps.len();
        let turns = (0..EACH).flat_map(|_| 0..sizes);
        for step in turns {
            if Instant::now() >= end || bench.cancelled() {
                break;
            }
            self.send(step)?;
            self.answers(GAP)?;
        }
        self.answers(self.sized.timeout)
    }

    fn send(&mut self, number: usize) -> io::Result<()> {
        let step = &mut self.steps[number];
        let (request, response) = match step.direction {
            Direction::Up => (step.packet, SHORT),
            Direction::Down => (SHORT, step.packet),
        };
        step.sent += 1;
        if let Some(sent) = self.sized.send(request, response)? {
            self.waiting
                .insert(sent, (number, self.sized.payload(response)));
        }
        Ok(())
    }

    /// Receives replies until none is outstanding, or for this time.
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
