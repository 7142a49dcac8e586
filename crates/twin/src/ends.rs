//! The two hosts of a path by their facts.

use model::{
    cell::EndQdisc,
    facts::HostFacts,
    net::Side,
    path::{End, Ends, Limit, Parameter, Source},
    run::Run,
    units::Bytes,
};

/// Both hosts of a Run. Values that a host did not report are unknown.
pub(crate) fn ends(run: &Run) -> Ends {
    Ends {
        near: end(run, Side::Near),
        far: end(run, Side::Far),
    }
}

fn end(run: &Run, side: Side) -> End {
    let facts = match side {
        Side::Near => &run.near.facts,
        Side::Far => &run.far.facts,
    };
    End {
        cc: congestion(facts).filter(|cc| in_lab(cc)).map(fact),
        qdisc: qdisc(facts).map(fact),
        shape_bps: None,
        // 1 requests and accepts it; 2, the default, accepts only (ip-sysctl.rst).
        ecn: facts.sysctl("net.ipv4.tcp_ecn").map(|ecn| fact(ecn == 1)),
        rmem_bytes: largest(facts, "net.ipv4.tcp_rmem"),
        wmem_bytes: largest(facts, "net.ipv4.tcp_wmem"),
        notsent_lowat_bytes: lowat(facts),
    }
}

/// The congestion control of connections to the other end: that of their route, as `fix` may have
/// set it, or else the default of the host.
fn congestion(facts: &HostFacts) -> Option<String> {
    let layers = facts.path.as_ref().map(|path| &path.layers);
    let route = layers.and_then(|layers| layers.first()?.route.as_ref());
    let own = route.and_then(|route| route.congctl.clone());
    own.or_else(|| facts.congestion.default.clone())
}

/// The congestion controls of the lab's kernel, which are those of Linux without patches.
const IN_LAB: [&str; 17] = [
    "cubic",
    "bbr",
    "reno",
    "dctcp",
    "vegas",
    "westwood",
    "htcp",
    "illinois",
    "bic",
    "cdg",
    "highspeed",
    "hybla",
    "lp",
    "nv",
    "scalable",
    "veno",
    "yeah",
];

/// Returns true if the lab has this congestion control.
pub(crate) fn in_lab(cc: &str) -> bool {
    IN_LAB.contains(&cc)
}

fn fact<T>(value: T) -> Parameter<T> {
    Parameter::new(value, Source::Facts)
}

/// The queue of the device with which packets leave the host.
fn qdisc(facts: &HostFacts) -> Option<EndQdisc> {
    let layers = &facts.path.as_ref()?.layers;
    let device = layers.iter().rev().find_map(|l| l.devices.last())?;
    let root = device.root_qdisc()?;
    Some(match root.kind.as_str() {
        "noqueue" => EndQdisc::Noqueue,
        "pfifo_fast" | "pfifo" | "bfifo" => EndQdisc::Fifo,
        "fq" => EndQdisc::Fq,
        "fq_codel" => EndQdisc::FqCodel,
        "codel" => EndQdisc::Codel,
        "pie" | "fq_pie" => EndQdisc::Pie,
        "cake" => EndQdisc::Cake,
        _ => return None,
    })
}

fn largest(facts: &HostFacts, name: &str) -> Option<Parameter<Limit<Bytes>>> {
    let [_, _, most] = facts.sysctl_triple(name)?;
    // Limits of the lab's rules: at least a page, at most an `int` of the kernel.
    let most = most.clamp(4096, i32::MAX as u64);
    Some(fact(Limit::At(Bytes(most))))
}

/// The kernel's default is the largest number: no bound.
fn lowat(facts: &HostFacts) -> Option<Parameter<Limit<Bytes>>> {
    let bytes = facts.sysctl("net.ipv4.tcp_notsent_lowat")?;
    let bound = bytes > 0 && bytes < i32::MAX as u64;
    let limit = if bound {
        Limit::At(Bytes(bytes))
    } else {
        Limit::Unlimited
    };
    Some(fact(limit))
}
