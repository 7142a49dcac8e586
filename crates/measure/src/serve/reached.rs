//! Addresses at which clients reach a server.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use traffic::wire::PORT;

/// The address that clients can use: one that the server listens on, else the one at which its
/// administrator reached this host (`SSH_CONNECTION`), else the source address of its default
/// route; absent = unknown.
fn reached_at(addresses: &[SocketAddr], ssh_connection: Option<&str>) -> Option<IpAddr> {
    let named = addresses
        .iter()
        .map(SocketAddr::ip)
        .find(|ip| !ip.is_unspecified());
    // CLIENT_IP CLIENT_PORT SERVER_IP SERVER_PORT, ssh(1).
    let by_ssh = || ssh_connection?.split_whitespace().nth(2)?.parse().ok();
    let own = || own_address().filter(|ip| !ip.is_unspecified());
    named.or_else(by_ssh).or_else(own)
}

/// The server as arguments of `pathtwin measure`: its host, or the name of this one where no
/// address is known, and its port unless it is the default.
pub fn target(
    addresses: &[SocketAddr],
    ssh_connection: Option<&str>,
    host_name: impl FnOnce() -> String,
) -> String {
    let port = addresses.first().map_or(PORT, SocketAddr::port);
    let host =
        reached_at(addresses, ssh_connection).map_or_else(host_name, |address| address.to_string());
    match port {
        PORT => host,
        port => format!("{host} --port {port}"),
    }
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
    fn the_usual_port_need_not_be_given() {
        let target = |text: &str| {
            let address = text.parse::<SocketAddr>().unwrap();
            target(&[address], None, || unreachable!("it has an address"))
        };
        assert_eq!(target("192.0.2.3:5301"), "192.0.2.3");
        assert_eq!(target("[2001:db8::1]:5302"), "2001:db8::1 --port 5302");
    }

    #[test]
    fn a_listening_address_is_preferred_to_that_of_ssh() {
        let ssh = "198.51.100.7 50000 203.0.113.9 22";
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let named = reached_at(&[at("[::]:5301"), at("192.0.2.3:5301")], Some(ssh));
        assert_eq!(named, Some(IpAddr::from([192, 0, 2, 3])));
        let every = reached_at(&[at("[::]:5301")], Some(ssh));
        assert_eq!(every, Some(IpAddr::from([203, 0, 113, 9])));
    }
}
