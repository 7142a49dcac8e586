//! Errors of reading and writing the settings of a host.

use std::{io, net::IpAddr};

use model::{change::Setting, text, text::Text};

/// A setting that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum HostError {
    /// A request to the kernel.
    Netlink(#[from] sys::NetlinkError),
    /// A kernel parameter.
    Sysctl(#[from] sys::sysctl::SysctlError),
    /// Another call of the kernel.
    Io {
        /// The operation.
        operation: Operation,
        /// The I/O error.
        #[source]
        error: io::Error,
    },
    /// The device of this name does not exist.
    NoDevice(String),
    /// There is no device on the route to an address.
    NoDeviceToward(IpAddr),
    /// The saved value is of another setting, or damaged.
    Unusable(Box<Setting>),
    /// The kernel did not take it; it has this value instead.
    NotTaken(Text),
}

/// A call of the kernel, on the device or module of a name or the node of a lab path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages are the documentation")]
pub enum Operation {
    MakeId,
    ReadBootId,
    ExamineNamespace,
    Enter(String),
    ReadOffloads(String),
    SwitchOffloads(String),
    ListQueues(String),
    ReadProcessors(String),
    SetProcessors(String),
    ListModules,
    Load(String),
    Unload(String),
}

impl Operation {
    /// The error of this call.
    pub fn failed(self) -> impl FnOnce(io::Error) -> HostError {
        let operation = self;
        move |error| HostError::Io { operation, error }
    }

    fn text(&self) -> Text {
        match self {
            Self::MakeId => text!("make an id"),
            Self::ReadBootId => text!("read the boot id"),
            Self::ExamineNamespace => text!("examine the network namespace"),
            Self::Enter(node) => text!("enter {node}", node = node),
            Self::ReadOffloads(device) => {
                text!("read the offloads of {device}", device = device)
            }
            Self::SwitchOffloads(device) => {
                text!("switch offloads of {device}", device = device)
            }
            Self::ListQueues(device) => text!("list the queues of {device}", device = device),
            Self::ReadProcessors(device) => {
                text!("read the processors of {device}", device = device)
            }
            Self::SetProcessors(device) => {
                text!("set the processors of {device}", device = device)
            }
            Self::ListModules => text!("list the modules of the kernel"),
            Self::Load(module) => text!("load the module {module}", module = module),
            Self::Unload(module) => text!("remove the module {module}", module = module),
        }
    }
}

impl HostError {
    /// The error of a saved value that is not of this setting.
    pub(crate) fn unusable(setting: &Setting) -> Self {
        Self::Unusable(Box::new(setting.clone()))
    }

    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Netlink(error) => error.text(),
            Self::Sysctl(error) => error.text(),
            Self::Io { operation, error } => text!(
                "{operation}: {error}",
                operation = operation.text(),
                error = error
            ),
            Self::NoDevice(device) => text!("there is no device {device}", device = device),
            Self::NoDeviceToward(address) => {
                text!("there is no device toward {address}", address = *address)
            }
            Self::Unusable(setting) => text!(
                "the journal's old value of {setting} is not usable",
                setting = setting.as_ref()
            ),
            Self::NotTaken(value) => text!(
                "after it was set, the kernel has {value} instead",
                value = value.clone()
            ),
        }
    }
}
