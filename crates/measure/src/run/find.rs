//! Search for the third point by its name: an agent, or a host whose kernel answers.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs},
    time::{Duration, Instant},
};

use sys::socket::icmp;
use traffic::wire::{Key, PORT};

use super::third::{ProbeKind, Third};
use crate::reach::{self, ReachError};

/// Timeout of a host's answer to a probe.
const TIMEOUT: Duration = Duration::from_secs(1);
/// ICMP requests before a host counts as silent.
const TRIES: u16 = 3;
/// Ports that routers usually have open or refuse.
const PORTS: [u16; 3] = [80, 53, 443];

/// Reason why there is no third point.
#[derive(Debug, thiserror::Error)]
pub enum ThirdError {
    /// The route to the far end has no gateway.
    #[error("--third gateway: {0} is reached without a gateway; name a host on the way to it")]
    NoGateway(IpAddr),
    /// The name has no address.
    #[error("--third {name}: {source}")]
    Resolve {
        /// The name.
        name: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// Nothing there answers.
    #[error(
        "--third {0}: it answers neither on the port of pathtwin serve, nor ICMP echo, nor TCP on \
         ports 80, 53 and 443; start `pathtwin serve` on it, or name another host"
    )]
    Silent(IpAddr),
}

impl Third {
    /// Finds the third point that a user names: `gateway` is the first router on the way to `far`;
    /// anything else is HOST or HOST:PORT of `pathtwin serve`, or a host that answers ICMP or TCP.
    ///
    /// # Errors
    /// There is no such host, or nothing answers there.
    pub fn find(name: &str, far: IpAddr, key: &Key) -> Result<Self, ThirdError> {
        let found = |address, probes| Self {
            address,
            probes,
            load: false,
        };
        if name == "gateway" {
            let address = host::facts::gateway(far).ok_or(ThirdError::NoGateway(far))?;
            return Ok(found(address, without_agent(address)?));
        }
        match reach::host(name, None) {
            Ok(reached) => {
                let same = |a: &&SocketAddr| a.is_ipv4() == far.is_ipv4();
                let address = reached.iter().find(same).or(reached.first());
                let address = address.ok_or_else(|| unresolved(name, none()))?;
                Ok(found(
                    address.ip(),
                    ProbeKind::Agent(address.port(), key.clone()),
                ))
            }
            Err(ReachError::Resolve { source, .. }) => Err(unresolved(name, source)),
            Err(_) => {
                let address = resolved(name)?;
                Ok(found(address, without_agent(address)?))
            }
        }
    }
}

fn none() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn unresolved(name: &str, source: io::Error) -> ThirdError {
    ThirdError::Resolve {
        name: name.to_owned(),
        source,
    }
}

/// The first address of a name.
fn resolved(name: &str) -> Result<IpAddr, ThirdError> {
    let host = name
        .rsplit_once(':')
        .filter(|(host, _)| !host.contains(':'));
    let host = host.map_or(name, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found = (host, PORT).to_socket_addrs();
    let mut found = found.map_err(|source| unresolved(name, source))?;
    let first = found.next().ok_or_else(|| unresolved(name, none()))?;
    Ok(first.ip())
}

/// Returns the kind of probes that a host without an agent answers.
fn without_agent(address: IpAddr) -> Result<ProbeKind, ThirdError> {
    if answers_icmp(address) {
        return Ok(ProbeKind::Icmp);
    }
    let port = PORTS.into_iter().find(|port| {
        match TcpStream::connect_timeout(&SocketAddr::new(address, *port), TIMEOUT) {
            Ok(stream) => sys::socket::set_abort(&stream).is_ok(),
            Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        }
    });
    port.map(ProbeKind::Tcp).ok_or(ThirdError::Silent(address))
}

fn answers_icmp(address: IpAddr) -> bool {
    let ask = || -> io::Result<bool> {
        let (socket, echo) = icmp::echo_socket(address, std::process::id() as u16)?;
        let mut answer = [0; 128];
        for number in 0..TRIES {
            let mut request = [0; icmp::HEADER + 16];
            echo.request(number, &[0; 16], &mut request);
            socket.send(&request)?;
            let deadline = Instant::now() + TIMEOUT;
            // Other ICMP messages may arrive first.
            while let Some(left) = deadline.checked_duration_since(Instant::now()) {
                socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
                match socket.recv(&mut answer) {
                    Ok(n) if echo.reply(&answer[..n]).is_some() => return Ok(true),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
        Ok(false)
    };
    ask().unwrap_or(false)
}
