//! Datagrams of the measurement protocol, and similar ones.

use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use stats::Random;
use traffic::wire::{Token, datagram::Datagram};

use super::tally::Tally;
use crate::{
    client::{self, Opened, Session},
    served::Served,
    trouble::Trouble,
};

/// A datagram of any kind, for a proved socket.
pub(super) fn any(random: &mut Random) -> Vec<u8> {
    let number = random.next_u64() as u32;
    let payload = (random.next_u64() % 2000) as u16;
    let datagram = match random.next_u64() % 10 {
        0..3 => Datagram::Probe { number },
        3 => Datagram::SizedAsk { number, payload },
        4..6 => Datagram::Data {
            number: number.into(),
            sent_ns: random.next_u64(),
        },
        6 => Datagram::Sized { number, payload },
        7 => Datagram::Answer { number, held_ns: 0 },
        8 => {
            // The first byte and version of an Initial of QUIC (RFC 9000, section 17.2).
            let mut bytes: Vec<u8> = (0..1200).map(|_| random.next_u64() as u8).collect();
            bytes[..5].copy_from_slice(&[0xc0, 0, 0, 0, 1]);
            return bytes;
        }
        _ => {
            return (0..random.next_u64() % 100)
                .map(|_| random.next_u64() as u8)
                .collect();
        }
    };
    let mut bytes = datagram.greeting().to_vec();
    if random.next_u64().is_multiple_of(3) {
        bytes.resize((random.next_u64() % 1400) as usize, 0);
    }
    bytes
}

/// Proves an address for a load; counts the bytes sent and received before.
pub(super) fn prove(
    session: &Session,
    opened: &Opened,
    (from, served): (IpAddr, &Served),
    tally: &mut Tally,
) -> Result<Option<UdpSocket>, Trouble> {
    let socket = UdpSocket::bind((from, 0))?;
    socket.connect(served.address())?;
    socket.set_read_timeout(Some(Duration::from_millis(50)))?;
    let mut challenge: Option<Vec<u8>> = None;
    for _ in 0..3 {
        let next = session.answer(opened, challenge.as_deref());
        tally.datagrams += 1;
        tally.sent_before += next.len() as u64;
        let _ = socket.send(&next);
        let mut bytes = [0; 2048];
        let Ok(n) = socket.recv(&mut bytes) else {
            continue;
        };
        if client::is_proved(&bytes[..n]) {
            tally.proved += 1;
            return Ok(Some(socket));
        }
        tally.came_before += n as u64;
        challenge = Some(bytes[..n].to_vec());
    }
    Ok(None)
}

/// Datagrams of a client without the key.
pub(super) fn strange(served: &Served, from: IpAddr, random: &mut Random, tally: &mut Tally) {
    let Ok(socket) = UdpSocket::bind((from, 0)) else {
        return;
    };
    let _ = socket.connect(served.address());
    let _ = socket.set_nonblocking(true);
    for _ in 0..20 {
        let mut token = [0; 16];
        token[..8].copy_from_slice(&random.next_u64().to_be_bytes());
        let bytes = match random.next_u64() % 3 {
            0 => Datagram::Hello(Token(token)).greeting().to_vec(),
            1 => Datagram::Prove(Token(token), token).greeting().to_vec(),
            _ => any(random),
        };
        tally.datagrams += 1;
        tally.sent_before += bytes.len() as u64;
        let _ = socket.send(&bytes);
        while let Ok(n) = socket.recv(&mut [0; 2048]) {
            tally.came_before += n as u64;
        }
    }
}
