//! Common parts of the three causes of a busy processor.

use analysis::{
    processor,
    view::{Host, View},
};
use model::{
    evidence::CounterKind,
    findings::{EvidenceItem, Severity, Value},
    run::Sample,
    text,
    text::Text,
};

use super::{filled, percent};
use crate::verdict::{Figure, Strength, Verdict, confirmed, end, figure, ruled_out, undecided};

/// A processor busier than this is saturated.
pub(super) const FULL_CORE: f64 = 0.95;
/// A thread above this share of a shared processor is saturated, and a process above this share of
/// all of them.
const FULL_TUNNEL: f64 = 0.9;
/// Maximum gain of several flows where a processor is the limit.
const SCALES: f64 = 1.2;

/// Kind of saturated work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Busy {
    /// A processor, in user space and kernel.
    Core,
    /// A processor, in softirqs.
    Softirq,
    /// The tunnel's own thread, or its process on all processors.
    Tunnel,
}

/// The saturated part of a tunnel.
enum Full {
    /// One thread, by its name.
    Thread(String),
    /// The process, on all processors: Go spreads one over many threads, none of which is saturated
    /// where all processors are.
    Process {
        name: String,
        threads: usize,
        processors: usize,
    },
}

impl Default for Full {
    fn default() -> Self {
        Self::Thread(String::new())
    }
}

impl Full {
    fn name(&self) -> Text {
        match self {
            Self::Thread(_) => text!("the tunnel's busiest thread, share of a processor"),
            Self::Process { .. } => text!("the tunnel's process, share of all processors"),
        }
    }

    fn bound(&self) -> Text {
        let bound = Value::Share(FULL_TUNNEL);
        match self {
            Self::Thread(_) => text!("at least {bound} of a processor", bound = bound),
            Self::Process { .. } => text!("at least {bound} of all processors", bound = bound),
        }
    }

    fn sentence(&self, share: f64) -> Text {
        match self {
            Self::Thread(name) => text!(
                "the tunnel's thread {name} uses {share} of a processor",
                name = name,
                share = percent(share)
            ),
            Self::Process {
                name,
                threads,
                processors,
            } => text!(
                "the tunnel's process {name} uses {share} of all processors ({processors}) in {threads} threads",
                name = name,
                share = percent(share),
                processors = *processors,
                threads = *threads
            ),
        }
    }
}

/// The part of the tunnel that is saturated, if any, and its share: of a processor or of all.
fn tunnel(host: &Host, samples: &[&Sample]) -> Option<(Full, f64)> {
    if let Some((share, name)) = host.tunnel_thread(samples)
        && share >= FULL_TUNNEL
    {
        return Some((Full::Thread(name), share));
    }
    let (used, threads, name) = host.tunnel_process(samples)?;
    let processors = host.processors(samples)?;
    let share = used / processors as f64;
    let full = Full::Process {
        name,
        threads,
        processors,
    };
    (share >= FULL_TUNNEL).then_some((full, share))
}

/// The kind that saturates a host's processors, if any.
fn busy(host: &Host, samples: &[&Sample]) -> Option<(Busy, f64)> {
    if let Some((_, share)) = tunnel(host, samples) {
        return Some((Busy::Tunnel, share));
    }
    let (most, softirq) = host.busiest_core(samples)?;
    (most >= FULL_CORE).then_some(if softirq >= 0.5 {
        (Busy::Softirq, softirq)
    } else {
        (Busy::Core, most)
    })
}

/// The verdict for one of the three causes.
pub(super) fn judge(host: &Host, which: Busy) -> Verdict {
    let view = host.view();
    if view.lab() {
        return undecided(
            text!("processing takes no time in the lab"),
            text!("the native engine, or a measurement between the real hosts"),
        );
    }
    let samples = view.tcp_samples();
    let Some((most, softirq)) = host.busiest_core(&samples) else {
        return undecided(
            text!("this host's processor use is not known"),
            text!("the same plan with pathtwin on Linux as this end"),
        );
    };
    let Some((found, share)) = busy(host, &samples) else {
        return ruled_out(text!(
            "the busiest processor was {most} busy",
            most = percent(most)
        ));
    };
    if found != which {
        return ruled_out(text!("the processor is busy with another kind of work"));
    }
    let full = tunnel(host, &samples).map_or_else(Full::default, |(full, _)| full);
    let used = host.path_cores(&samples);
    if which == Busy::Core
        && let (Some(used), Some(idlest)) = (used, host.idlest_core(&samples))
        && used + softirq < processor::MATTERS
        && !host.starved(&samples)
    {
        return ruled_out(text!(
            "other programs fill a processor, the measured traffic uses {used} of one, and another processor is busy \
             for {idlest} of the time",
            used = percent(used + softirq),
            idlest = percent(idlest)
        ));
    }
    let mut evidence = vec![
        figure(
            match which {
                Busy::Core => text!("busiest processor"),
                Busy::Softirq => text!("busiest processor, in softirqs"),
                Busy::Tunnel => full.name(),
            },
            Value::Share(share),
        )
        .bound(match which {
            Busy::Core => text!("at least {bound} busy", bound = Value::Share(FULL_CORE)),
            Busy::Softirq => text!("most of a busy processor"),
            Busy::Tunnel => full.bound(),
        })
        .end(host.side)
        .decisive(),
    ];
    if which != Busy::Softirq && softirq > 0.2 {
        evidence.push(figure(text!("softirq share"), Value::Share(softirq)).end(host.side));
    }
    let signs = signs(&view, &mut evidence);
    if let Some(squeezed) = host
        .counter_increase(&samples, CounterKind::TimeSqueezes)
        .filter(|s| *s > 0.0)
    {
        evidence.push(
            figure(
                text!("times a processor exhausted its softirq budget"),
                Value::Count(squeezed),
            )
            .end(host.side),
        );
    }
    let text = match which {
        Busy::Core => text!(
            "a processor of the {host} is {share} busy",
            host = end(host.side),
            share = percent(share)
        ),
        Busy::Softirq => text!(
            "a processor of the {host} spends {share} of its time in softirqs",
            host = end(host.side),
            share = percent(share)
        ),
        Busy::Tunnel => full.sentence(share),
    };
    let verdict = confirmed(Strength::of(&signs), text, evidence);
    // If TCP uses the full capacity of a line, a busy processor limits nothing. A processor limits
    // UDP as it does TCP, so only the work of other programs distinguishes the two cases. If that
    // work is unknown, the processor is not blamed on a path that is full.
    let others = used.unwrap_or(0.0) + softirq < processor::MATTERS;
    // A tunnel is blamed there only if UDP, too, gets less through it than beside it.
    let line = (others || which == Busy::Tunnel) && filled(&view) && !signs[1];
    // Between two programs of one host nothing else can be the limit.
    if line || host.is_both_ends() {
        return verdict.at(Severity::Info);
    }
    verdict
}

/// Signs that a processor is the limit, not the line.
fn signs(view: &View, evidence: &mut Vec<EvidenceItem>) -> [bool; 3] {
    let mut signs = [false; 3];
    for dir in view.directions() {
        let Some(load) = dir.default_load() else {
            continue;
        };
        if let Some(many) = dir.parallel_load()
            && let Some(ratio) = dir.gain(&many, &load)
        {
            signs[0] |= ratio < SCALES;
            evidence.push(
                figure(
                    text!("{many} flows / {few}", many = many.flows, few = load.flows),
                    Value::Ratio(ratio),
                )
                .bound(text!("no gain")),
            );
        }
        let inside = dir.sweep().map(|s| s.capacity_bps);
        let outside = dir
            .underlay()
            .and_then(|b| b.sweep())
            .map(|s| s.capacity_bps);
        if let (Some(inside), Some(outside)) = (inside, outside) {
            signs[1] |= inside < 0.7 * outside;
            evidence.push(
                figure(
                    text!("UDP in the tunnel / UDP on the underlay"),
                    Value::Ratio(inside / outside),
                )
                .bound(text!("far below 1")),
            );
        }
        signs[2] |= dir.utilization(&load).is_some_and(|f| f > 0.8);
    }
    signs
}
