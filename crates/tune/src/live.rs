//! Settings of the running kernel, in the network namespace of this process.

mod amounts;
mod clamp;
mod device;
mod ingress;
mod module;
mod mtu;
mod offload;
mod parameter;
mod placement;
mod queue;
mod queues;
mod route;
mod steering;

use std::net::IpAddr;

use model::{
    change::{Saved, Scope, Setting},
    remedy::Flow,
    text::Text,
};
use sys::{
    Netlink, Netns, link,
    module::Places,
    privilege, route as route_of,
    tc::{Handle, QdiscStats},
};

use crate::{
    error::{HostError, Operation, Refusal, RefusalReason},
    host::Host,
};

pub use parameter::without_effect_here;
pub(crate) use queue::removes_shaper;

/// The running kernel.
#[derive(Debug)]
pub struct Live {
    nl: Netlink,
    modules: Places,
}

impl Live {
    /// Opens the settings of the calling thread's network namespace, in which the thread must
    /// remain.
    ///
    /// # Errors
    /// Netlink is not available.
    pub fn open() -> Result<Self, HostError> {
        Ok(Self {
            nl: Netlink::route()?,
            modules: Places::own(),
        })
    }
}

impl Host for Live {
    fn scope(&mut self) -> Result<Scope, HostError> {
        let netns = Netns::current()
            .and_then(|ns| ns.number())
            .map_err(Operation::ExamineNamespace.failed())?;
        Ok(Scope {
            boot: sys::machine::boot_id().map_err(Operation::ReadBootId.failed())?,
            netns,
            // Only those who may trace the first process may know.
            initial: Netns::number_of_first().ok().map(|first| first == netns),
            host: sys::machine::host_name(),
        })
    }

    fn link(&mut self, device: &str) -> Result<Option<u32>, HostError> {
        device::index(&mut self.nl, device)
    }

    fn name(&mut self, link: u32) -> Result<Option<String>, HostError> {
        device::name(&mut self.nl, link)
    }

    fn read(&mut self, setting: &Setting) -> Result<Saved, HostError> {
        match setting {
            Setting::Sysctl { name, .. } => parameter::read(name),
            Setting::RouteCongestionControl { to, table, .. } => {
                route::read(&mut self.nl, *to, *table)
            }
            Setting::Queue { device, .. } => match self.link(device)? {
                Some(index) => queue::read(&mut self.nl, index),
                None => Ok(Saved::NoDevice),
            },
            Setting::MssClamp { .. } => clamp::read(),
            Setting::Offload { device, .. } => match self.link(device)? {
                Some(_) => offload::read(device),
                None => Ok(Saved::NoDevice),
            },
            Setting::ReceiveSteering { device, .. } => match self.link(device)? {
                Some(_) => steering::read(device, Flow::Ingress),
                None => Ok(Saved::NoDevice),
            },
            Setting::TransmitSteering { device, .. } => match self.link(device)? {
                Some(_) => steering::read(device, Flow::Egress),
                None => Ok(Saved::NoDevice),
            },
            Setting::Rings { device, .. } => match self.link(device)? {
                Some(index) => amounts::read_rings(index),
                None => Ok(Saved::NoDevice),
            },
            Setting::Channels { device, .. } => match self.link(device)? {
                Some(index) => amounts::read_channels(index, device),
                None => Ok(Saved::NoDevice),
            },
            Setting::Module { name } => module::read(&self.modules, name),
            Setting::Ingress { device, .. } => match self.link(device)? {
                Some(index) => ingress::read(&mut self.nl, index),
                None => Ok(Saved::NoDevice),
            },
            Setting::Mtu { device, .. } => match self.link(device)? {
                Some(index) => mtu::read(&mut self.nl, index, device),
                None => Ok(Saved::NoDevice),
            },
            Setting::QueueLength { device, .. } => match self.link(device)? {
                Some(index) => {
                    let link = link::show(&mut self.nl, index)?;
                    let value = link.txqueuelen.unwrap_or_default().into();
                    Ok(Saved::Number { value })
                }
                None => Ok(Saved::NoDevice),
            },
        }
    }

    fn check(&mut self, setting: &Setting, old: &Saved) -> Result<Vec<Text>, Refusal> {
        match setting {
            Setting::Sysctl { name, value } => parameter::check(setting, name, value, old),
            Setting::RouteCongestionControl { to, table, cc } => {
                route::check(&mut self.nl, setting, *to, *table, cc)
            }
            Setting::Queue { device, queue } => {
                queue::check(&mut self.nl, setting, device, queue, old)
            }
            Setting::MssClamp { .. } => clamp::check(setting, old),
            Setting::Offload {
                device,
                feature,
                on,
            } => offload::check(setting, device, feature, *on),
            Setting::ReceiveSteering { cpus, .. } => {
                steering::check(setting, Flow::Ingress, *cpus, old)
            }
            Setting::TransmitSteering { cpus, .. } => {
                steering::check(setting, Flow::Egress, *cpus, old)
            }
            Setting::Rings { device, rx, tx } => {
                let index = self.index(device);
                let index = index.map_err(|error| Refusal::unreadable(setting, error))?;
                amounts::check_rings(setting, index, [*rx, *tx])
            }
            Setting::Channels {
                device,
                rx,
                tx,
                combined,
            } => {
                let index = self.index(device);
                let index = index.map_err(|error| Refusal::unreadable(setting, error))?;
                amounts::check_channels(setting, index, [*rx, *tx, *combined])
            }
            Setting::Module { name } => module::check(&self.modules, setting, name),
            Setting::Ingress { device, queue } => {
                ingress::check(&mut self.nl, setting, device, queue, old)
            }
            Setting::Mtu { device, bytes } => mtu::check(setting, device, *bytes),
            Setting::QueueLength { packets, .. } => match packets {
                0 => Err(Refusal::new(setting, RefusalReason::NoPackets)),
                _ => Ok(Vec::new()),
            },
        }
    }

    fn module(&mut self, setting: &Setting) -> Option<String> {
        module::of_congestion_control(&self.modules, setting.congestion_control()?)
    }

    fn lacks(&mut self, setting: &Setting) -> Option<&'static str> {
        if let Setting::Module { .. } = setting {
            return (!privilege::has_sys_module()).then_some("CAP_SYS_MODULE");
        }
        // Parameters under net. are writable with it too (net/sysctl_net.c: `net_ctl_permissions`).
        (!privilege::has_net_admin()).then_some("CAP_NET_ADMIN")
    }

    fn write(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError> {
        match setting {
            Setting::Sysctl { name, value } => Ok(sys::sysctl::write(name, value)?),
            Setting::RouteCongestionControl { to, cc, .. } => {
                route::write(&mut self.nl, setting, *to, cc, old)
            }
            Setting::Queue { device, queue } => {
                let index = self.index(device)?;
                queue::write(&mut self.nl, index, queue)
            }
            Setting::MssClamp { bytes } => clamp::write(*bytes),
            Setting::Offload {
                device,
                feature,
                on,
            } => offload::write(device, feature, *on),
            Setting::ReceiveSteering { device, cpus } => {
                steering::write(device, Flow::Ingress, *cpus)
            }
            Setting::TransmitSteering { device, cpus } => {
                steering::write(device, Flow::Egress, *cpus)
            }
            Setting::Rings { device, rx, tx } => {
                let index = self.index(device)?;
                amounts::write_rings(index, [*rx, *tx])
            }
            Setting::Channels {
                device,
                rx,
                tx,
                combined,
            } => {
                let index = self.index(device)?;
                amounts::write_channels(index, [*rx, *tx, *combined])
            }
            Setting::Module { name } => module::write(name),
            Setting::Ingress { device, queue } => {
                let index = self.index(device)?;
                ingress::write(&mut self.nl, index, queue)
            }
            Setting::Mtu { device, bytes } => {
                let index = self.index(device)?;
                Ok(link::set_mtu(&mut self.nl, index, *bytes)?)
            }
            Setting::QueueLength { device, packets } => {
                let index = self.index(device)?;
                Ok(link::set_txqueuelen(&mut self.nl, index, *packets)?)
            }
        }
    }

    fn restore(&mut self, setting: &Setting, old: &Saved) -> Result<(), HostError> {
        match setting {
            Setting::Sysctl { name, .. } => parameter::restore(setting, name, old),
            Setting::RouteCongestionControl { to, table, .. } => {
                route::restore(&mut self.nl, setting, *to, *table, old)
            }
            Setting::Queue { device, .. } => {
                let index = self.index(device)?;
                queue::restore(&mut self.nl, index, setting, old)
            }
            Setting::MssClamp { .. } => clamp::restore(setting, old),
            Setting::Offload { device, .. } => offload::restore(device, setting, old),
            Setting::ReceiveSteering { device, .. } => {
                steering::restore(device, Flow::Ingress, setting, old)
            }
            Setting::TransmitSteering { device, .. } => {
                steering::restore(device, Flow::Egress, setting, old)
            }
            Setting::Rings { device, .. } => {
                let index = self.index(device)?;
                amounts::restore_rings(index, setting, old)
            }
            Setting::Channels { device, .. } => {
                let index = self.index(device)?;
                amounts::restore_channels(index, device, setting, old)
            }
            Setting::Module { name } => module::restore(&self.modules, setting, name, old),
            Setting::Ingress { device, .. } => {
                let index = self.index(device)?;
                ingress::restore(&mut self.nl, index, setting, old)
            }
            Setting::Mtu { device, .. } => {
                let index = self.index(device)?;
                mtu::restore(&mut self.nl, index, device, setting, old)
            }
            Setting::QueueLength { device, .. } => {
                let Saved::Number { value } = old else {
                    return Err(HostError::unusable(setting));
                };
                let packets = u32::try_from(*value).map_err(|_| HostError::unusable(setting))?;
                let index = self.index(device)?;
                Ok(link::set_txqueuelen(&mut self.nl, index, packets)?)
            }
        }
    }

    fn clear(&mut self, setting: &Setting, link: u32) -> Result<(), HostError> {
        match setting {
            Setting::Ingress { .. } => ingress::clear(&mut self.nl, link),
            _ => Ok(()),
        }
    }
}

impl Live {
    /// Name of the device on the route to an address.
    ///
    /// # Errors
    /// There is no route to it.
    pub fn device_toward(&mut self, to: IpAddr) -> Result<String, HostError> {
        let route = route_of::lookup(&mut self.nl, route_of::Query::to(to))?;
        let index = route.link.ok_or(HostError::NoDeviceToward(to))?;
        Ok(link::show(&mut self.nl, index)?.name)
    }

    /// Returns true if packets to an address may leave over a device: the one of the route, one
    /// below it, or any if the route is a tunnel's, which knows no device below it.
    pub(crate) fn may_use(&mut self, device: u32, to: IpAddr) -> bool {
        let route = route_of::lookup(&mut self.nl, route_of::Query::to(to));
        let link = route.ok().and_then(|route| route.link);
        let (Some(used), Ok(links)) = (link, link::list(&mut self.nl)) else {
            return true;
        };
        let mut of_route = links.iter().filter(|link| link.index == used);
        let is_tunnel = of_route.any(|link| {
            matches!(
                link.kind.as_deref(),
                Some("wireguard" | "tun" | "vxlan" | "gre" | "ipip" | "sit")
            )
        });
        is_tunnel || used == device || mtu::is_above(&links, device, used)
    }

    /// Counters of the queue disciplines that a setting made; none if it is absent.
    pub(crate) fn counters(&mut self, setting: &Setting) -> Vec<QdiscStats> {
        let device = setting.device().and_then(|d| self.link(d).ok().flatten());
        let index = match (device, setting) {
            (Some(index), Setting::Ingress { .. }) => {
                ingress::intermediate(&mut self.nl, index).ok().flatten()
            }
            (index, _) => index,
        };
        let all = index.map(|index| sys::tc::stats(&mut self.nl, Some(index)));
        let mut all = all.and_then(Result::ok).unwrap_or_default();
        // The root first; the hook for received packets counts none of the sent ones.
        all.retain(|q| !matches!(q.kind.as_str(), "ingress" | "clsact"));
        all.sort_by_key(|q| q.parent != Handle::ROOT);
        all
    }

    fn index(&mut self, device: &str) -> Result<u32, HostError> {
        self.link(device)?
            .ok_or_else(|| HostError::NoDevice(device.to_owned()))
    }
}
