//! Sentences of remedies.

use super::{
    Action, Bottleneck, Buffer, CcScope, Flow, LimitKind, Processor, Remedy, RouteTo, SHAPED,
    TunnelMode,
};
use crate::{
    text,
    text::{Text, Value},
};

impl Remedy {
    /// The remedy as one sentence, without a leading capital and a full stop.
    pub fn sentence(&self) -> Text {
        self.action.sentence()
    }
}

impl Action {
    /// The remedy as one sentence, without a leading capital and a full stop.
    pub fn sentence(&self) -> Text {
        match self {
            Self::Keep => {
                text!("leave it as it is; higher goodput needs a faster line or a shorter path")
            }
            Self::CongestionControl { cc, scope } => congestion(cc, scope),
            Self::Shaper { .. } => self.shaper(),
            Self::Queue { device, queue } => text!(
                "set the queue of {device} to {queue}; no shaper is needed where the device is the bottleneck",
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
            Self::Ecn { on: true } => text!("request ECN on new connections"),
            Self::Ecn { on: false } => text!("do not request ECN on new connections"),
            Self::NotsentLowat { bytes } => text!(
                "limit unsent data to {bytes} per socket",
                bytes = Value::Bytes(*bytes as f64)
            ),
            Self::Offload { .. }
            | Self::ReceiveSteering { .. }
            | Self::DeviceQueues { .. }
            | Self::Relieve { .. } => self.work(),
            Self::RemoveShaper {
                device,
                queue: Some(queue),
                rate_bps: Some(rate_bps),
            } => text!(
                "check whether {queue} with {rate} on {device} is intended: a shaper just below the line's rate limits delay and should stay; one left over from an earlier line or a test should be removed",
                queue = queue,
                rate = Value::Bps(*rate_bps as f64),
                device = named(device.as_deref())
            ),
            Self::RemoveShaper { device, .. } => text!(
                "check whether the shaper on {device} is intended: one just below the line's rate limits delay and should stay; one left over from an earlier line or a test should be removed",
                device = named(device.as_deref())
            ),
            Self::Sysctl { name, value } => text!(
                "reset {name} to the kernel's default, {value}; check /etc/sysctl.d for the file that sets it",
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
            None => text!("{share} of the measured rate", share = Value::Share(SHAPED)).into(),
        };
        let queue = queue.name();
        match (below, flow) {
            (Bottleneck::Policer, _) => text!(
                "shape to {rate} with {queue}, slightly below the policed rate, where the data is sent",
                rate = rate,
                queue = queue
            ),
            (Bottleneck::Queue, Flow::Egress) => text!(
                "shape to {rate} with {queue} on the last device under your control before the bottleneck",
                rate = rate,
                queue = queue
            ),
            (Bottleneck::Queue, Flow::Ingress) => text!(
                "shape ingress traffic to {rate} with {queue} on the first device under your control behind the bottleneck",
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
                "set the tunnel MTU to the path MTU minus 60 bytes over IPv4, minus 80 over IPv6, on both ends"
            ),
            Self::MssClamp { bytes: Some(bytes) } => text!(
                "clamp the MSS of connections through this host to {bytes}, in both directions",
                bytes = Value::Bytes(f64::from(*bytes))
            ),
            Self::MssClamp { .. } => text!(
                "clamp the MSS of connections through this host to the route MTU, in both directions"
            ),
            _ => text!("enable TCP MTU probing (net.ipv4.tcp_mtu_probing=1) as a fallback"),
        }
    }

    fn work(&self) -> Text {
        match self {
            Self::Offload {
                feature,
                on: false,
                device,
            } => text!(
                "test with {feature} of {device} off, then update kernel, driver or VPN; leave it on if that changes nothing, since offloads account for half of the speed",
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
                "distribute receive processing of {device} over the processors (RPS); turn on rx-udp-gro-forwarding if this host forwards",
                device = named(device.as_deref())
            ),
            Self::DeviceQueues { device, count } => text!(
                "set {device} to {count} queues",
                device = named(device.as_deref()),
                count = *count
            ),
            Self::Relieve {
                by: Processor::TunnelThread,
            } => text!(
                "use the kernel's WireGuard, or a version of the product with segmentation offload; a larger tunnel MTU if the path allows it"
            ),
            _ => text!(
                "find what else runs there and distribute or reduce it; a larger MTU, enabled offloads and a faster governor lower the cost per byte; no TCP sysctl helps"
            ),
        }
    }

    fn others(&self) -> Text {
        match self {
            Self::MoreFlows { flows: Some(flows) } => text!(
                "use {flows} parallel connections; for a tunnel, several tunnels on different ports, since a tunnel is one flow to the network",
                flows = *flows
            ),
            Self::MoreFlows { .. } => text!(
                "use several parallel connections; for a tunnel, several tunnels on different ports, since a tunnel is one flow to the network"
            ),
            Self::KeepOrder => text!(
                "find what spreads packets of one flow over several paths: per-packet bonding, queues without a flow hash, a VPN with several sending threads; leave RACK and tcp_reordering at their defaults"
            ),
            Self::Radio => text!(
                "repeat the test over a cable; then turn off power saving, or change the channel or the location; bbr at the sender only mitigates the remaining loss"
            ),
            Self::AskProvider { request } => text!(
                "ask the line's operator {request}",
                request = request.clone()
            ),
            Self::Measure { what } => text!("measure {what}", what = what.clone()),
            Self::FreeText { what, .. } => what.clone(),
            _ => text!(
                "check what feeds the sender: disk, a single-threaded program, small writes that wait for responses"
            ),
        }
    }

    /// The affected device.
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
        CcScope::Socket => text!("set {cc} in the sending program (TCP_CONGESTION)", cc = cc),
        CcScope::Route(RouteTo { toward, .. }) => text!(
            "send with {cc}, first on the route to {toward} only",
            cc = cc,
            toward = *toward
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
            "raise the transmit queue of {device} to {packets} packets",
            device = device,
            packets = packets
        ),
    }
}

fn buffers(buffer: Buffer, max_bytes: Option<u64>) -> Text {
    let max = max_bytes.map(|bytes| Value::Bytes(bytes as f64));
    match (buffer, max) {
        (Buffer::Receive, Some(max)) => text!(
            "raise the third value of net.ipv4.tcp_rmem to {max}, twice the bandwidth-delay product; do not set SO_RCVBUF in programs",
            max = max
        ),
        (Buffer::Receive, None) => text!(
            "raise the third value of net.ipv4.tcp_rmem to at least twice the bandwidth-delay product; do not set SO_RCVBUF in programs"
        ),
        (Buffer::Send, Some(max)) => text!(
            "raise the third value of net.ipv4.tcp_wmem to {max}, four times the bandwidth-delay product; do not set SO_SNDBUF in programs",
            max = max
        ),
        (Buffer::Send, None) => text!(
            "raise the third value of net.ipv4.tcp_wmem to three to four times the bandwidth-delay product; do not set SO_SNDBUF in programs"
        ),
    }
}

fn tunnel(mode: TunnelMode) -> Text {
    match mode {
        TunnelMode::Kernel => text!(
            "use the kernel's WireGuard if the product supports it (NetBird does as root with the module loaded); otherwise a version with segmentation offload on the tun device"
        ),
        TunnelMode::Device => text!(
            "let the VPN use a tun device or the kernel's WireGuard (Tailscale: not --tun=userspace-networking; NetBird: not NB_USE_NETSTACK_MODE), or update it"
        ),
        TunnelMode::Direct => text!(
            "establish a direct connection: allow UDP in and out, a fixed port, IPv6, or NAT-PMP; if a relay is unavoidable, use one close to both ends"
        ),
        TunnelMode::OtherPort => text!(
            "try another UDP port for the tunnel; if all are slow, use a tunnel over TCP or disguised as TCP (Phantun, udp2raw), and ask the line's operator"
        ),
    }
}
