//! A relay of datagrams to a server, as a path that drops or delays some of them.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::Arc,
    thread,
    time::Duration,
};

/// What the path does with a datagram of so many bytes; `None`: it is dropped.
type Path = Arc<dyn Fn(usize) -> Option<Duration> + Send + Sync>;

/// Starts a relay on another address of loopback with the server's port, and returns that address.
/// It ends with the test program.
pub(crate) fn start(
    server: SocketAddr,
    at: &str,
    path: impl Fn(usize) -> Option<Duration> + Send + Sync + 'static,
) -> IpAddr {
    let at: IpAddr = at.parse().unwrap();
    let listening = Arc::new(UdpSocket::bind((at, server.port())).unwrap());
    let path: Path = Arc::new(path);
    thread::spawn(move || {
        let mut clients: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
        let mut bytes = vec![0; 65_536];
        while let Ok((n, from)) = listening.recv_from(&mut bytes) {
            let onward = clients.entry(from).or_insert_with(|| {
                let onward = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
                onward.connect(server).unwrap();
                let (back, listening) = (onward.clone(), listening.clone());
                thread::spawn(move || give_back(&back, &listening, from));
                onward
            });
            let Some(delay) = path(n) else { continue };
            let (onward, datagram) = (onward.clone(), bytes[..n].to_vec());
            if delay.is_zero() {
                let _ = onward.send(&datagram);
            } else {
                thread::spawn(move || {
                    thread::sleep(delay);
                    let _ = onward.send(&datagram);
                });
            }
        }
    });
    at
}

fn give_back(back: &UdpSocket, listening: &UdpSocket, to: SocketAddr) {
    let mut bytes = vec![0; 65_536];
    loop {
        if let Ok(n) = back.recv(&mut bytes) {
            let _ = listening.send_to(&bytes[..n], to);
        }
    }
}
