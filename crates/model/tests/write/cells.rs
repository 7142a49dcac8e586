//! Cells of any shape, within the bounds of a spec.

use std::{collections::BTreeMap, time::Duration};

use model::{
    cell::{
        Batch, Buffer, CELL_SCHEMA, Cell, End, EndQdisc, Ends, KernelName, LabPath, Line, Local,
        Loss, PathEngine, Peak, Policer, Quantile, Quantiles, Queue, RateStep, RateSteps, Shaper,
        Traffic, TrafficKind, Tunnel, TunnelAt, TunnelKind, TunnelStage,
        bounds::{MAX_LOWAT, MAX_SIZE, MAX_SOCKET, MAX_TIME, MIN_PROBE, MIN_TIME},
    },
    net::{Direction, IpVersion},
    units::{Bytes, Rate, Seed, Share},
};
use proptest::{
    option,
    prelude::*,
    sample::{select, subsequence},
};

/// Spans with few and with many digits.
fn time(least: Duration, most: Duration) -> impl Strategy<Value = Duration> {
    let (least, most) = (least.as_nanos() as u64, most.as_nanos() as u64);
    (least..=most, 0..10u32).prop_map(move |(ns, digits)| {
        let unit = 10u64.pow(digits);
        Duration::from_nanos((ns / unit * unit).max(least))
    })
}

fn rate() -> impl Strategy<Value = Rate> {
    (1..=1_000_000_000_000u64, 0..40u32)
        .prop_map(|(bps, shift)| Rate::from_bps((bps >> shift).max(1)))
}

fn size(least: u64, most: u64) -> impl Strategy<Value = Bytes> {
    (least..=most).prop_map(Bytes)
}

/// Shares of all magnitudes, and both ends.
fn share() -> impl Strategy<Value = Share> {
    let small = (0.0..1.0f64, 0..300i32).prop_map(|(x, e)| x * 10f64.powi(-e));
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64, small].prop_map(|x| Share::new(x).unwrap())
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        share().prop_map(Loss::Random),
        (share(), share(), share(), share()).prop_map(|(p, r, bad, good)| Loss::GilbertElliott {
            p,
            r,
            bad,
            good
        }),
        (2..=u16::MAX).prop_map(Loss::Every),
    ]
}

const QUEUES: [Queue; 9] = [
    Queue::Fifo,
    Queue::Fq,
    Queue::FqCodel,
    Queue::Codel,
    Queue::Pie,
    Queue::Cake,
    Queue::Dualpi2,
    Queue::Red,
    Queue::Policer,
];

fn line() -> impl Strategy<Value = Line> {
    let buffer = prop_oneof![
        (1..=u32::MAX).prop_map(Buffer::Packets),
        size(65_549, u64::from(u32::MAX)).prop_map(Buffer::Bytes),
        Just(Buffer::Kernel),
    ];
    let week = || time(Duration::ZERO, MAX_TIME);
    let faults = (loss(), week(), share(), share(), any::<bool>());
    let bottleneck = (option::of(rate()), select(&QUEUES), buffer);
    (week(), bottleneck, faults).prop_map(|(delay, bottleneck, faults)| {
        let (rate, queue, buffer) = bottleneck;
        let (loss, jitter, reorder, duplicate, faults_first) = faults;
        let queue = if rate.is_some() { queue } else { Queue::Fifo };
        let buffer = match buffer {
            Buffer::Kernel if !queue.has_own_limit() => Buffer::Packets(7),
            other => other,
        };
        Line {
            delay,
            rate,
            buffer,
            queue,
            loss,
            jitter: jitter.min(delay),
            reorder: if delay.is_zero() {
                Share::ZERO
            } else {
                reorder
            },
            duplicate,
            faults_first: faults_first && !matches!(loss, Loss::Every(_)),
            policer: None,
            peak: None,
            rate_steps: None,
            jitter_quantiles: None,
            slots: None,
        }
    })
}

fn steps() -> impl Strategy<Value = RateSteps> {
    let rate = (64_000..=1_000_000_000_000u64).prop_map(Rate::from_bps);
    let step = (time(Duration::from_nanos(1), Duration::from_secs(60)), rate);
    let tail = option::of(time(Duration::from_nanos(1), Duration::from_secs(60)));
    (prop::collection::vec(step, 1..6), any::<bool>(), tail).prop_map(|(gaps, first, tail)| {
        let mut at = Duration::ZERO;
        let mut steps = Vec::new();
        for (index, (gap, rate)) in gaps.into_iter().enumerate() {
            if index > 0 || !first {
                at += gap;
            }
            steps.push(RateStep { at, rate });
        }
        let repeat = tail.map(|tail| at + tail);
        RateSteps { steps, repeat }
    })
}

fn quantiles() -> impl Strategy<Value = Quantiles> {
    let delay = time(Duration::from_nanos(1), Duration::from_secs(1));
    prop::collection::vec((1e-6..0.1f64, delay), 1..8).prop_map(|parts| {
        let (mut share, mut delay) = (0.0, Duration::ZERO);
        let mut all = Vec::new();
        for (more, gap) in parts {
            share += more;
            delay += gap;
            all.push(Quantile {
                share: Share::new(share).unwrap(),
                delay,
            });
        }
        Quantiles(all)
    })
}

/// A line with some of its optional stages.
fn staged() -> impl Strategy<Value = Line> {
    let bucket = || option::of((rate(), size(65_549, u64::from(u32::MAX))));
    let slots = option::of(time(Duration::from_nanos(1), Duration::from_secs(10)));
    let jitter = option::of(quantiles());
    (
        line(),
        bucket(),
        bucket(),
        option::of(steps()),
        jitter,
        slots,
    )
        .prop_map(|(line, policer, peak, steps, quantiles, slots)| {
            let policed = line.queue == Queue::Policer;
            let peak = peak
                .filter(|_| !policed && line.queue != Queue::Cake)
                .and_then(|(above, burst)| {
                    let rate = line.rate?;
                    let most = Rate::from_bps(1_000_000_000_000);
                    let rate = Rate::from_bps(rate.bps() + above.bps()).min(most);
                    (rate > line.rate?).then_some(Peak { rate, burst })
                });
            Line {
                policer: policer
                    .filter(|_| !policed)
                    .map(|(rate, burst)| Policer { rate, burst }),
                rate_steps: steps.filter(|_| peak.is_none() && !policed && line.rate.is_some()),
                peak,
                jitter: if quantiles.is_some() {
                    Duration::ZERO
                } else {
                    line.jitter
                },
                jitter_quantiles: quantiles,
                slots: slots.filter(|_| line.duplicate.is_zero()),
                ..line
            }
        })
}

fn ip() -> impl Strategy<Value = IpVersion> {
    select(&[IpVersion::V4, IpVersion::V6])
}

fn mtu() -> impl Strategy<Value = (u32, IpVersion)> {
    (576..=65_535u32, ip()).prop_map(|(mtu, ip)| match ip {
        IpVersion::V4 => (mtu, ip),
        IpVersion::V6 => (mtu.max(1280), ip),
    })
}

fn path() -> impl Strategy<Value = LabPath> {
    // Boxed: in one frame their values exceed the stack of a test thread.
    let all = (staged().boxed(), staged().boxed(), mtu(), local());
    all.prop_map(|(down, up, (mtu, ip), local)| LabPath {
        down,
        up,
        mtu,
        ip,
        local,
    })
}

fn local() -> impl Strategy<Value = Option<Local>> {
    let stages = (tunnel_stage(), tunnel_stage());
    (stages, shaper(), shaper()).prop_map(|((down, up), shape_down, shape_up)| {
        let nothing = TunnelStage {
            rate: None,
            buffer: Buffer::Packets(1000),
            loss: Loss::None,
        };
        let local = Local {
            down: down.unwrap_or(nothing),
            up: up.unwrap_or(nothing),
            shape_down,
            shape_up,
        };
        (!local.is_nothing()).then_some(local)
    })
}

fn shaper() -> impl Strategy<Value = Option<Shaper>> {
    let queues: Vec<Queue> = QUEUES.into_iter().filter(|&q| Shaper::takes(q)).collect();
    option::of((rate(), select(queues)).prop_map(|(rate, queue)| Shaper { rate, queue }))
}

fn tunnel() -> impl Strategy<Value = Tunnel> {
    let at = select(&[TunnelAt::Ends, TunnelAt::Routers]);
    let stages = (tunnel_stage(), tunnel_stage());
    (mtu(), at, stages).prop_map(|((mtu, ip), at, (down, up))| Tunnel {
        kind: TunnelKind::Wireguard,
        mtu,
        at,
        ip,
        down,
        up,
    })
}

fn tunnel_stage() -> impl Strategy<Value = Option<TunnelStage>> {
    let buffer = prop_oneof![
        (1..=u32::MAX).prop_map(Buffer::Packets),
        size(65_549, u64::from(u32::MAX)).prop_map(Buffer::Bytes),
    ];
    let stage = (option::of(rate()), buffer, loss());
    let stage = stage.prop_map(|(rate, buffer, loss)| TunnelStage { rate, buffer, loss });
    option::of(stage).prop_map(|stage| {
        stage
            .filter(|stage| !matches!(stage.loss, Loss::Every(_)))
            .filter(|stage| stage.rate.is_some() || stage.loss != Loss::None)
    })
}

fn cc() -> impl Strategy<Value = String> {
    "[a-z0-9_-]{1,15}"
}

const QDISCS: [EndQdisc; 8] = [
    EndQdisc::Noqueue,
    EndQdisc::Fifo,
    EndQdisc::Fq,
    EndQdisc::FqCodel,
    EndQdisc::Codel,
    EndQdisc::Pie,
    EndQdisc::Cake,
    EndQdisc::Dualpi2,
];

fn end() -> impl Strategy<Value = End> {
    let socket = || option::of(size(4096, MAX_SOCKET.0));
    let buffers = (socket(), socket(), option::of(size(1, MAX_LOWAT.0)));
    let device = (select(&QDISCS), option::of(rate()), any::<bool>());
    (cc(), device, buffers).prop_map(|(cc, (qdisc, shape, ecn), (rmem, wmem, lowat))| End {
        cc,
        qdisc,
        shape,
        ecn,
        rmem,
        wmem,
        notsent_lowat: lowat,
    })
}

fn batch() -> impl Strategy<Value = Batch> {
    let every = option::of(time(MIN_TIME, MAX_TIME));
    (1..=1_000_000u32, every).prop_map(|(requests, every)| Batch { requests, every })
}

/// Traffic that loads the path, without probes and times.
fn load() -> impl Strategy<Value = Traffic> {
    let kind = prop_oneof![
        Just(TrafficKind::Tcp),
        (rate(), 32..=65_507u32).prop_map(|(rate, payload)| TrafficKind::Udp { rate, payload }),
        (size(1, MAX_SIZE.0), option::of(batch()))
            .prop_map(|(size, batch)| TrafficKind::Short { size, batch }),
    ];
    let directions = subsequence(vec![Direction::Down, Direction::Up], 1..=2);
    (kind, directions, 1..=400u32, option::of(cc())).prop_map(|(kind, directions, flows, cc)| {
        let udp = matches!(kind, TrafficKind::Udp { .. });
        Traffic {
            kind,
            directions,
            flows,
            cc: cc.filter(|_| !udp),
            probe: None,
            start: Duration::ZERO,
            stop: None,
        }
    })
}

fn measured() -> impl Strategy<Value = Traffic> {
    let probe = option::of(time(MIN_PROBE, MAX_TIME));
    (load(), probe, any::<bool>()).prop_map(|(load, probe, idle)| match (idle, probe) {
        (true, Some(_)) => Traffic {
            kind: TrafficKind::Idle,
            flows: 0,
            cc: None,
            probe,
            ..load
        },
        _ => Traffic { probe, ..load },
    })
}

/// A competitor that starts before the end of the shortest load.
fn competitor() -> impl Strategy<Value = Traffic> {
    let start = time(Duration::ZERO, MIN_TIME - Duration::from_nanos(1));
    let stop = option::of(time(MIN_TIME, MAX_TIME));
    (load(), start, stop).prop_map(|(load, start, stop)| Traffic {
        start,
        stop,
        ..load
    })
}

fn cells() -> impl Strategy<Value = Cell> {
    let long = || time(Duration::ZERO, MAX_TIME);
    let times = (
        time(MIN_TIME, MAX_TIME),
        long(),
        long(),
        time(MIN_TIME, MAX_TIME),
    );
    let loads = (
        measured().boxed(),
        prop::collection::vec(competitor().boxed(), 0..4),
    );
    let name = "[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}";
    let kernel = option::of("[67][.][0-9]{1,2}");
    let kernel = kernel.prop_map(|name| name.and_then(|name| KernelName::new(&name)));
    let engine = prop::sample::select(vec![PathEngine::Chain, PathEngine::Device]);
    let head = (name, any::<u64>(), times, (kernel, engine));
    (
        head,
        path().boxed(),
        option::of(tunnel().boxed()),
        (end().boxed(), end().boxed()),
        loads,
    )
        .prop_map(
            |(
                (name, seed, times, (kernel, engine)),
                path,
                tunnel,
                (near, far),
                (traffic, cross),
            )| Cell {
                schema: CELL_SCHEMA,
                name,
                factors: BTreeMap::new(),
                seed: Seed(seed),
                duration: times.0,
                warmup: times.1,
                idle: times.2,
                sample: times.3.min(times.0),
                kernel,
                engine,
                path,
                tunnel,
                ends: Ends { near, far },
                traffic,
                cross,
            },
        )
}

/// Valid cells: all drawn ones except those whose loss drops everything.
pub(crate) fn possible() -> impl Strategy<Value = Cell> {
    cells().prop_filter("impossible", |cell| cell.impossible().is_empty())
}
