//! Errors of settings given as text.

use crate::{prefix::PrefixError, spec::quantity::QuantityError};

/// Reason why a text is not a setting.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// Neither `host` nor a route.
    #[error("\"{0}\" is not a scope; write host or route:10.0.0.0/8")]
    Scope(String),
    /// The prefix of a route.
    #[error("{0}")]
    Prefix(#[from] PrefixError),
    /// A rate or a duration.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
    /// A parameter without a value.
    #[error("\"{0}\": write name=value")]
    NoValue(String),
    /// An invalid name of a kernel parameter.
    #[error("\"{0}\" is neither cc nor the dotted name of a kernel parameter")]
    Parameter(String),
    /// An invalid value of a kernel parameter.
    #[error("{0}: not a value of a kernel parameter")]
    Value(String),
    /// An invalid name of a congestion control.
    #[error("\"{0}\" is not the name of a congestion control")]
    CongestionControl(String),
    /// A device without a value.
    #[error("\"{0}\": write device=value")]
    NoDevice(String),
    /// An invalid device name.
    #[error("\"{0}\" is not the name of a device")]
    Device(String),
    /// It is not a whole number.
    #[error("\"{0}\" is not a whole number")]
    Number(String),
    /// A queue that cannot be below a shaper.
    #[error("\"{0}\" is not a queue for a shaper; there are cake, fq_codel, fq")]
    ShaperQueue(String),
    /// A shaper with two queues.
    #[error("the shaper of {device} has the queue {own}, and --queue {given} is another one")]
    ShaperQueues {
        /// Its device.
        device: String,
        /// Its queue.
        own: &'static str,
        /// The other one.
        given: &'static str,
    },
    /// A queue for shapers, of which there are none.
    #[error("--queue {0} is for a shaper, and there is none; write DEVICE={0}, or add --shape")]
    NoShaper(&'static str),
    /// A shaper with a rate of 0.
    #[error("\"{0}\": a shaper needs a rate above 0, as \"htb rate=47.5mbit\"")]
    ShaperRate(String),
    /// More words than a shaper has.
    #[error("\"{0}\": write DEVICE=RATE QUEUE")]
    ShaperForm(String),
    /// A share of a capacity that is not known.
    #[error(
        "{0}: a share of the capacity needs a measured one: give --findings or --advice of a run \
         that measured this direction, or a rate"
    )]
    ShareOfUnknown(String),
    /// A queue discipline that is not supported.
    #[error("\"{0}\" is not a queue discipline; there are fq, fq_codel, cake, htb, pfifo, bfifo")]
    Queue(String),
    /// A queue discipline that acts only where the queue is, and has no shaper that moves it there.
    #[error(
        "dualpi2 is not supported: without a shaper above it, it acts only where the queue forms; \
         --shape DEVICE=RATE moves the queue to this host, with cake or fq_codel"
    )]
    Dualpi2,
    /// An option without a value.
    #[error("\"{0}\": write options as name=value")]
    OptionForm(String),
    /// An option that the queue discipline does not have.
    #[error("{queue} has no option \"{option}\"; it has {}", valid.join(", "))]
    NoOption {
        /// The queue discipline.
        queue: &'static str,
        /// The unknown option.
        option: String,
        /// The options of the queue discipline.
        valid: &'static [&'static str],
    },
    /// A queue that cannot be below htb.
    #[error("\"{0}\" is not a queue for htb; there are fq and fq_codel, and cake shapes by itself")]
    HtbQueue(String),
    /// It is not a positive number of packets or bytes.
    #[error("\"{0}\" is not a number of packets or bytes above 0")]
    Count(String),
    /// It is not a duration that the kernel supports.
    #[error("\"{0}\" is not a whole number of microseconds up to 71 minutes")]
    Micros(String),
    /// Neither on nor off.
    #[error("\"{0}\": write on or off")]
    Switch(String),
    /// Neither `mtu` nor an MSS.
    #[error("\"{0}\": write mtu, or a number of bytes from 536 to 65535")]
    MssClamp(String),
    /// An offload in another form.
    #[error("\"{0}\": write DEVICE=FEATURE on, or off")]
    Offload(String),
    /// Sizes of rings in another form.
    #[error("\"{0}\": write DEVICE=rx=N tx=N, or one of both")]
    Rings(String),
    /// Numbers of queues in another form.
    #[error("\"{0}\": write DEVICE=combined=N, or rx=N and tx=N")]
    Channels(String),
    /// An invalid module name.
    #[error("\"{0}\" is not the name of a module")]
    Module(String),
    /// Neither on nor off for a device.
    #[error("\"{0}\": write DEVICE=on, or off")]
    OfDevice(String),
    /// More processors than Linux supports.
    #[error("{0} processors are more than Linux supports")]
    Processors(u32),
    /// It is not an overhead that cake supports.
    #[error("\"{0}\" is not a number of bytes from -64 to 256")]
    Overhead(String),
}
