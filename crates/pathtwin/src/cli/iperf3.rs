//! The command line of `pathtwin iperf3`.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, Subcommand};

use iperf3::{
    arguments::{listen, rate, size, time},
    request::Request,
};
use model::net::LoadDirection;

use super::Format;

/// Measure with iperf3 servers, or serve iperf3 clients
#[derive(Debug, Subcommand)]
pub(crate) enum Iperf3 {
    /// Measure with an iperf3 server
    Client(Client),
    /// Serve iperf3 clients
    Server(Server),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin iperf3 client server.example -R -C bbr
  pathtwin iperf3 client [2001:db8::1]:5201 --bidir -P 4 -t 30 --output json
  pathtwin iperf3 client server.example -u -b 50mbit

Rates and sizes are written as in specs (50mbit, 4MiB) or as for iperf3 (50M,
4M).

Exit codes: 0 success, 1 the sample is not valid (another congestion control was
used), 2 usage error, 3 this host lacks something, 4 the test failed.")]
pub(crate) struct Client {
    /// The server: HOST or HOST:PORT (an IPv6 address with a port in brackets), with or without
    /// iperf3:// before it
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) test: Test,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pathtwin iperf3 server
  pathtwin iperf3 server --listen 192.0.2.1:7000 --max-time 60s --output jsonl

One test runs at a time; other clients get the answer that the server is busy.
Anyone who can reach the port may use it.

Exit codes: 0 success, 1 the test of --once failed, 2 usage error, 4 the port
cannot be used.")]
pub(crate) struct Server {
    /// Address to listen on: ADDRESS, ADDRESS:PORT or :PORT; default: every address, port 5201
    #[arg(long, value_name = "ADDRESS", default_value = ":5201", value_parser = listen)]
    pub(crate) listen: SocketAddr,
    /// Time limit of a test
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = time)]
    pub(crate) max_time: Duration,
    /// Limit of streams in each direction
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(crate) max_streams: u32,
    /// Exit after one test
    #[arg(long)]
    pub(crate) once: bool,
    /// Output format of each test
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// The test to do.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Use UDP
    #[arg(short, long)]
    pub(crate) udp: bool,
    /// The server sends (download)
    #[arg(short = 'R', long)]
    pub(crate) reverse: bool,
    /// Both send (bidirectional)
    #[arg(long, conflicts_with = "reverse")]
    pub(crate) bidir: bool,
    /// Streams in each direction
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(crate) parallel: u32,
    /// Congestion control of the sender
    #[arg(short = 'C', long, value_name = "NAME", conflicts_with = "udp")]
    pub(crate) congestion: Option<String>,
    /// Duration; default: 10s
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    pub(crate) time: Option<Duration>,
    /// Seconds at the start of the test that are not counted
    #[arg(short = 'O', long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=600))]
    pub(crate) omit: u32,
    /// Send this much in each direction instead of for a time
    #[arg(short = 'n', long, value_name = "SIZE", conflicts_with = "time", value_parser = size)]
    pub(crate) bytes: Option<u64>,
    /// Rate of each stream, 0 = unlimited; default: unlimited, with --udp 1mbit
    #[arg(short, long, value_name = "RATE", value_parser = rate)]
    pub(crate) bitrate: Option<u64>,
    /// Bytes of a write, or of a datagram; default: 128 KiB, or the payload of a segment
    #[arg(short, long, value_name = "SIZE", value_parser = size)]
    pub(crate) length: Option<u64>,
    /// Send small writes immediately (TCP_NODELAY)
    #[arg(short = 'N', long)]
    pub(crate) no_delay: bool,
}

impl Test {
    /// Returns true if one test was requested, by any of its options.
    pub(crate) fn is_requested(&self) -> bool {
        let Self {
            udp,
            reverse,
            bidir,
            parallel,
            congestion,
            time,
            omit,
            bytes,
            bitrate,
            length,
            no_delay,
        } = self;
        let switches = *udp || *reverse || *bidir || *no_delay;
        let numbers = *parallel != 1 || *omit != 0;
        let amounts = bytes.or(*bitrate).or(*length).is_some() || time.is_some();
        switches || numbers || amounts || congestion.is_some()
    }

    /// The test that was requested.
    pub(crate) fn request(&self) -> Request {
        Request {
            udp: self.udp,
            direction: match (self.reverse, self.bidir) {
                (true, _) => LoadDirection::Down,
                (_, true) => LoadDirection::Both,
                _ => LoadDirection::Up,
            },
            parallel: self.parallel,
            congestion: self.congestion.clone(),
            time: self.time,
            omit_s: self.omit,
            bytes: self.bytes,
            rate_bps: self.bitrate,
            len: self.length,
            nodelay: self.no_delay,
        }
    }
}
