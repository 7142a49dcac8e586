//! Bulk QUIC in one direction, with probes.

use std::time::Duration;

use analysis::flow;
use model::{
    net::Direction,
    run::{Column, FlowResult, Invalid, LayerAddress, Sample, StepKind, Tcp},
    text,
    text::Text,
};
use sys::clock::Instant;
use traffic::{
    quic::{self, Config, Handshake, QuicLoad},
    wire::message::{QUIC, QuicOutcome},
};

use super::{
    Blank, Cost, Measure, Step,
    loaded::{self, Context},
    probes::{self, Running},
};
use crate::{
    far::{self, Action, Far, FarError, load},
    run::{bench::Bench, task::Task},
};

/// From one sample of the connection to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// Time for which a load is still sampled after its end, so that its end is recorded.
const AFTER: Duration = Duration::from_millis(30);

/// A QUIC stream whose sender always has data.
pub(super) struct Quic {
    pub(super) direction: Direction,
    /// Time at the start that is not counted, s.
    pub(super) warmup_s: f64,
}

/// Results of both ends about the connection.
pub(super) struct Seen {
    ends: Ends,
    /// The time that counts, µs after the start of the load.
    window: [i64; 2],
    /// Bytes of IP and UDP headers around a QUIC packet.
    headers: u32,
    context: Context,
}

/// The outcomes of the end that sent and of the end that received.
struct Ends {
    sent: QuicOutcome,
    received: QuicOutcome,
}

impl Step for Quic {
    fn kind(&self) -> StepKind {
        StepKind::Quic
    }

    fn directions(&self) -> Vec<Option<Direction>> {
        vec![Some(self.direction)]
    }

    fn cost(&self, duration_s: f64) -> Cost {
        Cost {
            time_s: duration_s,
            loaded_s: duration_s,
        }
    }

    fn lacks(&self, far: &Far) -> Option<Text> {
        if !quic::AVAILABLE {
            return Some(text!("this program was built without QUIC"));
        }
        (!far.can(QUIC)).then(|| text!("the far end does not support QUIC"))
    }
}

impl Measure for Quic {
    type Seen = Seen;

    fn measure(&self, bench: &mut Bench<'_>, task: &Task) -> Result<Seen, FarError> {
        let span = Duration::from_secs_f64(task.step.duration_s);
        let probing = probes::start(bench, &task.layer)?;
        let mark = bench.mark()?;
        let (ends, zero) = self.load(bench, &task.layer, span, &probing)?;
        let near = mark.evidence();
        let far = bench.far.evidence()?;
        let window = [(self.warmup_s * 1e6) as i64, span.as_micros() as i64];
        let probes = probing.finish(bench, zero, window)?;
        bench.bytes += ends.bytes();
        Ok(Seen {
            ends,
            window,
            headers: task.layer.family.udp_headers(),
            context: Context {
                load_at_us: bench.us_at(zero),
                probes,
                near,
                far,
            },
        })
    }

    fn samples(&self, seen: Seen, blank: &Blank<'_>) -> Vec<Sample> {
        let mut sample = seen.context.apply(blank.of(Some(self.direction)));
        let tcp = seen.ends.compose(seen.window, seen.headers);
        seen.ends.judge(&mut sample, &tcp);
        sample.tcp = Some(tcp);
        vec![sample]
    }
}

impl Quic {
    /// Runs the load: the results of both ends, and its start time.
    fn load(
        &self,
        bench: &mut Bench<'_>,
        layer: &LayerAddress,
        span: Duration,
        probing: &Running,
    ) -> Result<(Ends, Instant), FarError> {
        let down = self.direction == Direction::Down;
        let agreed = bench.far.open(&load::Quic {
            send: down,
            duration_us: span.as_micros() as u64,
            sample_us: SAMPLE.as_micros() as u64,
        })?;
        let address = bench.target(layer);
        let socket = far::datagrams(*agreed, address)?;
        bench.far.start(&agreed)?;
        let config = Config {
            sends: !down,
            zero: Instant::now(),
            sample_interval: SAMPLE,
            lease: bench.lease(span),
        };
        let zero = config.zero;
        let load = QuicLoad::start(socket, Handshake::Connect(agreed.key), config)
            .map_err(Action::Quic.failed(address))?;
        let watched = probing.watch(bench, span + AFTER, zero, || load.bytes());
        // The sender first, so that the receiver does not see its connection end before its time.
        let ends = if down {
            let sent = watched.and_then(|()| bench.far.finish(agreed));
            let received = load.finish();
            Ends {
                sent: sent?,
                received,
            }
        } else {
            let sent = load.finish();
            watched?;
            Ends {
                sent,
                received: bench.far.finish(agreed)?,
            }
        };
        Ok((ends, zero))
    }
}

impl Ends {
    /// Bytes that arrived.
    fn bytes(&self) -> u64 {
        self.received
            .series
            .last(Column::BytesReceived)
            .unwrap_or(0)
    }

    /// The load as both its ends saw it. `headers`: bytes of IP and UDP around a QUIC datagram.
    fn compose(&self, window: [i64; 2], headers: u32) -> Tcp {
        let (sent, received) = (&self.sent.series, &self.received.series);
        let flow = FlowResult {
            series: Some(sent.clone()),
            received: Some(received.clone()),
            ..flow::quic(sent, received, window, headers)
        };
        Tcp {
            cc_used: Some(self.sent.cc_used.clone()),
            window_us: window,
            goodput_bps: flow.goodput_bps,
            bytes: self.bytes(),
            flows: vec![flow],
        }
    }

    /// Marks the sample with why it does not count.
    fn judge(&self, sample: &mut Sample, tcp: &Tcp) {
        let ends = [&self.sent.errors, &self.received.errors];
        sample.invalid.extend(loaded::failures(ends));
        if tcp.bytes == 0 && sample.invalid.is_empty() {
            sample
                .invalid
                .push(Invalid::failed(text!("QUIC: no data arrived")));
        }
    }
}
