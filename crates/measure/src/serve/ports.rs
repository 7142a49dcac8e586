//! One TCP and one UDP socket of the same number.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
};

use sys::socket::{self, TcpOptions};

/// Ports of the kernel's choice that are tried: TCP's may be another program's with UDP. With a
/// tenth of them taken, one in 10^16 servers finds none.
const TRIED: usize = 16;

/// Binds a listener and a UDP socket to `address`; if its port is 0, to one that the kernel
/// chooses.
///
/// # Errors
///
/// It is not an address of this host, or its port is in use, or with port 0, each that was tried.
pub(super) fn bind(address: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    pair(address, || {
        let options = TcpOptions {
            own_family: true,
            ..TcpOptions::default()
        };
        socket::tcp_listener(address, &options)
    })
}

fn pair(
    address: SocketAddr,
    mut listen: impl FnMut() -> io::Result<TcpListener>,
) -> io::Result<(TcpListener, UdpSocket)> {
    let name = |address: SocketAddr, e: io::Error| {
        io::Error::new(e.kind(), format!("listen on {address}: {e}"))
    };
    let is_taken = |e: &io::Error| address.port() == 0 && e.kind() == io::ErrorKind::AddrInUse;
    let mut tried = 0;
    loop {
        let listener = listen().map_err(|e| name(address, e))?;
        socket::set_syn_ack_retries(&listener, 1)?;
        let bound = listener.local_addr()?;
        tried += 1;
        match socket::udp_shared_own_family(bound) {
            Ok(socket) => return Ok((listener, socket)),
            Err(e) if is_taken(&e) && tried < TRIED => {}
            Err(e) => return Err(name(bound, e)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A listener on a port that another program has with UDP.
    fn taken() -> (TcpListener, UdpSocket) {
        loop {
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
                return (tcp, udp);
            }
        }
    }

    #[test]
    fn a_port_of_the_kernels_choice_that_another_program_has_with_udp_is_left_for_another() {
        let (tcp, udp) = taken();
        let mut first = Some(tcp);
        let zero: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let (listener, socket) = pair(zero, || match first.take() {
            Some(tcp) => Ok(tcp),
            None => TcpListener::bind(zero),
        })
        .unwrap();
        let bound = listener.local_addr().unwrap();
        assert_eq!(bound, socket.local_addr().unwrap());
        assert_ne!(bound, udp.local_addr().unwrap());
    }

    #[test]
    fn a_port_that_was_asked_for_is_not_left_for_another() {
        let (tcp, udp) = taken();
        drop(tcp);
        let address = udp.local_addr().unwrap();
        let error = bind(address).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains(&address.to_string()), "{error}");
    }

    #[test]
    fn ports_of_the_kernels_choice_are_not_tried_for_ever() {
        let zero: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let mut held = Vec::new();
        let mut calls = 0;
        let error = pair(zero, || {
            let (tcp, udp) = taken();
            held.push(udp);
            calls += 1;
            Ok(tcp)
        })
        .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(calls, TRIED);
    }
}
