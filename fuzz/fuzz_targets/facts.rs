//! No text makes a parser of facts or counters panic: status documents of tunnels, WireGuard's
//! control socket, files of /proc.
#![no_main]

use std::net::IpAddr;

use libfuzzer_sys::fuzz_target;
use host::{evidence::hotspots::Symbols, facts};
use sys::procfs;

fuzz_target!(|input: ([u8; 16], u64, &str)| {
    let (address, number, text) = input;
    let toward = if number % 2 == 0 {
        IpAddr::from(address)
    } else {
        IpAddr::from([100, 64 | address[0] & 63, address[1], address[2]])
    };
    let _ = facts::parse_netbird(text, toward);
    let _ = facts::parse_tailscale(text, toward);
    let _ = facts::parse_uapi(text, number);
    let _ = (procfs::counters(text), procfs::counters6(text));
    let _ = (procfs::softnet(text), procfs::udp_sockets(text));
    let _ = (procfs::cores(text), procfs::task(text));
    let _ = (procfs::cpu_info(text), procfs::interrupts(text));
    let _ = (procfs::memory_bytes(text), procfs::online_cpus(text));
    if let Ok(Some(symbols)) = Symbols::find(&[number], text.as_bytes()) {
        let _ = symbols.at(number);
    }
});
