//! Remedies in words.

use super::{
    Action, Bottleneck, Buffer, CcScope, Flow, LimitKind, Processor, Remedy, RouteTo, TunnelMode,
};
use crate::{
    text,
    text::{Text, Value},
};

impl Remedy {
    /// What to do, in one sentence without a capital letter and a full stop.
    pub fn sentence(&self) -> Text {
        self.action.sentence()
    }
}

impl Action {
    /// What to do, in one sentence without a capital letter and a full stop.
    pub fn sentence(&self) -> Text {
        match self {
            Self::Keep => text!("leave it as it is; more needs a faster line or a shorter way"),
            Self::CongestionControl { cc, scope } => congestion(cc, scope),
            Self::Shaper { .. } => self.shaper(),
            Self::Queue { device, queue } => text!(
                "make {queue} the queue of {device}; no shaper is needed where the device is the bottleneck",
                queue = queue.name(),
                device = named(device.as_deref())
            ),
            Self::QueueLimit {
                limit,
                device,
                packets,
            } => limited(*limit, device.as_deref(), *packets),
            Self::SocketBuffer {
                buffer, max_bytes, ..
            } => buffers(*buffer, *max_bytes),
            Self::FreeBuffer {
                buffer: Buffer::Receive,
            } => text!(
                "stop setting SO_RCVBUF in the program that receives; the kernel's own limit is large enough for this path"
            ),
            Self::FreeBuffer {
                buffer: Buffer::Send,
            } => text!(
                "stop setting SO_SNDBUF in the program that sends; the kernel's own limit is large enough for this path"
            ),
            Self::UdpBuffer { bytes } => text!(
                "raise net.core.rmem_default and wmem_default with their maxima to {bytes}, or let the VPN set its own buffers (CAP_NET_ADMIN in containers), then restart it",
                bytes = Value::Bytes(*bytes as f64)
            ),
            Self::TunnelMtu { .. }
            | Self::LinkMtu { .. }
            | Self::MssClamp { .. }
            | Self::MtuProbing => self.sizes(),
            Self::Ecn { on: true } => text!("ask for ECN on new connections"),
            Self::Ecn { on: false } => text!("ask for no ECN on new connections"),
            Self::NotsentLowat { bytes } => text!(
                "let no program queue more than {bytes} unsent in a socket",
                bytes = Value::Bytes(*bytes as f64)
            ),
            Self::Offload { .. }
            | Self::ReceiveSteering { .. }
            | Self::DeviceQueues { .. }
            | Self::Relieve { .. } => self.work(),
            Self::RemoveShaper {
                device,
                queue,
                rate_bps,
            } => text!(
                "check whether {queue} with {rate} on {device} is meant: a shaper just below the line's rate keeps delay down and should stay; one that is left over from another line or a test should go",
                queue = queue,
                rate = Value::Bps(*rate_bps as f64),
                device = named(device.as_deref())
            ),
            Self::Sysctl { name, value } => text!(
                "put {name} back to the kernel's default, {value}; look in /etc/sysctl.d for who sets it",
                name = name,
                value = value
            ),
            Self::Tunnel { mode } => tunnel(*mode),
            _ => self.others(),
        }
    }

    fn shaper(&self) -> Text {
        let Self::Shaper {
            rate_bps,
            queue,
            flow,
            below,
            ..
        } = self
        else {
            return self.others();
        };
        let rate = match rate_bps {
            Some(bps) => Value::Bps(*bps as f64),
            None => text!("95 % of the measured rate").into(),
        };
        let queue = queue.name();
        match (below, flow) {
            (Bottleneck::Policer, _) => text!(
                "shape to {rate} with {queue}, a little below the policed rate, where the data is sent",
                rate = rate,
                queue = queue
            ),
            (Bottleneck::Queue, Flow::Egress) => text!(
                "shape to {rate} with {queue} on the last device that is yours before the bottleneck",
                rate = rate,
                queue = queue
            ),
            (Bottleneck::Queue, Flow::Ingress) => text!(
                "shape what comes in to {rate} with {queue} on the first device that is yours behind the bottleneck",
                rate = rate,
                queue = queue
            ),
        }
    }

    fn sizes(&self) -> Text {
        match self {
            Self::TunnelMtu {
                bytes: Some(bytes), ..
            }
            | Self::LinkMtu { bytes, .. } => text!(
                "set the MTU of {device} to {bytes}",
                device = named(self.device()),
                bytes = Value::Bytes(f64::from(*bytes))
            ),
            Self::TunnelMtu { .. } => text!(
                "set the tunnel's MTU to the path's less 60 bytes over IPv4, less 80 over IPv6, on both ends"
            ),
            Self::MssClamp { bytes: Some(bytes) } => text!(
                "clamp the MSS of connections through this host to {bytes}, in both directions",
                bytes = Value::Bytes(f64::from(*bytes))
            ),
            Self::MssClamp { .. } => text!(
                "clamp the MSS of connections through this host to the MTU of their route, in both directions"
            ),
            _ => text!(
                "let TCP probe for the size that fits (net.ipv4.tcp_mtu_probing=1), as a safety net"
            ),
        }
    }

    fn work(&self) -> Text {
        match self {
            Self::Offload {
                feature,
                on: false,
                device,
            } => text!(
                "try with {feature} of {device} off, then update kernel, driver or VPN; leave it on if that changes nothing, offloads are worth half of the speed",
                feature = feature,
                device = named(device.as_deref())
            ),
            Self::Offload {
                feature, device, ..
            } => text!(
                "switch {feature} of {device} on",
                feature = feature,
                device = named(device.as_deref())
            ),
            Self::ReceiveSteering { device, .. } => text!(
                "spread receiving of {device} over the processors (RPS); rx-udp-gro-forwarding on where this host forwards",
                device = named(device.as_deref())
            ),
            Self::DeviceQueues { device, count } => text!(
                "let {device} use {count} queues",
                device = named(device.as_deref()),
                count = *count
            ),
            Self::Relieve {
                by: Processor::TunnelThread,
            } => text!(
                "use the kernel's WireGuard, or a version of the product with segmentation offload; a larger tunnel MTU if the path allows it"
            ),
            _ => text!(
                "find what else runs there and spread or lower it; a larger MTU, offloads left on and a faster governor make each byte cheaper; no sysctl of TCP helps"
            ),
        }
    }

    fn others(&self) -> Text {
        match self {
            Self::MoreFlows { flows: Some(flows) } => text!(
                "use {flows} connections at once, and beside each other several tunnels on different ports: a tunnel is one flow to the network",
                flows = *flows
            ),
            Self::MoreFlows { .. } => text!(
                "use several connections, and beside each other several tunnels on different ports: a tunnel is one flow to the network"
            ),
            Self::KeepOrder => text!(
                "find what sends packets of one flow over several paths: bonds that alternate packets, queues without a flow hash, a VPN with several sending threads; leave RACK and tcp_reordering at their defaults"
            ),
            Self::Radio => text!(
                "repeat the test on a cable; then power saving off, a free channel or a better place; bbr at the sender is a plaster for what loss remains"
            ),
            Self::AskProvider { request } => text!(
                "ask whoever runs the line {request}",
                request = request.clone()
            ),
            Self::Measure { what } => text!("measure {what}", what = what.clone()),
            Self::FreeText { what, .. } => what.clone(),
            _ => text!(
                "look at what feeds the sender: disk, a single-threaded program, small writes that wait for answers"
            ),
        }
    }

    /// The device it concerns.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::Shaper { device, .. }
            | Self::Queue { device, .. }
            | Self::QueueLimit { device, .. }
            | Self::TunnelMtu { device, .. }
            | Self::LinkMtu { device, .. }
            | Self::Offload { device, .. }
            | Self::ReceiveSteering { device, .. }
            | Self::DeviceQueues { device, .. }
            | Self::RemoveShaper { device, .. } => device.as_deref(),
            _ => None,
        }
    }
}

fn named(device: Option<&str>) -> Value {
    device.map_or_else(|| text!("the device").into(), Value::from)
}

fn congestion(cc: &str, scope: &CcScope) -> Text {
    match scope {
        CcScope::Socket => text!(
            "let the program that sends choose {cc} (TCP_CONGESTION)",
            cc = cc
        ),
        CcScope::Route(RouteTo { toward, .. }) => text!(
            "send with {cc}, first on the route to {toward} only",
            cc = cc,
            toward = toward.to_string()
        ),
        CcScope::Host => text!("send with {cc} from this host", cc = cc),
    }
}

fn limited(limit: LimitKind, device: Option<&str>, packets: u32) -> Text {
    let device = named(device);
    match limit {
        LimitKind::FqFlow => text!(
            "give fq on {device} a flow_limit of {packets}, or use fq_codel or cake there",
            device = device,
            packets = packets
        ),
        LimitKind::Backlog => text!(
            "raise net.core.netdev_max_backlog to {packets}",
            packets = packets
        ),
        LimitKind::ReceiveRing => text!(
            "raise the receive ring of {device} to {packets}",
            device = device,
            packets = packets
        ),
        LimitKind::DeviceQueue => text!(
            "raise the queue of {device} to {packets} packets",
            device = device,
            packets = packets
        ),
    }
}

fn buffers(buffer: Buffer, max_bytes: Option<u64>) -> Text {
    let max = max_bytes.map(|bytes| Value::Bytes(bytes as f64));
    match (buffer, max) {
        (Buffer::Receive, Some(max)) => text!(
            "raise the third value of net.ipv4.tcp_rmem to {max}, twice the bandwidth-delay product; in a program that sets SO_RCVBUF, stop doing so",
            max = max
        ),
        (Buffer::Receive, None) => text!(
            "raise the third value of net.ipv4.tcp_rmem to at least twice the bandwidth-delay product; in a program that sets SO_RCVBUF, stop doing so"
        ),
        (Buffer::Send, Some(max)) => text!(
            "raise the third value of net.ipv4.tcp_wmem to {max}, four times the bandwidth-delay product; in a program that sets SO_SNDBUF, stop doing so",
            max = max
        ),
        (Buffer::Send, None) => text!(
            "raise the third value of net.ipv4.tcp_wmem to three to four times the bandwidth-delay product; in a program that sets SO_SNDBUF, stop doing so"
        ),
    }
}

fn tunnel(mode: TunnelMode) -> Text {
    match mode {
        TunnelMode::Kernel => text!(
            "use the kernel's WireGuard where the product can (NetBird does as root with the module loaded); otherwise a version with segmentation offload on the tun device"
        ),
        TunnelMode::Device => text!(
            "let the VPN use a tun device or the kernel's WireGuard (Tailscale: not --tun=userspace-networking; NetBird: not NB_USE_NETSTACK_MODE), or update it"
        ),
        TunnelMode::Direct => text!(
            "get a direct connection: let UDP out and in, a fixed port, IPv6, or NAT-PMP; if it must be a relay, one close to both ends"
        ),
        TunnelMode::OtherPort => text!(
            "try another UDP port for the tunnel; if all are slow, a tunnel over TCP or one that looks like it (Phantun, udp2raw), and ask who runs the line"
        ),
    }
}
