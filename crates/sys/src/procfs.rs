//! Readers and parsers of /proc files; the parsers accept any text.
//!
//! Files below `net` are read through `thread-self`, since network namespaces belong to threads and
//! `/proc/net` shows that of the main thread.

mod cpu;
mod info;
mod net;
mod tun;

use std::fs::File;
use std::io::{self, Read};

pub use cpu::{CoreTicks, TaskTicks, cores, task, tasks, ticks_per_second, waited_ns};
pub use info::{CpuInfo, InterruptLine, cpu_info, interrupts, memory_bytes, online_cpus};
pub use net::{Softnet, UdpSocket, counters, counters6, softnet, udp_sockets};
pub use tun::{Holder, processes, program, tun_holders, with_program};

/// Initial buffer size: most files fit, and need one read plus one for the end of file.
const FIRST: usize = 16 * 1024;
/// Maximum length; longer files are truncated.
const MAX: usize = 16 * 1024 * 1024;

/// Reads a file of /proc or /sys; bytes that are not UTF-8 are replaced. Unlike
/// `std::fs::read_to_string` it does not query the length first, which these files do not have.
///
/// # Errors
/// No such file, or it may not be read.
pub fn read(path: &str) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; FIRST];
    let mut len = 0;
    loop {
        match file.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
        if len == bytes.len() {
            if len >= MAX {
                break;
            }
            bytes.resize(len * 2, 0);
        }
    }
    bytes.truncate(len);
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Reads a file below `net` of the calling thread's network namespace, such as `snmp`.
///
/// # Errors
/// As [`read`].
pub fn read_net(name: &str) -> io::Result<String> {
    read(&format!("/proc/thread-self/net/{name}"))
}

#[cfg(test)]
mod tests;
