//! Addresses at which clients reach a server.

use std::net::{IpAddr, SocketAddr, UdpSocket};

/// The address that clients can use: one that the server listens on, else that at which its
/// administrator reached this host (`SSH_CONNECTION`), else the one from which it reaches others;
/// absent = none is known.
pub fn reached_at(addresses: &[SocketAddr], ssh_connection: Option<&str>) -> Option<IpAddr> {
    let named = addresses
        .iter()
        .map(SocketAddr::ip)
        .find(|ip| !ip.is_unspecified());
    // CLIENT_IP CLIENT_PORT SERVER_IP SERVER_PORT, ssh(1).
    let by_ssh = || ssh_connection?.split_whitespace().nth(2)?.parse().ok();
    let own = || own_address().filter(|ip| !ip.is_unspecified());
    named.or_else(by_ssh).or_else(own)
}

/// The address from which this host sends to the Internet (an address for documentation, RFC 5737;
/// nothing is sent).
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind(("0.0.0.0", 0)).ok()?;
    socket.connect(("192.0.2.1", 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_listened_on_comes_before_that_of_ssh() {
        let ssh = "198.51.100.7 50000 203.0.113.9 22";
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let named = reached_at(&[at("[::]:5301"), at("192.0.2.3:5301")], Some(ssh));
        assert_eq!(named, Some(IpAddr::from([192, 0, 2, 3])));
        let every = reached_at(&[at("[::]:5301")], Some(ssh));
        assert_eq!(every, Some(IpAddr::from([203, 0, 113, 9])));
    }
}
