//! The UDP port: proof of addresses, and a socket for each proved address.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use sys::socket;
use traffic::wire::{
    datagram::{Datagram, GREETING},
    key,
    prove::Prover,
};

use super::{
    event::Event,
    registry::{Arrival, Expected},
    rejected::Rejected,
    shared::Shared,
};

/// Starts to prove addresses on one UDP socket.
pub(crate) fn start(socket: UdpSocket, shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
    // Only an end of the server waits for it.
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let prover = Prover::new(&key::random()?);
    std::thread::Builder::new()
        .name("prove".to_owned())
        .stack_size(128 << 10)
        .spawn(move || {
            while !shared.stopped() {
                let mut bytes = [0; GREETING + 1];
                if let Ok((n, from)) = socket.recv_from(&mut bytes) {
                    answer(&socket, &prover, &shared, &bytes[..n], from);
                }
            }
        })
}

/// Answers a datagram. A reply is never longer than its request, and unauthenticated hosts get
/// none.
fn answer(socket: &UdpSocket, prover: &Prover, shared: &Shared, bytes: &[u8], from: SocketAddr) {
    match Datagram::parse(bytes) {
        Some(Datagram::Hello(token)) if shared.registry.find(token).is_some() => {
            let challenge = Datagram::Challenge(token, prover.challenge(token, from));
            let _ = socket.send_to(&challenge.greeting(), from);
        }
        Some(Datagram::Prove(token, answer)) => {
            let expected = shared.registry.find(token);
            let proved = |e: &Arc<Expected>| prover.proves(e.ticket(), from, &answer);
            let Some(expected) = expected.filter(proved) else {
                return;
            };
            // A second `Prove`, sent because the reply was lost, finds an existing socket, which
            // replies to it.
            match connected(socket, from) {
                Ok(own) => {
                    let _ = own.send(&Datagram::Proved(token).greeting());
                    expected.take(Arrival::Socket(own));
                }
                Err(error) => {
                    (shared.log)(Event::Rejected(from, Rejected::Socket(error)));
                }
            }
        }
        _ => {}
    }
}

/// A socket of the same port, connected to one peer.
fn connected(socket: &UdpSocket, peer: SocketAddr) -> io::Result<UdpSocket> {
    let mut local = socket.local_addr()?;
    if local.ip().is_unspecified() {
        // The source address of the route, from which the challenge was sent, too.
        let asking = UdpSocket::bind(SocketAddr::new(local.ip(), 0))?;
        asking.connect(peer)?;
        local.set_ip(asking.local_addr()?.ip());
    }
    let own = socket::udp_shared_own_family(local)?;
    own.connect(peer)?;
    Ok(own)
}
