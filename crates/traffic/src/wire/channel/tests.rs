use std::{net::TcpListener, thread};

use super::*;
use crate::wire::greeting::{self, CONTROL, Parsed};

fn pair(
    server: Key,
    client: &Key,
    limit: usize,
) -> (Result<Channel, ChannelError>, Result<Channel, ChannelError>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; CONTROL];
        stream.read_exact(&mut bytes).unwrap();
        let Parsed::Whole(Greeting::Control(first)) = greeting::parse(&bytes) else {
            panic!("no greeting")
        };
        Channel::accept(stream, &first, &server, limit)
    });
    let near = Channel::connect(TcpStream::connect(address).unwrap(), client, limit);
    (near, accepting.join().unwrap())
}

#[test]
fn messages_of_any_size_are_transferred() {
    let key = Key::generate().unwrap();
    let (near, far) = pair(key.clone(), &key, 4 << 20);
    let (mut near, mut far) = (near.unwrap(), far.unwrap());
    for n in [0, 1, 1000, 70_000, 1_000_000] {
        // Random digits, which deflate badly.
        let message: Vec<u64> = (0..n)
            .map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40)
            .collect();
        let expected = message.clone();
        let sending = thread::spawn(move || near.send(&message).map(|()| near));
        let got = far.receive::<Vec<u64>>();
        near = sending.join().unwrap().unwrap();
        match n {
            1_000_000 => assert!(matches!(got, Err(ChannelError::TooLong(_)))),
            _ => assert_eq!(got.unwrap(), expected),
        }
    }
}

#[test]
fn another_key_is_refused_and_reported() {
    let (near, far) = pair(Key::generate().unwrap(), &Key::generate().unwrap(), 1000);
    assert!(matches!(near, Err(ChannelError::Refused(Refusal::Key))));
    assert!(matches!(far, Err(ChannelError::Crypto)));
}

#[test]
fn a_changed_byte_ends_the_channel() {
    let (near, far) = pair(Key::OPEN, &Key::OPEN, 1000);
    let (near, mut far) = (near.unwrap(), far.unwrap());
    near.stream().write_all(&[0, 20]).unwrap();
    near.stream().write_all(&[0; 20]).unwrap();
    assert!(matches!(far.receive::<u8>(), Err(ChannelError::Crypto)));
}

/// Bug: they satisfied the minimum rate of a peer, and no limit ended them.
#[test]
fn frames_without_content_are_not_a_message() {
    let (near, far) = pair(Key::OPEN, &Key::OPEN, 1000);
    let (mut near, mut far) = (near.unwrap(), far.unwrap());
    let flood = thread::spawn(move || {
        let mut frames = 0;
        loop {
            let mut frame = [0; 2 + 1 + TAG];
            let n = near.noise.write_message(&[MORE], &mut frame[2..]).unwrap();
            frame[..2].copy_from_slice(&(n as u16).to_be_bytes());
            if near.stream().write_all(&frame).is_err() {
                return frames;
            }
            frames += 1;
        }
    });
    assert!(matches!(far.receive::<u8>(), Err(ChannelError::Foreign)));
    drop(far);
    // Its end shows at the peer once its buffers are full, or before.
    assert!(flood.join().unwrap() < 1_000_000);
}
