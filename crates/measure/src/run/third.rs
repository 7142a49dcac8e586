//! Probes to the third point, a host at the border of two segments of the path, during the load.

pub(super) mod rates;

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use model::{
    run::{Probes, Sample, StepKind, ThirdAnswers, ThirdPoint},
    text,
    text::Text,
};
use sys::socket::icmp;
use traffic::{
    load::probe::{Probe, Probing, connect::Connecting},
    wire::Key,
};

use crate::far::{
    self, Action, Far, FarError,
    load::{Agreed, Echo},
};

/// Shortest interval of ICMP echo: hosts answer it with low priority, and some limit it.
const SHORTEST_ICMP: Duration = Duration::from_millis(20);
/// Shortest interval of connections, each of which costs both hosts a socket.
const SHORTEST_TCP: Duration = Duration::from_millis(50);

/// A third point.
#[derive(Clone, Debug)]
pub struct Third {
    /// Its address.
    pub address: IpAddr,
    /// Kind of its probes.
    pub probes: ProbeKind,
    /// True if TCP is also measured between it and this end; only with an agent.
    pub load: bool,
}

/// Kind of probes of a third point.
#[derive(Clone, Debug)]
pub enum ProbeKind {
    /// By datagrams to `pathtwin serve` at this port, with its key.
    Agent(u16, Key),
    /// By ICMP echo.
    Icmp,
    /// By connections to a port, open or closed.
    Tcp(u16),
}

/// The third point of a run.
pub(crate) struct Prober {
    address: IpAddr,
    answers: Answers,
    /// Result of the latest probes.
    seen: Option<Probes>,
    /// Reason why probing has ended.
    failed: Option<FarError>,
}

enum Answers {
    Agent(u16, Box<Far>),
    Icmp,
    Tcp(u16),
}

/// Probes that run.
pub(crate) enum Running {
    Datagrams(Probing, Option<Agreed<Echo>>),
    Connections(Connecting),
}

impl Prober {
    /// Opens a session if the third point is an agent.
    pub(crate) fn open(third: &Third, program: &str) -> Result<Self, FarError> {
        let answers = match &third.probes {
            ProbeKind::Agent(port, key) => {
                let control = SocketAddr::new(third.address, *port);
                Answers::Agent(*port, Box::new(Far::connect(control, key, program)?))
            }
            ProbeKind::Icmp => Answers::Icmp,
            ProbeKind::Tcp(port) => Answers::Tcp(*port),
        };
        Ok(Self {
            address: third.address,
            answers,
            seen: None,
            failed: None,
        })
    }

    /// Returns its description for the run.
    pub(crate) fn point(&self) -> ThirdPoint {
        ThirdPoint {
            address: self.address,
            answers: match self.answers {
                Answers::Agent(..) => ThirdAnswers::Agent,
                Answers::Icmp => ThirdAnswers::Icmp,
                Answers::Tcp(_) => ThirdAnswers::Tcp,
            },
            rates: Vec::new(),
        }
    }

    /// Starts probes; `None` if they cannot be, now or since an earlier failure.
    pub(crate) fn start(&mut self, every: Duration) -> Option<Running> {
        self.seen = None;
        if self.failed.is_some() {
            return None;
        }
        self.begin(every)
            .map_err(|error| self.failed = Some(error))
            .ok()
    }

    fn begin(&mut self, every: Duration) -> Result<Running, FarError> {
        match &mut self.answers {
            Answers::Agent(port, far) => {
                let address = SocketAddr::new(self.address, *port);
                let echo = far.open(&Echo)?;
                let socket = far::datagrams(*echo, address)?;
                let probing = Probing::start(socket, every);
                let probing = probing.map_err(Action::Probe.failed(address))?;
                Ok(Running::Datagrams(probing, Some(echo)))
            }
            Answers::Icmp => {
                let address = SocketAddr::new(self.address, 0);
                let id = std::process::id() as u16;
                let started = icmp::echo_socket(self.address, id)
                    .and_then(|socket| Probing::icmp(socket, every.max(SHORTEST_ICMP)));
                let probing = started.map_err(Action::Probe.failed(address))?;
                Ok(Running::Datagrams(probing, None))
            }
            Answers::Tcp(port) => {
                let address = SocketAddr::new(self.address, *port);
                let started = Connecting::start(address, every.max(SHORTEST_TCP));
                Ok(Running::Connections(
                    started.map_err(Action::Probe.failed(address))?,
                ))
            }
        }
    }

    /// Ends probes.
    pub(crate) fn finish(&mut self, running: Running, summarise: impl Fn(&[Probe]) -> Probes) {
        let probes = match running {
            Running::Connections(probing) => probing.finish(),
            Running::Datagrams(probing, echo) => {
                let probes = probing.finish();
                if let (Some(echo), Answers::Agent(_, far)) = (echo, &mut self.answers)
                    && let Err(error) = far.finish(echo)
                {
                    self.failed = Some(error);
                }
                probes
            }
        };
        self.seen = Some(summarise(&probes));
    }

    /// Adds the latest probes to the samples of their step. A sweep has several loads, each with
    /// its own.
    pub(crate) fn apply(&mut self, samples: &mut [Sample]) {
        let seen = self.seen.take();
        let steps = samples
            .iter_mut()
            .filter(|s| s.key.step != StepKind::UdpSweep);
        for sample in steps {
            sample.third = seen.clone();
        }
    }

    /// Shows an agent that this end is still there.
    pub(crate) fn ping(&mut self) {
        self.ask(Far::ping);
    }

    /// Ends probes of a step that failed.
    pub(crate) fn abandon(&mut self) {
        self.ask(Far::abandon);
    }

    fn ask(&mut self, request: fn(&mut Far) -> Result<(), FarError>) {
        if let Answers::Agent(_, far) = &mut self.answers
            && self.failed.is_none()
            && let Err(error) = request(far)
        {
            self.failed = Some(error);
        }
    }

    /// Ends the session; why probes ended early, if they did.
    pub(crate) fn close(self) -> Option<Text> {
        if let (Answers::Agent(_, far), None) = (self.answers, &self.failed) {
            far.bye();
        }
        let error = self.failed?;
        Some(text!(
            "the third point was not probed to the end: {why}",
            why = error.text()
        ))
    }
}

/// Returns the note that there is no session with the third point.
pub(crate) fn unreached(error: &FarError) -> Text {
    text!("the third point is not probed: {why}", why = error.text())
}

/// Returns a note that its segment was not loaded.
pub(crate) fn unmeasured(error: &FarError) -> Text {
    text!(
        "the rate between this host and the third point is not measured: {why}",
        why = error.text()
    )
}
