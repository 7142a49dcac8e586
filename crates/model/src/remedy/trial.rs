//! Application of remedies to a Path.

use std::fmt;

use super::{Action, Buffer, CcScope, Location, Remedy};
use crate::{
    cell::{Buffer as QueueBuffer, EndQdisc},
    change::CONGESTION_CONTROL,
    net::{Direction, Side},
    path::{End, Limit, Parameter, Path},
    text,
    text::Text,
    units::{Bytes, Rate},
};

/// Reason why a remedy cannot be tried on a path in the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTriable {
    /// It changes nothing.
    NoChange,
    /// It has no parameter in a Path.
    NotOnAPath,
    /// It belongs to the processors, cards or kernel queues of a host: the lab models paths.
    OfAHost,
    /// It belongs to a program: the lab's senders always have data, on separate sockets.
    OfAProgram,
    /// It belongs to the line or to others, and its effect on the line is unknown beforehand.
    OfTheLine,
    /// It is a measurement.
    Measurement,
    /// A required value is unknown.
    ValueUnknown,
    /// It belongs to one end, and none is given.
    NoEnd,
    /// There is no tunnel on this path.
    NoTunnel,
    /// The line behind the shaper was not measured.
    BehindShaper,
}

impl NotTriable {
    /// The reason, for a sentence.
    pub fn text(self) -> Text {
        match self {
            Self::NoChange => text!("it changes nothing"),
            Self::NotOnAPath => text!("the lab has no such setting"),
            Self::OfAHost => {
                text!("the lab models paths, not the processors, cards and queues of hosts")
            }
            Self::OfAProgram => text!("the lab models paths, not programs"),
            Self::OfTheLine => text!("its effect on the line cannot be predicted"),
            Self::Measurement => text!("it is a measurement, not a change"),
            Self::ValueUnknown => text!("a required value is unknown"),
            Self::NoEnd => text!("it belongs to one end, and none is given"),
            Self::NoTunnel => text!("there is no tunnel on this path"),
            Self::BehindShaper => text!("the rate of the line behind the shaper is not known"),
        }
    }
}

impl fmt::Display for NotTriable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}

impl std::error::Error for NotTriable {}

impl Remedy {
    /// The path with this remedy applied.
    ///
    /// # Errors
    /// The lab cannot model the remedy, with the reason.
    pub fn apply(&self, path: &Path) -> Result<Path, NotTriable> {
        let mut path = path.clone();
        match &self.action {
            Action::Keep => return Err(NotTriable::NoChange),
            Action::CongestionControl { cc, scope } => {
                // The scope of sockets is irrelevant with a single sending program.
                let (CcScope::Socket | CcScope::Route(_) | CcScope::Host) = scope;
                self.end(&mut path)?.cc = Some(Parameter::given(cc.clone()));
            }
            Action::Shaper { .. } => self.shape(&mut path)?,
            Action::Queue { queue, .. } => {
                self.end(&mut path)?.qdisc = Some(Parameter::given((*queue).into()));
            }
            Action::RemoveShaper { .. } => {
                let shape = &mut self.end(&mut path)?.shape_bps;
                // A path fitted to a measurement has the shaper's rate as that of the line.
                shape.take().ok_or(NotTriable::BehindShaper)?;
            }
            Action::SocketBuffer {
                buffer, max_bytes, ..
            } => {
                let max = bytes(max_bytes.ok_or(NotTriable::ValueUnknown)?);
                let end = self.end(&mut path)?;
                match buffer {
                    Buffer::Receive => end.rmem_bytes = Some(max),
                    Buffer::Send => end.wmem_bytes = Some(max),
                }
            }
            Action::FreeBuffer { buffer } => {
                let end = self.end(&mut path)?;
                let free = Some(Parameter::given(Limit::Unlimited));
                match buffer {
                    Buffer::Receive => end.rmem_bytes = free,
                    Buffer::Send => end.wmem_bytes = free,
                }
            }
            Action::TunnelMtu { bytes, .. } => {
                let bytes = bytes.ok_or(NotTriable::ValueUnknown)?;
                let tunnel = path.tunnel.as_mut().ok_or(NotTriable::NoTunnel)?;
                tunnel.mtu_bytes = Some(Parameter::given(bytes));
            }
            Action::LinkMtu { bytes, .. } => {
                path.underlay.mtu_bytes = Some(Parameter::given(*bytes));
            }
            Action::Ecn { on } => self.end(&mut path)?.ecn = Some(Parameter::given(*on)),
            Action::NotsentLowat { bytes: lowat } => {
                self.end(&mut path)?.notsent_lowat_bytes = Some(bytes(*lowat));
            }
            Action::Sysctl { name, value } => parameter(self.end(&mut path)?, name, value)?,
            Action::MssClamp { .. } | Action::MtuProbing | Action::FreeText { .. } => {
                return Err(NotTriable::NotOnAPath);
            }
            Action::QueueLimit { .. }
            | Action::UdpBuffer { .. }
            | Action::Offload { .. }
            | Action::ReceiveSteering { .. }
            | Action::DeviceQueues { .. }
            | Action::Relieve { .. } => return Err(NotTriable::OfAHost),
            Action::MoreFlows { .. } | Action::FeedSender | Action::Tunnel { .. } => {
                return Err(NotTriable::OfAProgram);
            }
            Action::KeepOrder | Action::Radio | Action::AskProvider { .. } => {
                return Err(NotTriable::OfTheLine);
            }
            Action::Measure { .. } => return Err(NotTriable::Measurement),
        }
        Ok(path)
    }

    /// The end of the path that the remedy belongs to.
    fn end<'a>(&self, path: &'a mut Path) -> Result<&'a mut End, NotTriable> {
        let side = self.on.side().ok_or(NotTriable::NoEnd)?;
        Ok(path.ends.end_mut(side))
    }

    /// A shaper on the sending end belongs to that end. Anywhere else it replaces the bottleneck: a
    /// lab path has one in each direction, and the slower of two in series decides.
    fn shape(&self, path: &mut Path) -> Result<(), NotTriable> {
        let Action::Shaper {
            rate_bps,
            queue,
            direction,
            ..
        } = &self.action
        else {
            return Err(NotTriable::NotOnAPath);
        };
        let bps = rate_bps.ok_or(NotTriable::ValueUnknown)?;
        // As a command sets it: the devices of a lab path are Ethernet, and count its header.
        let rate = Parameter::given(Limit::At(Rate::from_bps(bps)));
        if sends(self.on, *direction) {
            let end = self.end(path)?;
            end.shape_bps = Some(rate);
            end.qdisc = Some(Parameter::given((*queue).into()));
            return Ok(());
        }
        let line = path.underlay.line_mut(*direction);
        line.rate_bps = Some(rate);
        line.queue = Some(Parameter::given((*queue).into()));
        line.buffer = Some(Parameter::given(QueueBuffer::Kernel));
        // The bucket of the shaper that was there is never full behind a slower one.
        line.peak = None;
        Ok(())
    }
}

fn sends(on: Location, direction: Direction) -> bool {
    on.side() == Some(Side::sends(direction))
}

fn bytes(bytes: u64) -> Parameter<Limit<Bytes>> {
    Parameter::given(Limit::At(Bytes(bytes)))
}

/// Sets the parameter of a path that corresponds to a kernel parameter.
fn parameter(end: &mut End, name: &str, value: &str) -> Result<(), NotTriable> {
    let last = || {
        let word = value.split_whitespace().next_back();
        word.and_then(|w| w.parse().ok())
            .ok_or(NotTriable::ValueUnknown)
    };
    match name {
        CONGESTION_CONTROL => end.cc = Some(Parameter::given(value.to_owned())),
        "net.ipv4.tcp_rmem" => end.rmem_bytes = Some(bytes(last()?)),
        "net.ipv4.tcp_wmem" => end.wmem_bytes = Some(bytes(last()?)),
        "net.core.default_qdisc" => end.qdisc = Some(Parameter::given(qdisc(value)?)),
        _ => return Err(NotTriable::NotOnAPath),
    }
    Ok(())
}

/// A queue by the kernel's name.
fn qdisc(name: &str) -> Result<EndQdisc, NotTriable> {
    Ok(match name {
        "fq" => EndQdisc::Fq,
        "fq_codel" => EndQdisc::FqCodel,
        "pfifo_fast" | "pfifo" | "bfifo" => EndQdisc::Fifo,
        "codel" => EndQdisc::Codel,
        "pie" => EndQdisc::Pie,
        "cake" => EndQdisc::Cake,
        "dualpi2" => EndQdisc::Dualpi2,
        _ => return Err(NotTriable::NotOnAPath),
    })
}
