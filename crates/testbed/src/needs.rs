//! Kernel features that a cell needs or can use, found by trying.
//!
//! A kernel may have a feature built in, as a loadable module, or not at all; a trial in a scratch
//! namespace detects it independently of the version.

use model::cell::{Cell, Local, Loss, Queue};
use sys::{
    NetlinkError, Netns,
    link::{self, NewLink},
    tc::{self, Action, Handle, Hook, Qdisc},
};

use crate::queues::Timers;

/// Group of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A queue discipline.
    Qdisc,
    /// An action of a filter.
    Action,
    /// A tunnel device.
    Tunnel,
    /// A congestion control.
    Congestion,
}

/// A feature that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its group.
    pub kind: Kind,
    /// The kernel's name of it.
    pub name: String,
    /// The kernel's error, if it refused.
    pub refusal: Option<String>,
}

/// Every feature that pathtwin can use, tried.
///
/// # Errors
/// The kernel refused the namespace in which it is tried.
pub fn try_all() -> Result<Vec<Tried>, super::BuildError> {
    let mut names: Vec<(Kind, String)> = known()
        .into_iter()
        .map(|q| (Kind::Qdisc, q.kind().to_owned()))
        .collect();
    names.extend(["police", "gact"].map(|a| (Kind::Action, a.to_owned())));
    names.push((Kind::Tunnel, "wireguard".to_owned()));
    names.extend(["cubic", "bbr", "reno", "dctcp"].map(|c| (Kind::Congestion, c.to_owned())));
    try_these(&names)
}

/// Features that a cell needs and this kernel refuses.
///
/// # Errors
/// The kernel refused the namespace in which it is tried.
pub fn missing(cell: &Cell) -> Result<Vec<Tried>, super::BuildError> {
    let tried = try_these(&needed(cell))?;
    Ok(tried.into_iter().filter(|t| t.refusal.is_some()).collect())
}

/// The features a cell needs.
pub fn needed(cell: &Cell) -> Vec<(Kind, String)> {
    let mut names = Vec::new();
    let mut qdisc = |name: &str| names.push((Kind::Qdisc, name.to_owned()));
    for (line, direction) in [
        (&cell.path.down, model::net::Direction::Down),
        (&cell.path.up, model::net::Direction::Up),
    ] {
        for queue in super::queues::bottleneck(line, cell.path.mtu, Timers::Late) {
            qdisc(queue.qdisc.kind());
        }
        if !super::queues::delay(line, cell.seed, direction).is_empty() {
            qdisc("netem");
        }
    }
    for end in [&cell.ends.near, &cell.ends.far] {
        for queue in super::queues::end(end, cell.path.mtu, Timers::Late) {
            qdisc(queue.qdisc.kind());
        }
    }
    let lines = [&cell.path.down, &cell.path.up];
    if lines.iter().any(|l| matches!(l.loss, Loss::Every(_))) {
        names.push((Kind::Action, "gact".to_owned()));
    }
    if lines
        .iter()
        .any(|l| l.queue == Queue::Policer && l.rate.is_some() || l.policer.is_some())
    {
        names.push((Kind::Action, "police".to_owned()));
    }
    let staged = |t: &model::cell::Tunnel| t.down.is_some() || t.up.is_some();
    if cell.tunnel.as_ref().is_some_and(staged) {
        names.extend(["htb", "netem"].map(|name| (Kind::Qdisc, name.to_owned())));
    }
    if cell.tunnel.is_some() {
        names.push((Kind::Tunnel, "wireguard".to_owned()));
    }
    if let Some(local) = &cell.path.local {
        names.extend(local_needs(local, cell.path.mtu));
    }
    let groups = std::iter::once(&cell.traffic)
        .chain(&cell.cross)
        .filter_map(|t| t.cc.clone());
    let ends = [&cell.ends.near, &cell.ends.far].map(|e| e.cc.clone());
    names.extend(groups.chain(ends).map(|cc| (Kind::Congestion, cc)));
    names.sort();
    names.dedup();
    names
}

/// Those of the line in front of the near end, and of the router's shapers.
fn local_needs(local: &Local, mtu: u32) -> Vec<(Kind, String)> {
    let mut names: Vec<(Kind, String)> = ["htb", "netem"]
        .map(|name| (Kind::Qdisc, name.to_owned()))
        .into();
    for shaper in [local.shape_down, local.shape_up].into_iter().flatten() {
        let queues = super::queues::shaper(shaper, mtu, Timers::Late);
        names.extend(
            queues
                .iter()
                .map(|q| (Kind::Qdisc, q.qdisc.kind().to_owned())),
        );
    }
    if local.shape_down.is_some() {
        names.push((Kind::Action, REDIRECT.to_owned()));
    }
    names
}

/// The kernel's name of the action that sends packets to another device.
const REDIRECT: &str = "mirred";

fn known() -> Vec<Qdisc> {
    vec![
        Qdisc::Netem(tc::Netem::default()),
        Qdisc::Tbf(tc::Tbf {
            rate_bps: 1_000_000,
            burst_bytes: 1514,
            limit_bytes: 15140,
            table_mtu_bytes: None,
            peak: None,
        }),
        Qdisc::Htb(tc::Htb::default()),
        Qdisc::Pfifo { limit: Some(10) },
        Qdisc::Bfifo { limit: Some(15140) },
        Qdisc::Fq(tc::Fq::default()),
        Qdisc::FqCodel(tc::FqCodel::default()),
        Qdisc::Codel(tc::Codel::default()),
        Qdisc::Pie(tc::Pie::default()),
        Qdisc::FqPie(tc::FqPie::default()),
        Qdisc::Cake(tc::Cake::default()),
        Qdisc::DualPi2(tc::DualPi2::default()),
        Qdisc::Red(tc::Red {
            limit_bytes: 400_000,
            min_bytes: 30_000,
            max_bytes: 90_000,
            packet_bytes: 1000,
            burst_packets: None,
            probability: 0.02,
            bandwidth_bps: 10_000_000,
            ecn: false,
            harddrop: false,
            adaptive: false,
            nodrop: false,
        }),
        Qdisc::Clsact,
    ]
}

fn try_these(names: &[(Kind, String)]) -> Result<Vec<Tried>, super::BuildError> {
    let scratch = Scratch::new()?;
    let tried = names.iter().map(|(kind, name)| {
        let refusal = scratch.refusal(*kind, name);
        Tried {
            kind: *kind,
            name: name.clone(),
            refusal,
        }
    });
    Ok(tried.collect())
}

/// A namespace with one device, gone when dropped.
struct Scratch(Netns);

const DEVICE: &str = "scratch0";

impl Scratch {
    fn new() -> Result<Self, super::BuildError> {
        let host = "a scratch namespace";
        let kernel = |source| super::BuildError::Kernel { host, source };
        let ns = Netns::create().map_err(|source| super::BuildError::System { host, source })?;
        let mut nl = ns.route().map_err(kernel)?;
        let peer = NewLink::named("scratch1");
        link::create_veth(&mut nl, &NewLink::named(DEVICE), &peer).map_err(kernel)?;
        Ok(Self(ns))
    }

    fn refusal(&self, kind: Kind, name: &str) -> Option<String> {
        let tried = match kind {
            Kind::Qdisc => self.qdisc(name),
            Kind::Action => self.action(name),
            Kind::Tunnel => self.tunnel(),
            Kind::Congestion => return self.congestion(name),
        };
        tried.err().map(|e| e.to_string())
    }

    fn qdisc(&self, name: &str) -> Result<(), NetlinkError> {
        let mut nl = self.0.route()?;
        let device = link::index(&mut nl, DEVICE)?;
        let Some(qdisc) = known().into_iter().find(|q| q.kind() == name) else {
            return Ok(());
        };
        let (parent, handle) = match qdisc {
            Qdisc::Clsact => (Handle::CLSACT, Handle::new(0xffff, 0)),
            _ => (Handle::ROOT, Handle::new(1, 0)),
        };
        tc::add(&mut nl, device, parent, handle, &qdisc)?;
        tc::delete(&mut nl, device, parent)
    }

    fn action(&self, name: &str) -> Result<(), NetlinkError> {
        let mut nl = self.0.route()?;
        let device = link::index(&mut nl, DEVICE)?;
        tc::add(
            &mut nl,
            device,
            Handle::CLSACT,
            Handle::new(0xffff, 0),
            &Qdisc::Clsact,
        )?;
        let action = match name {
            "police" => Action::Police {
                rate_bps: 1_000_000,
                burst_bytes: 10_000,
                mtu_bytes: None,
            },
            REDIRECT => {
                link::create_ifb(&mut nl, &NewLink::named("scratch-ifb"))?;
                Action::Redirect(link::index(&mut nl, "scratch-ifb")?)
            }
            _ => Action::DropEvery(2),
        };
        let added = tc::add_matchall(&mut nl, device, Hook::Egress, 1, &[action]);
        tc::delete(&mut nl, device, Handle::CLSACT)?;
        added
    }

    fn tunnel(&self) -> Result<(), NetlinkError> {
        let mut nl = self.0.route()?;
        link::create_wireguard(&mut nl, &NewLink::named("scratch-wg"))
    }

    fn congestion(&self, name: &str) -> Option<String> {
        let at = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let options = sys::socket::TcpOptions {
            congestion: Some(name.to_owned()),
            notsent_lowat: None,
            own_family: false,
        };
        let made = self
            .0
            .run(|| sys::socket::tcp_listener(at, &options))
            .and_then(|made| made);
        // The namespace's loopback is down, so only the option can be refused with these words.
        made.err()
            .map(|e| e.to_string())
            .filter(|text| text.contains("congestion control"))
    }
}
