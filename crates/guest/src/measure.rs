//! A plan between the ends of a path: the server and the client that real hosts run, each in the
//! namespace of its end.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use measure::{
    far::FarError,
    run::{ProbeKind, Start, Target, Third, measure},
    serve::{Config, Server},
};
use model::{
    cell::{Cell, Tunnel, TunnelAt},
    job::{self, MeasureOutput, QueueTruth},
    net::{Direction, Layer},
    plan::Plan,
    record::QueuePlace,
    run::{Column, Run, Series},
    text,
};
use sys::{clock::Instant, tc::StatsReader};
use testbed::{Node, Testbed};
use traffic::{
    admission::{Admission, Totals},
    load::udp::Spacing,
    wire::{Key, PORT, message::Limits},
};

use crate::{Engine, flows, times::Times};

/// Carries the plan out.
pub(crate) fn run(engine: Engine<'_>, job: &job::Measure) -> anyhow::Result<MeasureOutput> {
    let ends = Ends::open(engine, &job.cell, &job.program)?;
    let limit = Duration::from_nanos(job.limit_ns);
    let late = text!(
        "still measuring after {n} s of virtual time",
        n = model::text::Value::Count(limit.as_secs_f64())
    );
    let output = MeasureOutput {
        error: Some(late),
        run: None,
        truth: Vec::new(),
    };
    watchdog(engine, limit, output);
    let stop = Arc::new(AtomicBool::new(false));
    let sampling = sample_queues(ends.bed.clone(), stop.clone())?;
    let run = ends.measure(engine, &job.plan, &job.cell);
    stop.store(true, Ordering::Relaxed);
    let truth = sampling.join().unwrap_or_default();
    ends.close();
    Ok(MeasureOutput {
        error: None,
        run: Some(Box::new(run??)),
        truth,
    })
}

/// The ends of a path, the server running on the far one, and the cross traffic.
pub(crate) struct Ends {
    pub(crate) bed: Arc<Testbed>,
    targets: Vec<Target>,
    key: Key,
    program: String,
    stop: Arc<AtomicBool>,
    server: std::thread::JoinHandle<()>,
    /// The third host, with its own server.
    third: Option<(Third, std::thread::JoinHandle<()>)>,
    cross: flows::Running,
    times: Times,
}

impl Ends {
    /// Builds the path of a cell.
    pub(crate) fn open(engine: Engine<'_>, cell: &Cell, program: &str) -> anyhow::Result<Self> {
        let bed = Arc::new(testbed::build(cell, engine.timers()).context("build the path")?);
        if engine.guest {
            crate::exec::default_congestion(&bed, cell)
                .context("set the ends' congestion control")?;
        }
        let targets = targets(cell, &bed)?;
        if is_used_from_both_sides(cell) {
            establish(&bed, &targets, cell.path.rtt())?;
        }
        let cross = quiet(cell);
        let times = Times::new(&cross, Instant::now().after(Duration::from_millis(10)));
        let cross = flows::start(&cross, &bed, times).context("start the traffic")?;
        testbed::follow(&bed, times.zero).context("start the changes of rates")?;
        let stop = Arc::new(AtomicBool::new(false));
        let key = Key::generate()?;
        // Each has limits of its own.
        let config = || config(engine, &key, program);
        let server = serve(bed.far(), &targets, config(), stop.clone())?;
        let third = third(&bed, config(), &stop)?;
        Ok(Self {
            bed,
            third,
            targets,
            key,
            program: program.to_owned(),
            stop,
            server,
            cross,
            times,
        })
    }

    /// Carries a plan out.
    pub(crate) fn measure(
        &self,
        engine: Engine<'_>,
        plan: &Plan,
        cell: &Cell,
    ) -> anyhow::Result<Result<Run, FarError>> {
        let start = Start {
            control: SocketAddr::new(self.targets[0].far, PORT),
            key: &self.key,
            plan,
            seed: cell.seed,
            targets: &self.targets,
            unreached: Vec::new(),
            third: self.third.as_ref().map(|(third, _)| third),
            slot: false,
            program: &self.program,
            id: format!("{:016x}", cell.seed.0),
            started_us: 1_700_000_000_000_000,
            lab: engine.guest,
            cancel: &AtomicBool::new(false),
        };
        let near = self.bed.near();
        Ok(near.ns.run(|| measure(start, &mut |_| {}))?)
    }

    /// Ends the server and the cross traffic.
    pub(crate) fn close(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.server.join();
        if let Some((_, server)) = self.third {
            let _ = server.join();
        }
        let _ = flows::finish(self.cross, self.times.zero);
    }
}

/// From one sample of the queues to the next.
const SAMPLE: Duration = Duration::from_millis(10);

/// Samples the bottlenecks' queues until stopped.
fn sample_queues(
    bed: Arc<Testbed>,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<std::thread::JoinHandle<Vec<QueueTruth>>> {
    let mut queues = Vec::new();
    for queue in bed
        .queues
        .iter()
        .filter(|q| q.place == QueuePlace::Bottleneck)
    {
        let nl = bed.hosts[queue.host].ns.route()?;
        let reader = StatsReader::of_handle(nl, queue.device, queue.handle);
        queues.push((queue.direction, queue.rate_bps, reader, Vec::new()));
    }
    let zero = Instant::now();
    Ok(std::thread::Builder::new().spawn(move || {
        let _ = sys::sched::set_timer_slack(1);
        let mut at_us = Vec::new();
        let mut next = zero;
        while !stop.load(Ordering::Relaxed) {
            next.wait();
            at_us.push(next.since(zero) / 1000);
            for (_, _, reader, values) in &mut queues {
                let stats = reader.read().ok();
                values.push(stats.map(|s| u64::from(s.backlog_bytes)));
            }
            next = next.after(SAMPLE);
        }
        queues
            .into_iter()
            .map(|(direction, rate_bps, _, values)| {
                let mut series = Series {
                    at_us: at_us.clone(),
                    ..Series::default()
                };
                series.push(Column::BacklogBytes, values);
                QueueTruth {
                    direction,
                    rate_bps,
                    series,
                }
            })
            .collect()
    })?)
}

/// The cell with only its cross traffic, which runs as long as the plan.
fn quiet(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.traffic.kind = model::cell::TrafficKind::Idle;
    cell.idle = Duration::ZERO;
    cell
}

/// Returns true if others send through the tunnel of routers in both directions from the start.
fn is_used_from_both_sides(cell: &Cell) -> bool {
    let routers = cell
        .tunnel
        .as_ref()
        .is_some_and(|t| t.at == TunnelAt::Routers);
    let sends = |d| cell.cross.iter().any(|c| c.directions.contains(&d));
    routers && [Direction::Down, Direction::Up].into_iter().all(sends)
}

/// Sends a datagram through the tunnel and waits until it must have a session. Where both sides
/// start a handshake at the same moment, each drops the response to its own, because it has
/// meanwhile consumed the other's initiation (Linux drivers/net/wireguard/noise.c, 7.2,
/// `wg_noise_handshake_consume_response`), and starts the next one 5 s later, with the next packet.
/// Constant traffic in both directions repeats that without end; between real hosts it does not
/// begin at the same moment.
fn establish(bed: &Testbed, targets: &[Target], rtt: Duration) -> anyhow::Result<()> {
    let target = targets.first().context("the far end has no address")?;
    let discard = SocketAddr::new(target.far, DISCARD);
    let any = match target.far {
        IpAddr::V4(_) => SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0),
        IpAddr::V6(_) => SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0),
    };
    let send = || UdpSocket::bind(any)?.send_to(&[0], discard);
    bed.near().ns.run(send)?.context("use the tunnel")?;
    Instant::now().after(2 * rtt + ESTABLISHED).wait();
    Ok(())
}

/// Port of the discard protocol (RFC 863): nothing answers.
const DISCARD: u16 = 9;
/// Time for a handshake and a datagram of 256 bytes on the slowest lines, in addition to two round
/// trips.
const ESTABLISHED: Duration = Duration::from_millis(100);

/// Returns the addresses at which the near end reaches the far one.
fn targets(cell: &Cell, bed: &Testbed) -> anyhow::Result<Vec<Target>> {
    let end = bed.far();
    let address = |ip: Option<IpAddr>| ip.context("the far end has no address");
    let tunnel = Target {
        layer: Layer::Tunnel,
        far: address(end.address)?,
    };
    Ok(match &cell.tunnel {
        None => vec![Target {
            layer: Layer::Underlay,
            ..tunnel
        }],
        // Hosts behind routers reach each other only through them.
        Some(Tunnel {
            at: TunnelAt::Routers,
            ..
        }) => vec![tunnel],
        Some(_) => vec![
            Target {
                layer: Layer::Underlay,
                far: address(end.underlay)?,
            },
            tunnel,
        ],
    })
}

/// The third host of the path, if it has one, with a server on it.
fn third(
    bed: &Testbed,
    config: Config,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Option<(Third, std::thread::JoinHandle<()>)>> {
    let Some(node) = bed.third() else {
        return Ok(None);
    };
    let address = node.underlay.context("the third host has no address")?;
    let target = Target {
        layer: Layer::Underlay,
        far: address,
    };
    let probes = ProbeKind::Agent(PORT, config.key.clone());
    let server = serve(node, &[target], config, stop.clone())?;
    let third = Third {
        address,
        probes,
        load: false,
    };
    Ok(Some((third, server)))
}

/// Maximum number of clients of a server at a time; half of them from one address. On a lossy path
/// the end of a session arrives late, when the next turn of a proof has begun.
const CLIENTS: usize = 4;

/// Configuration of a server.
fn config(engine: Engine<'_>, key: &Key, program: &str) -> Config {
    let limits = Limits {
        flows: 128,
        ..Limits::default()
    };
    Config {
        key: key.clone(),
        admission: Admission::new(
            limits,
            Totals::of(CLIENTS, sys::descriptors::allowed(), None),
        ),
        program: program.to_owned(),
        spacing: match engine.guest {
            true => Spacing::Kernel,
            false => Spacing::Timer,
        },
    }
}

fn serve(
    node: &Node,
    targets: &[Target],
    config: Config,
    stop: Arc<AtomicBool>,
) -> anyhow::Result<std::thread::JoinHandle<()>> {
    let addresses: Vec<_> = targets
        .iter()
        .map(|t| SocketAddr::new(t.far, PORT))
        .collect();
    let thread = node.ns.run(|| -> std::io::Result<_> {
        let server = Server::bind(&addresses, config)?;
        // A thread stays in the namespace in which it was started.
        std::thread::Builder::new().spawn(move || {
            if let Err(error) = server.run(stop, Arc::new(|_| {})) {
                eprintln!("pathtwin-guest: serve: {error}");
            }
        })
    })??;
    Ok(thread)
}

/// Ends a guest whose job does not end, with this result.
pub(crate) fn watchdog(
    engine: Engine<'_>,
    limit: Duration,
    output: impl serde::Serialize + Send + 'static,
) {
    if !engine.guest {
        return;
    }
    let deadline = Instant::now().after(limit);
    let file = engine.folder.join(job::OUTPUT_FILE);
    std::thread::spawn(move || {
        deadline.wait();
        if let Ok(bytes) = serde_json::to_vec(&output) {
            let _ = crate::engine::put(&file, &bytes);
        }
        sys::boot::power_off();
    });
}
