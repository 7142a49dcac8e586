//! A separate `pathtwin serve` on loopback.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// A running server; killed when dropped.
pub struct Server {
    pub child: Child,
    pub address: SocketAddr,
    /// Its output until it was ready.
    pub message: String,
}

impl Server {
    /// Starts a program that is `pathtwin serve` with these arguments, on a port of the kernel's
    /// choice at 127.0.0.1 by default, and waits until it serves. Later output is passed on.
    pub fn start(mut program: Command, key: &Path, arguments: &[&str]) -> Self {
        let mut child = program
            .args(["serve", "--port", "0", "--key"])
            .arg(key)
            .args(["--listen", "127.0.0.1"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut err = BufReader::new(child.stderr.take().expect("its stderr"));
        let (mut message, mut address) = (String::new(), None);
        // The last line before it serves is about the key.
        while !message.contains("on the other host:") {
            let mut line = String::new();
            let n = err.read_line(&mut line).expect("read what it says");
            assert!(n > 0, "it ended: {message}");
            if let Some(rest) = line.strip_prefix("pathtwin: serving on ") {
                let place = rest.split_whitespace().next().expect("an address");
                address = Some(place.parse().expect("an address"));
            }
            message += &line;
        }
        thread::spawn(move || std::io::copy(&mut err, &mut std::io::stderr()));
        Self {
            child,
            address: address.expect("an address"),
            message,
        }
    }

    /// A number of a line of /proc/PID/status, such as `VmHWM` in kB.
    pub fn status(&self, key: &str) -> String {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("read its status");
        let line = status.lines().find_map(|l| l.strip_prefix(key));
        let line = line.expect("the line").trim_start_matches(':');
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A size of /proc/PID/status, KiB.
    pub fn kib(&self, key: &str) -> u64 {
        let line = self.status(key);
        let number = line.split_whitespace().next();
        number.and_then(|n| n.parse().ok()).expect("a size")
    }

    /// Returns the number of its open descriptors.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
