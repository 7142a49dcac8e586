//! Addresses of a host that take connections.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket},
    time::Duration,
};

use model::{net::Layer, run::Unreached, text, text::Text};
use traffic::wire::PORT;

use crate::run::Target;

/// Timeout of an address.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Reason why a host cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub enum ReachError {
    /// The name has no address.
    Resolve {
        /// The name.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// The name has no addresses.
    NoAddress(String),
    /// It has a link-local address only, which names no host without an interface.
    LinkLocal(SocketAddr),
    /// No address answered; this is the last one tried.
    Connect {
        /// The address.
        address: SocketAddr,
        /// The I/O error.
        source: io::Error,
    },
}

impl ReachError {
    /// The error with its values, for reports in any language.
    pub fn text(&self) -> Text {
        match self {
            Self::Resolve { host, source } => {
                text!("{host}: {source}", host = host, source = source)
            }
            Self::NoAddress(host) => text!("{host} has no address", host = host),
            Self::LinkLocal(address) => text!(
                "{address} is a link-local address, which is not measured: its packets need an interface with it; use another address of the host",
                address = *address
            ),
            Self::Connect { address, source } => text!(
                "connect to {address}: {source}",
                address = *address,
                source = source
            ),
        }
    }
}

/// The addresses of `HOST` or `HOST:PORT` that accept connections, at most one per family, in the
/// resolver's order. The default port is `port`, else that of `pathtwin serve`.
///
/// # Errors
///
/// The name has no addresses, or none of them answers within five seconds.
pub fn host(host: &str, port: Option<u16>) -> Result<Vec<SocketAddr>, ReachError> {
    let mut reached: Vec<SocketAddr> = Vec::new();
    let mut failed = ReachError::NoAddress(host.to_owned());
    for address in resolve(host, port.unwrap_or(PORT))? {
        if reached.iter().any(|a| a.is_ipv4() == address.is_ipv4()) {
            continue;
        }
        if is_link_local(&address) {
            failed = ReachError::LinkLocal(address);
            continue;
        }
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(_) => reached.push(address),
            Err(source) => failed = ReachError::Connect { address, source },
        }
    }
    if reached.is_empty() {
        return Err(failed);
    }
    Ok(reached)
}

/// Returns true for an IPv6 address of one link (fe80::/10, RFC 4291 section 2.5.6), to which loads
/// and the route need its interface as well. Those of IPv4 need none.
fn is_link_local(address: &SocketAddr) -> bool {
    matches!(address.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local())
}

/// A far end that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct FarEnd {
    /// Address at which sessions are opened.
    pub control: SocketAddr,
    /// Its addresses on each layer.
    pub targets: Vec<Target>,
    /// Addresses inside tunnels that do not answer.
    pub unreached: Vec<Unreached>,
}

impl FarEnd {
    /// The local address of the route to it. Nothing is sent.
    ///
    /// # Errors
    /// There is no route to it.
    pub fn own_address(&self) -> io::Result<IpAddr> {
        let any: IpAddr = match self.control.ip() {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(self.control)?;
        Ok(socket.local_addr()?.ip())
    }

    /// Finds a far end: the addresses of [`host()`], and those of `via` inside tunnels.
    ///
    /// # Errors
    /// The name has no addresses, or none of them answers. Unreachable addresses inside a tunnel
    /// are in [`Self::unreached`] instead.
    pub fn find(name: &str, port: Option<u16>, via: &[IpAddr]) -> Result<Self, ReachError> {
        let reached = host(name, port)?;
        let none = || ReachError::NoAddress(name.to_owned());
        let control = *reached.first().ok_or_else(none)?;
        let underlay = reached.iter().map(|a| Target {
            layer: Layer::Underlay,
            far: a.ip(),
        });
        let mut found = Self {
            control,
            targets: underlay.collect(),
            unreached: Vec::new(),
        };
        let layer = Layer::Tunnel;
        for &far in via {
            match through_tunnel(SocketAddr::new(far, control.port())) {
                Ok(()) => found.targets.push(Target { layer, far }),
                Err(error) => found.unreached.push(Unreached {
                    layer,
                    far,
                    why: error.text(),
                }),
            }
        }
        Ok(found)
    }

    /// Number of layers that are measured.
    pub fn layers(&self) -> usize {
        1 + usize::from(self.targets.iter().any(|t| t.layer == Layer::Tunnel))
    }
}

/// Checks that the far end's port accepts connections at an address inside a tunnel. This also
/// wakes an idle tunnel: Tailscale is idle 45 s after its last packet, NetBird until its first.
///
/// # Errors
///
/// It does not answer within ten seconds, in which an idle tunnel finds its peer.
pub fn through_tunnel(address: SocketAddr) -> Result<(), ReachError> {
    const WAKING: Duration = Duration::from_secs(10);
    TcpStream::connect_timeout(&address, WAKING)
        .map(drop)
        .map_err(|source| ReachError::Connect { address, source })
}

/// The first address that accepts connections. A single one is not tried: an iperf3 server reports
/// a connection without a test as an error.
///
/// # Errors
///
/// There is no address, or none of several answers within five seconds.
pub fn first(name: &str, addresses: &[SocketAddr]) -> Result<SocketAddr, ReachError> {
    if let [only] = addresses {
        return Ok(*only);
    }
    let mut failed = ReachError::NoAddress(name.to_owned());
    for &address in addresses {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(_) => return Ok(address),
            Err(source) => failed = ReachError::Connect { address, source },
        }
    }
    Err(failed)
}

fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, ReachError> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let all = if has_port {
        host.to_socket_addrs()
    } else {
        (host, port).to_socket_addrs()
    };
    let all = all.map_err(|source| ReachError::Resolve {
        host: host.to_owned(),
        source,
    })?;
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Bug: "connected", then "Invalid argument" for each layer and a run without samples.
    #[test]
    fn a_link_local_address_is_refused_with_the_reason() {
        let error = host("fe80::1%1", Some(9)).unwrap_err();
        assert!(matches!(error, ReachError::LinkLocal(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("fe80::1") && text.contains("another address"),
            "{text}"
        );
    }

    #[test]
    fn an_address_may_have_a_port() {
        let of = |text: &str| resolve(text, PORT).unwrap();
        let other = resolve("192.0.2.7", 7000).unwrap();
        assert_eq!(other, ["192.0.2.7:7000".parse().unwrap()]);
        assert_eq!(
            of("192.0.2.7"),
            [SocketAddr::new([192, 0, 2, 7].into(), PORT)]
        );
        assert_eq!(of("192.0.2.7:9"), ["192.0.2.7:9".parse().unwrap()]);
        assert_eq!(of("[2001:db8::1]:9"), ["[2001:db8::1]:9".parse().unwrap()]);
        let bare: IpAddr = "2001:db8::1".parse().unwrap();
        assert_eq!(of("2001:db8::1"), [SocketAddr::new(bare, PORT)]);
    }

    /// Both addresses belong to this host: one accepts connections on the port, the other does not.
    #[test]
    fn a_tunnel_that_does_not_answer_is_reported_and_not_measured() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let [near, dead] = ["127.0.0.1", "127.0.0.2"].map(|a| a.parse().unwrap());
        let far = FarEnd::find("127.0.0.1", Some(port), &[near, dead]).unwrap();
        let target = |layer| Target { layer, far: near };
        assert_eq!(far.control, SocketAddr::new(near, port));
        assert_eq!(far.targets, [Layer::Underlay, Layer::Tunnel].map(target));
        assert_eq!(far.layers(), 2);
        let [unreached] = far.unreached.as_slice() else {
            panic!("{far:?}");
        };
        assert_eq!((unreached.layer, unreached.far), (Layer::Tunnel, dead));
        let alone = FarEnd::find("127.0.0.1", Some(port), &[dead]).unwrap();
        assert_eq!((alone.targets.len(), alone.layers()), (1, 1));
    }

    /// Tailscale was idle when the facts were taken, and a relay was ruled out. A far end that is
    /// found has answered through the tunnel, and facts are taken of a far end that was found.
    #[test]
    fn an_idle_tunnel_is_woken_before_there_is_a_session_for_facts() {
        let underlay = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = underlay.local_addr().unwrap().port();
        let tunnel = TcpListener::bind(("127.0.0.3", port)).unwrap();
        tunnel.set_nonblocking(true).unwrap();
        let via: IpAddr = "127.0.0.3".parse().unwrap();
        assert!(tunnel.accept().is_err(), "nothing was sent yet");
        let far = FarEnd::find("127.0.0.1", Some(port), &[via]).unwrap();
        assert!(far.unreached.is_empty(), "{far:?}");
        let (_, from) = tunnel.accept().unwrap();
        assert!(from.ip().is_loopback());
    }

    #[test]
    fn listening_ports_are_reached_and_others_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(host(&address.to_string(), None).unwrap(), [address]);
        drop(listener);
        let refused = host(&address.to_string(), None);
        assert!(
            matches!(refused, Err(ReachError::Connect { address: a, .. }) if a == address),
            "{refused:?}"
        );
        assert!(matches!(
            host("no such host", None),
            Err(ReachError::Resolve { .. })
        ));
    }

    #[test]
    fn of_several_addresses_the_first_that_answers_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        let gone = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        assert_eq!(first("x", &[gone, there]).unwrap(), there);
        assert_eq!(first("x", &[gone]).unwrap(), gone);
        assert!(matches!(first("x", &[]), Err(ReachError::NoAddress(_))));
    }
}
