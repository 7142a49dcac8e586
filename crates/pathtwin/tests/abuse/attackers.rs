//! Those who mean it ill.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use measure::far::Far;
use traffic::wire::{
    Channel, Greeting, Key, Token, datagram::Datagram, greeting::CONTROL, message::Request,
};

use super::hello;

/// A greeting of a client that holds the key, as one who listens on the way would record it.
pub(super) fn recorded(key: &Key) -> [u8; CONTROL] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let stream = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
    let key = key.clone();
    let client = thread::spawn(move || Channel::connect(stream, &key, 1000).is_ok());
    let (mut tap, _) = listener.accept().expect("accept");
    let mut bytes = [0; CONTROL];
    tap.read_exact(&mut bytes).expect("the greeting");
    drop(tap);
    assert!(!client.join().expect("the client"));
    bytes
}

/// What an attacker sends on a connection, by its number.
pub(super) fn words(number: usize, replay: &[u8; CONTROL]) -> Vec<u8> {
    let wrong = Greeting::Control([number as u8; 48]).bytes();
    let unknown = Greeting::Data {
        token: Token([number as u8; 16]),
        number: 0,
        code: [number as u8; 16],
    };
    match number % 8 {
        0 => Vec::new(),
        1 => b"PTWC".to_vec(),
        2 => replay[..CONTROL - 1].to_vec(),
        3 => b"GET / HTTP/1.1\r\nHost: example\r\n\r\n".to_vec(),
        4 => wrong,
        5 => unknown.bytes(),
        6 => {
            // A frame that is longer than a first message may be.
            let mut oversized = replay.to_vec();
            oversized.extend([0xff; 2000]);
            oversized
        }
        _ => replay.to_vec(),
    }
}

/// Threads that misuse a server until they are dropped.
pub(super) struct Abuse {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

/// Connections that attackers hold at once.
pub(super) const HELD: usize = 2000;

impl Abuse {
    pub(super) fn start(at: SocketAddr, key: &Key) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let made = Arc::new(AtomicUsize::new(0));
        let replay = recorded(key);
        let (told, count) = (stop.clone(), made.clone());
        let connections = thread::spawn(move || {
            let mut held = VecDeque::new();
            while !told.load(Ordering::Relaxed) {
                let number = count.load(Ordering::Relaxed);
                if let Ok(mut stream) = TcpStream::connect(at) {
                    let _ = stream.write_all(&words(number, &replay));
                    held.push_back(stream);
                    count.fetch_add(1, Ordering::Relaxed);
                }
                if held.len() > HELD {
                    held.pop_front();
                }
                // 2,000 within two seconds, and as fast after that.
                if number % 10 == 9 {
                    thread::sleep(Duration::from_millis(8));
                }
            }
        });
        let told = stop.clone();
        let datagrams = thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
            let mut number = 0u64;
            while !told.load(Ordering::Relaxed) {
                for _ in 0..20 {
                    number += 1;
                    let mut token = [0; 16];
                    token[..8].copy_from_slice(&number.to_be_bytes());
                    let hello = Datagram::Hello(Token(token)).greeting();
                    let _ = socket.send_to(&hello, at);
                }
                thread::sleep(Duration::from_millis(4));
            }
        });
        // They hold the key: one never says anything more, one asks and never reads.
        let (told, key) = (stop.clone(), key.clone());
        let holders = thread::spawn(move || {
            let silent = Far::connect(at, &key, "silent");
            let stream = TcpStream::connect(at).expect("connect");
            let mut deaf = Channel::connect(stream, &key, 1000).expect("a channel");
            let _ = deaf.send(&hello());
            let limit = Some(Duration::from_millis(50));
            deaf.set_timeout(limit);
            while !told.load(Ordering::Relaxed) {
                if deaf.send(&Request::Facts { toward: None }).is_err() {
                    thread::sleep(Duration::from_millis(20));
                }
            }
            drop(silent);
        });
        Self {
            stop,
            made,
            threads: vec![connections, datagrams, holders],
        }
    }

    /// Waits until the attackers hold all the connections they want.
    pub(super) fn in_full(&self) {
        while self.made.load(Ordering::Relaxed) < HELD {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Abuse {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
