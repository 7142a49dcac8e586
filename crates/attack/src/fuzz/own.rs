//! Sessions of the measurement protocol.

use std::{
    io::{Read, Write},
    net::{IpAddr, TcpStream, UdpSocket},
    time::Duration,
};

use stats::Random;
use traffic::wire::{
    Greeting, Token,
    message::{Order, Request, TcpOrder, UdpOrder},
};

use super::{choice::pick, datagrams, tally::Tally};
use crate::{
    client::{Opened, Session, connect_from},
    served::Served,
    trouble::Trouble,
};

/// Timeout of replies; a start may take longer, and its client has then left.
const TIMEOUT: Duration = Duration::from_millis(400);

/// A load or service with its state on the client.
struct Load {
    order: Order,
    opened: Opened,
    connected: u16,
    is_proved: bool,
    is_started: bool,
}

impl Load {
    /// Returns true if all prerequisites of a start are ready, or it cannot be started.
    fn is_ready(&self) -> bool {
        match &self.order {
            _ if self.is_started => true,
            Order::Tcp(tcp) => self.connected >= tcp.flows,
            Order::Udp(_) | Order::Quic { .. } => self.is_proved,
            _ => true,
        }
    }
}

/// State of a client.
struct State<'a> {
    served: &'a Served,
    from: IpAddr,
    session: Session,
    loads: Vec<Load>,
    streams: Vec<TcpStream>,
    sockets: Vec<UdpSocket>,
}

/// True if the session continues.
type Goes = Result<bool, Trouble>;

/// One session, from its greeting to any end.
pub(super) fn session(served: &Served, from: IpAddr, random: &mut Random, tally: &mut Tally) {
    if random.next_u64().is_multiple_of(16) {
        stranger(served, from, random, tally);
        return;
    }
    tally.requests += 1;
    let Ok(mut session) = Session::open_from(from, served.address(), &served.key) else {
        return;
    };
    tally.admitted += 1;
    session.set_timeout(TIMEOUT);
    let mut state = State {
        served,
        from,
        session,
        loads: Vec::new(),
        streams: Vec::new(),
        sockets: Vec::new(),
    };
    for _ in 0..8 + random.next_u64() % 48 {
        match state.step(random, tally) {
            Ok(true) | Err(Trouble::Io(_)) => {}
            Err(Trouble::Refused { .. }) => tally.refused += 1,
            Ok(false) | Err(_) => break,
        }
    }
    state.read(tally);
    if random.next_u64().is_multiple_of(2) {
        tally.requests += 1;
        let _ = state.session.post(&Request::Bye);
    }
}

impl State<'_> {
    fn step(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        match random.next_u64() % 100 {
            0..20 => self.open(random, tally),
            20..32 => self.connect(random, tally),
            32..40 => self.prove(random, tally),
            40..50 => self.start(random, tally),
            50..58 => self.finish(random, tally),
            58..78 => self.datagrams(random, tally),
            78..88 => self.write(random, tally),
            88..92 => {
                self.read(tally);
                Ok(true)
            }
            92..93 => {
                self.lose(random);
                Ok(true)
            }
            _ => self.ask(random, tally),
        }
    }

    /// Several requests at once, which the server processes in order.
    fn ask(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let count = 1 + random.next_u64() % 40;
        for _ in 0..count {
            tally.requests += 1;
            let request = match random.next_u64() % 400 {
                0..300 => Request::Ping,
                300..380 => crate::client::hello(),
                380..384 => Request::Mark { hotspots: false },
                384..398 => Request::Evidence,
                398 => Request::Facts {
                    toward: Some(self.from),
                },
                // Longer than any request: ends the session.
                _ => Request::Hello {
                    program: "x".repeat(100_000),
                },
            };
            self.session.post(&request)?;
        }
        for _ in 0..count {
            match self.session.reply() {
                Err(Trouble::Refused { .. }) => tally.refused += 1,
                Err(other) => return Err(other),
                Ok(_) => {}
            }
        }
        Ok(true)
    }

    fn open(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        tally.requests += 1;
        let order = order(random);
        let opened = self.session.open(order.clone())?;
        tally.opened += 1;
        self.loads.push(Load {
            order,
            opened,
            connected: 0,
            is_proved: false,
            is_started: false,
        });
        Ok(true)
    }

    fn connect(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let Some(load) = pick_mut(random, &mut self.loads) else {
            return Ok(true);
        };
        // Mostly as many as a load needs.
        let wanted = match &load.order {
            Order::Tcp(tcp) if !random.next_u64().is_multiple_of(8) => tcp.flows.min(16),
            _ => 1,
        };
        for _ in 0..wanted {
            tally.connections += 1;
            if random.next_u64().is_multiple_of(40) {
                // A used number, and one far beyond.
                let number = pick(random, &[0, 1, 5000, u32::MAX]).copied().unwrap_or(0);
                let mut stream = connect_from(self.from, self.served.address())?;
                stream.write_all(&self.session.greeting(&load.opened, number))?;
            } else {
                self.streams.push(self.session.stream(&load.opened)?);
                load.connected = load.connected.saturating_add(1);
            }
        }
        Ok(true)
    }

    fn prove(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let Some(load) = pick_mut(random, &mut self.loads) else {
            return Ok(true);
        };
        let place = (self.from, self.served);
        let socket = datagrams::prove(&self.session, &load.opened, place, tally)?;
        load.is_proved |= socket.is_some();
        self.sockets.extend(socket);
        Ok(true)
    }

    fn start(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let ready = |load: &&mut Load| load.is_ready() && !load.is_started;
        let chosen = if !random.next_u64().is_multiple_of(4) {
            self.loads.iter_mut().find(ready)
        } else {
            pick_mut(random, &mut self.loads)
        };
        let Some(load) = chosen else { return Ok(true) };
        // The server waits 10 s for missing connections: a few such cases are enough.
        if !load.is_ready() && !random.next_u64().is_multiple_of(64) {
            return Ok(true);
        }
        tally.requests += 1;
        self.session.start(&load.opened)?;
        load.is_started = true;
        tally.started += 1;
        Ok(true)
    }

    fn finish(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        if self.loads.is_empty() {
            return Ok(true);
        }
        tally.requests += 1;
        let at = (random.next_u64() % self.loads.len() as u64) as usize;
        self.session.finish(&self.loads[at].opened)?;
        // A finished load is occasionally used again.
        if !random.next_u64().is_multiple_of(8) {
            self.loads.swap_remove(at);
        }
        Ok(true)
    }

    fn datagrams(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let Some(socket) = pick(random, &self.sockets) else {
            return Ok(true);
        };
        let before = tally.datagrams;
        let count = random.next_u64() % 60;
        while tally.datagrams - before < count {
            tally.datagrams += 1;
            let _ = socket.send(&datagrams::any(random));
        }
        Ok(true)
    }

    fn write(&mut self, random: &mut Random, tally: &mut Tally) -> Goes {
        let Some(mut stream) = pick(random, &self.streams) else {
            return Ok(true);
        };
        tally.written += 1;
        stream.set_write_timeout(Some(Duration::from_millis(20)))?;
        let bytes: &[u8] = match random.next_u64() % 6 {
            0 => b"GET / HTTP/1.1\r\nHost: pathtwin\r\nConnection: close\r\n\r\n",
            1..4 => b"GET / HTTP/1.1\r\nHost: pathtwin\r\n\r\n",
            4 => b"POST /x HTTP/1.0\n\n",
            _ => &[0; 20_000],
        };
        let end = random
            .next_u64()
            .is_multiple_of(8)
            .then_some(bytes.len() / 2);
        stream.write_all(&bytes[..end.unwrap_or(bytes.len())])?;
        Ok(true)
    }

    /// Reads available data.
    fn read(&mut self, tally: &mut Tally) {
        let mut buffer = vec![0; 1 << 16];
        for mut stream in &self.streams {
            let _ = stream.set_nonblocking(true);
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                tally.received += n as u64;
            }
            let _ = stream.set_nonblocking(false);
        }
        for socket in &self.sockets {
            let _ = socket.set_nonblocking(true);
            while let Ok(n) = socket.recv(&mut buffer) {
                tally.received += n as u64;
            }
            let _ = socket.set_nonblocking(false);
        }
    }

    fn lose(&mut self, random: &mut Random) {
        if random.next_u64().is_multiple_of(2) {
            self.streams.pop();
        } else {
            self.sockets.pop();
        }
    }
}

/// One of several items, mutable.
fn pick_mut<'a>(random: &mut Random, all: &'a mut [Load]) -> Option<&'a mut Load> {
    let at = random.next_u64().checked_rem(all.len() as u64)?;
    all.get_mut(at as usize)
}

/// Any order, mostly a valid one.
fn order(random: &mut Random) -> Order {
    let odd = random.next_u64().is_multiple_of(12);
    let mut amount = |most: u64| {
        if odd && random.next_u64().is_multiple_of(3) {
            pick(random, &[0, u64::MAX, 1 << 31]).copied().unwrap_or(0)
        } else {
            1 + random.next_u64() % most
        }
    };
    let (kind, send) = (amount(12), amount(2) == 1);
    let (duration_us, sample_us) = (amount(500_000), amount(50_000));
    match kind {
        0..4 => Order::Tcp(TcpOrder {
            send,
            flows: amount(8) as u16,
            cc: (amount(3) == 1).then(|| "cubic".to_owned()),
            duration_us,
            sample_us,
        }),
        4..7 => Order::Udp(UdpOrder {
            send,
            rate_bps: amount(5_000_000),
            payload: amount(3000).saturating_add(16) as u32,
            duration_us,
        }),
        7 | 8 => Order::Echo,
        9 => Order::Short {
            bytes: amount(50_000),
        },
        10 | 11 => Order::Http {
            bytes: amount(50_000),
        },
        _ => Order::Quic {
            send,
            duration_us,
            sample_us,
        },
    }
}

/// A client without the key: any greeting, then silence or bytes.
fn stranger(served: &Served, from: IpAddr, random: &mut Random, tally: &mut Tally) {
    for _ in 0..4 {
        tally.connections += 1;
        let Ok(mut stream) = connect_from(from, served.address()) else {
            return;
        };
        let mut token = [0; 16];
        token[..8].copy_from_slice(&random.next_u64().to_be_bytes());
        let mut bytes = match random.next_u64() % 3 {
            0 => Greeting::Control([random.next_u64() as u8; 48]).bytes(),
            1 => Greeting::Data {
                token: Token(token),
                number: random.next_u64() as u32,
                code: token,
            }
            .bytes(),
            _ => (0..random.next_u64() % 80)
                .map(|_| random.next_u64() as u8)
                .collect(),
        };
        bytes.truncate((random.next_u64() % 90) as usize);
        let _ = stream.write_all(&bytes);
        let _ = stream.set_nonblocking(true);
        let _ = stream.read(&mut [0; 64]);
    }
    datagrams::strange(served, from, random, tally);
}
