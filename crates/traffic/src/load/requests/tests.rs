#![allow(clippy::unwrap_used)]

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use sys::clock::Instant;

use super::{
    RequestClient, RequestServer, client,
    server::{Config, Service},
};
use crate::{
    admission::Lease,
    wire::http::{LONGEST, REQUEST},
};

const TIMEOUT: Duration = Duration::from_millis(200);

fn config(service: Service, bytes: u64) -> Config {
    Config {
        service,
        upload: 0,
        bytes,
        connections: 2,
        timeout: TIMEOUT,
        lease: Lease::own(Duration::MAX, None, None),
    }
}

/// A service on a separate port: like the server's, without its gate.
struct Served {
    server: Arc<RequestServer>,
    address: std::net::SocketAddr,
    bytes: u64,
}

impl Served {
    fn start(config: Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bytes = config.bytes;
        let server = Arc::new(RequestServer::new(config));
        let taking = server.clone();
        // Ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming() {
                taking.take(stream.unwrap());
            }
        });
        Self {
            server,
            address,
            bytes,
        }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    fn requests(&self) -> client::Config {
        client::Config {
            start: Instant::now(),
            upload: 0,
            bytes: self.bytes,
            timeout: Duration::from_secs(10),
            most_bytes: Some(self.bytes * 20),
            most_requests: client::MAX,
            batch: None,
        }
    }
}

fn ended(stream: &mut TcpStream) -> (usize, bool) {
    let mut all = Vec::new();
    let result = stream.read_to_end(&mut all);
    (all.len(), result.is_ok())
}

fn finish(client: RequestClient) -> client::Requests {
    // Twenty requests are allowed, and then it ends.
    while client.so_far().exchanges.len() < 20 && client.so_far().failed == 0 {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    client.finish(Duration::from_secs(10))
}

#[test]
fn every_short_request_gets_its_bytes() {
    for bytes in [1, 1000, 300_000] {
        let served = Served::start(config(Service::Short, bytes));
        let address = served.address;
        let connect = Box::new(move || TcpStream::connect(address));
        let answered =
            finish(RequestClient::short(connect, |_| Vec::new(), served.requests()).unwrap());
        assert_eq!(
            (answered.exchanges.len(), answered.failed),
            (20, 0),
            "{:?}",
            answered.error
        );
        for exchange in answered.exchanges {
            let connected = exchange.connect_ns.unwrap();
            assert!(connected <= exchange.first_byte_ns);
            assert!(exchange.first_byte_ns <= exchange.complete_ns);
        }
        // The client has a byte before the server has counted it.
        served.server.finish();
        assert_eq!(served.server.bytes(), 20 * bytes);
    }
}

#[test]
fn http_requests_share_a_connection() {
    for bytes in [0, 1, 1000, 300_000] {
        let served = Served::start(config(Service::Http, bytes));
        let config = client::Config {
            most_bytes: Some(bytes.max(1) * 20),
            ..served.requests()
        };
        let answered = finish(RequestClient::http(served.connect(), config).unwrap());
        assert_eq!(
            (answered.exchanges.len(), answered.failed),
            (20, 0),
            "{:?}",
            answered.error
        );
        assert!(answered.exchanges.iter().all(|e| e.connect_ns.is_none()));
        // The client has a byte before the server has counted it.
        served.server.finish();
        assert_eq!(served.server.bytes(), 20 * bytes);
    }
}

#[test]
fn concurrent_requests_are_answered_in_order() {
    let served = Served::start(config(Service::Http, 5));
    let mut stream = served.connect();
    let last = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    stream
        .write_all(&[REQUEST, REQUEST, last].concat())
        .unwrap();
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{text}");
    assert!(text.ends_with("\r\n\r\n\0\0\0\0\0"), "{text}");
    served.server.finish();
}

#[test]
fn an_endless_head_is_cut_off() {
    let served = Served::start(config(Service::Http, 5));
    let mut stream = served.connect();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n").unwrap();
    let mut written = 0;
    // The far end stops reading soon after the limit, and then reports it or closes.
    while written < 64 << 20 && stream.write_all(&[b'x'; 1024]).is_ok() {
        written += 1024;
    }
    assert!((LONGEST / 2..64 << 20).contains(&written), "{written}");
    assert_eq!(served.server.bytes(), 0);
    served.server.finish();
}

#[test]
fn a_head_that_comes_byte_by_byte_is_cut_off() {
    let served = Served::start(config(Service::Http, 5));
    let mut stream = served.connect();
    let began = Instant::now();
    // A byte each 20 ms: no pause is long, but the whole would take almost a second.
    for byte in REQUEST {
        if stream.write_all(&[*byte]).is_err() {
            break;
        }
        Instant::now().after(TIMEOUT / 10).wait();
    }
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(
        bytes.is_empty(),
        "answered after {} ns",
        Instant::now().since(began)
    );
    served.server.finish();
}

#[test]
fn a_client_without_requests_is_disconnected() {
    let served = Served::start(config(Service::Http, 5));
    let (bytes, _) = ended(&mut served.connect());
    assert_eq!(bytes, 0);
    served.server.finish();
}

#[test]
fn one_that_never_reads_is_cut_off() {
    // Far more than the kernel's buffers of both ends hold.
    for service in [Service::Short, Service::Http] {
        let served = Served::start(config(service, 1 << 30));
        let mut stream = served.connect();
        stream.write_all(REQUEST).unwrap();
        // While it does not read, the serving thread abandons it.
        while served.server.active() == 0 {
            Instant::now().after(Duration::from_millis(1)).wait();
        }
        while served.server.active() > 0 {
            Instant::now().after(Duration::from_millis(1)).wait();
        }
        let (bytes, whole) = ended(&mut stream);
        assert!(bytes < 1 << 30 && !whole, "{service:?}: {bytes} bytes");
        served.server.finish();
    }
}

#[test]
fn connections_beyond_those_agreed_on_are_closed() {
    let served = Served::start(Config {
        timeout: Duration::from_secs(60),
        ..config(Service::Http, 5)
    });
    let _held: Vec<_> = (0..3).map(|_| served.connect()).collect();
    assert_eq!(ended(&mut served.connect()), (0, true));
    assert!(served.server.threads() <= 2);
    served.server.finish();
}

#[test]
fn no_more_than_the_bytes_agreed_on_are_given() {
    let served = Served::start(Config {
        lease: Lease::own(Duration::MAX, Some(2500), None),
        ..config(Service::Short, 1000)
    });
    let got: Vec<usize> = (0..4).map(|_| ended(&mut served.connect()).0).collect();
    assert_eq!(got, [1000, 1000, 0, 0]);
    served.server.finish();
}

#[test]
fn a_request_that_uploads_is_answered_when_all_of_it_has_come() {
    const UPLOAD: u64 = 3_000_000;
    let served = Served::start(Config {
        upload: 4 + UPLOAD,
        ..config(Service::Short, 1)
    });
    let address = served.address;
    let connect = Box::new(move || TcpStream::connect(address));
    let config = client::Config {
        upload: UPLOAD,
        most_requests: 3,
        most_bytes: None,
        ..served.requests()
    };
    let client = RequestClient::short(connect, |_| vec![0; 4], config).unwrap();
    while client.so_far().exchanges.len() < 3 && client.so_far().failed == 0 {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    let answered = client.finish(Duration::ZERO);
    assert_eq!((answered.exchanges.len(), answered.failed), (3, 0));
    served.server.finish();
    assert_eq!(served.server.bytes(), 3);
}

#[test]
fn batches_begin_at_their_times_and_end_when_stopped() {
    const EVERY: Duration = Duration::from_millis(100);
    let served = Served::start(config(Service::Short, 1));
    let address = served.address;
    let connect = Box::new(move || TcpStream::connect(address));
    let start = Instant::now();
    let config = client::Config {
        start,
        batch: Some(client::Batch {
            requests: 2,
            every: EVERY,
        }),
        most_bytes: None,
        ..served.requests()
    };
    let client = RequestClient::short(connect, |_| vec![0; 4], config).unwrap();
    while client.so_far().exchanges.len() < 5 && client.so_far().failed == 0 {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    let answered = client.finish(Duration::ZERO);
    let began: Vec<i64> = answered
        .exchanges
        .iter()
        .map(|e| e.began.since(start))
        .collect();
    for (number, began) in began.iter().enumerate() {
        let due = EVERY.as_nanos() as i64 * (number as i64 / 2);
        assert!(*began >= due, "request {number} at {began} ns");
    }
    served.server.finish();
}

/// An upload that the end of a cell cut off counted as answered, and as a quick one.
#[test]
fn an_upload_that_is_cut_off_is_not_answered() {
    let served = Served::start(Config {
        upload: u64::MAX,
        timeout: Duration::from_secs(10),
        ..config(Service::Short, 1)
    });
    let address = served.address;
    let connect = Box::new(move || TcpStream::connect(address));
    let config = client::Config {
        upload: u64::MAX,
        most_bytes: None,
        ..served.requests()
    };
    let client = RequestClient::short(connect, |_| vec![0; 4], config).unwrap();
    while served.server.active() == 0 {
        Instant::now().after(Duration::from_millis(1)).wait();
    }
    client.stop();
    assert!(client.is_stopped());
    let requests = client.finish(Duration::ZERO);
    assert_eq!(requests.exchanges, []);
    served.server.finish();
}
