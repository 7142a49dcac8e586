//! The run of a cell: build, wait for the path, probe idle, load, sample, stop, return the result.

use std::{
    collections::BTreeMap,
    fs,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use model::{
    cell::Cell,
    evidence,
    job::{OUTPUT_FILE, RECORDS_FILE, TRUTH_FILE},
    record::{Kind, OUTPUT_SCHEMA, Output, ProbeSample, QueueInfo, Stream},
    text,
    text::Text,
};
use sys::clock::Instant;
use testbed::Testbed;
use traffic::load::{
    echo,
    probe::{self, Probing, Schedule},
};

use crate::{
    Engine, flows, sampling,
    times::{Times, address},
};

/// UDP port on which probes are answered (the echo service).
const ECHO: u16 = 7;

/// Datagrams to try before a path counts as dead; one a second.
const TRIES: u32 = 60;

/// Virtual time that a cell may take beyond its length before it counts as hung.
const GRACE: Duration = Duration::from_secs(120);

/// Measures a cell, writes its records, and returns the description.
pub(crate) fn measure(engine: Engine<'_>, cell: &Cell) -> anyhow::Result<Output> {
    let bed = Arc::new(testbed::build(cell, engine.timers()).context("build the path")?);
    let probing = connect_probes(&bed).context("prepare the probes")?;
    probe::await_path(&probing, TRIES).context("wait for the path")?;
    let ready = Instant::now();
    let times = Times::new(cell, ready.after(Duration::from_millis(10)));
    watchdog(engine, times);
    let before = counters(&bed);
    let probes = match cell.traffic.probe {
        Some(every) => Some(start_probes(probing, every, times, engine)?),
        None => None,
    };
    let mut running = flows::start(cell, &bed, times).context("start the traffic")?;
    testbed::follow(&bed, times.zero).context("start the changes of rates")?;
    let mut truth = Stream::default();
    sampling::run(engine, cell, &bed, &mut running, times, &mut truth)?;
    let mut output = describe(cell, &bed, &mut running)?;
    output.ready_ns = ready.0;
    let (flow_infos, mut streams) = flows::finish(running, times.zero);
    output.flows = flow_infos;
    if let Some(probes) = probes {
        let (sent, answers) = finish_probes(probes, times);
        output.probes_sent_ns = sent;
        streams.push(answers);
    }
    output.counters = evidence::difference(&before, &counters(&bed));
    output.losses = sampling::losses(&bed)?;
    let joined = join(&streams);
    fs::write(engine.folder.join(RECORDS_FILE), joined.bytes()).context("write the records")?;
    fs::write(engine.folder.join(TRUTH_FILE), truth.bytes()).context("write the truth")?;
    output.virtual_ns = Instant::now().0;
    Ok(output)
}

fn connect_probes(bed: &Testbed) -> anyhow::Result<UdpSocket> {
    let far = SocketAddr::new(address(bed.far())?, ECHO);
    let answering = bed.far().ns.run(|| sys::socket::udp(far))??;
    let near = SocketAddr::new(address(bed.near())?, 0);
    let socket = bed.near().ns.run(|| sys::socket::udp(near))??;
    socket.connect(far)?;
    answering.connect(socket.local_addr()?)?;
    echo::reflect(answering)?;
    Ok(socket)
}

fn start_probes(
    socket: UdpSocket,
    every: Duration,
    times: Times,
    engine: Engine<'_>,
) -> anyhow::Result<Probing> {
    let schedule = Schedule {
        first: times.first,
        every,
        end: Some(times.end),
        timing: engine.timing(),
    };
    Ok(Probing::scheduled(socket, schedule)?)
}

/// The sending times of all probes, ns after zero, and the records of the answered ones.
fn finish_probes(probes: Probing, times: Times) -> (Vec<i64>, Stream) {
    let probes = probes.finish();
    let mut records = Stream::default();
    for (seq, probe) in (0..).zip(&probes) {
        if let Some(rtt_ns) = probe.rtt_ns {
            let sample = ProbeSample { seq, rtt_ns };
            let at_ns = probe.sent.since(times.zero);
            records.push_words(Kind::Probe, 0, at_ns, &sample.words());
        }
    }
    let sent = probes.iter().map(|probe| probe.sent.since(times.zero));
    (sent.collect(), records)
}

/// Ends a guest that hangs in virtual time. A busy loop hangs in real time, and is ended by the
/// host.
fn watchdog(engine: Engine<'_>, times: Times) {
    if !engine.guest {
        return;
    }
    let deadline = times.end.after(GRACE);
    let file = engine.folder.join(OUTPUT_FILE);
    std::thread::spawn(move || {
        deadline.wait();
        let output = empty(Some(text!(
            "hung: still running {n} s after its end",
            n = GRACE.as_secs()
        )));
        if let Ok(bytes) = serde_json::to_vec(&output) {
            let _ = crate::engine::put(&file, &bytes);
        }
        sys::boot::power_off();
    });
}

fn empty(error: Option<Text>) -> Output {
    Output {
        schema: OUTPUT_SCHEMA,
        error,
        kernel: release(),
        virtual_ns: 0,
        ready_ns: 0,
        flows: Vec::new(),
        queues: Vec::new(),
        probes_sent_ns: Vec::new(),
        losses: Vec::new(),
        counters: BTreeMap::new(),
    }
}

/// Release of the running kernel.
pub(crate) fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn describe(cell: &Cell, bed: &Testbed, running: &mut flows::Running) -> anyhow::Result<Output> {
    let mut output = empty(None);
    output.queues = sampling::sampled(cell, bed)
        .map(|(id, queue)| QueueInfo {
            id,
            place: queue.place,
            direction: queue.direction,
            kind: queue.kind.to_owned(),
            rate_bps: queue.rate_bps,
        })
        .collect();
    running.note_congestion();
    Ok(output)
}

/// All streams in one, by time, kind and number: the order does not depend on which thread ended
/// first.
fn join(streams: &[Stream]) -> Stream {
    let mut all: Vec<_> = streams
        .iter()
        .filter_map(|stream| model::record::records(stream.bytes()).ok())
        .flat_map(|records| records.filter_map(Result::ok))
        .collect();
    all.sort_by_key(|r| (r.at_ns, r.kind, r.id));
    let mut joined = Stream::default();
    for r in all {
        joined.push(r.kind, r.id, r.at_ns, r.payload);
    }
    joined
}

/// TCP and UDP counters of both ends, by `end.Group.Name`.
fn counters(bed: &Testbed) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for node in [bed.near(), bed.far()] {
        for file in [
            "/proc/thread-self/net/netstat",
            "/proc/thread-self/net/snmp",
        ] {
            let text = node
                .ns
                .run(|| fs::read_to_string(file))
                .and_then(|text| text);
            read_counters(node.name, &text.unwrap_or_default(), &mut all);
        }
    }
    all
}

/// A line of names, then a line of values, each after the same `Group:`.
fn read_counters(node: &str, text: &str, into: &mut BTreeMap<String, u64>) {
    let lines: Vec<&str> = text.lines().collect();
    for [names, values] in lines.as_chunks().0 {
        let (mut names, mut values) = (names.split_whitespace(), values.split_whitespace());
        let (Some(group), Some(_)) = (names.next(), values.next()) else {
            continue;
        };
        for (name, value) in names.zip(values) {
            if let Ok(value) = value.parse() {
                into.insert(format!("{node}.{group}{name}").replace(':', "."), value);
            }
        }
    }
}
