//! How the far end was named when it was measured.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::remedy::shell;

/// Begins the name of a far end that has only iperf3.
const IPERF3: &str = "iperf3://";

/// Arguments of `pathtwin measure` that name the far end. The key is not one of them: it is
/// remembered by host and port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// HOST, HOST:PORT or a URL with the protocol, as it was written.
    pub host: String,
    /// The option `--port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Addresses inside tunnels, reached or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<IpAddr>,
    /// True if the far end needs no key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

impl Asked {
    /// The command that measures the same far end, for a POSIX shell.
    pub fn command(&self) -> String {
        let mut command = format!("pathtwin measure {}", shell::host(&self.host));
        if let Some(port) = self.port {
            command += &format!(" --port {port}");
        }
        for address in &self.via {
            command += &format!(" --via {address}");
        }
        if self.open {
            command += " --open";
        }
        command
    }

    /// The command that serves it on the far host, for a POSIX shell.
    pub fn serve(&self) -> String {
        let port = self.named_port();
        match (self.host.starts_with(IPERF3), port) {
            (true, None) => "iperf3 -s".to_owned(),
            (true, Some(port)) => format!("iperf3 -s -p {port}"),
            (false, None) => "pathtwin serve".to_owned(),
            (false, Some(port)) => format!("pathtwin serve --port {port}"),
        }
    }

    /// True if the far end takes a key.
    pub fn takes_key(&self) -> bool {
        !self.open && !self.host.starts_with(IPERF3)
    }

    /// The port in the host's name, else that of the option.
    fn named_port(&self) -> Option<u16> {
        let name = self.host.trim_end_matches('/');
        let (host, port) = name.rsplit_once(':').unwrap_or((name, ""));
        let host = host.strip_prefix(IPERF3).unwrap_or(host);
        // An IPv6 address has more colons, and brackets if a port follows.
        let is_port = !host.contains(':') || host.ends_with(']');
        let named = is_port.then(|| port.parse().ok()).flatten();
        named.or(self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, port: Option<u16>) -> Asked {
        Asked {
            host: host.to_owned(),
            port,
            ..Asked::default()
        }
    }

    /// Bug: the command to measure again had the address alone, without port and protocol, so that
    /// nothing answered it, or no key was known.
    #[test]
    fn the_far_end_is_named_as_it_was_with_its_port_protocol_and_tunnel() {
        for (host, port, command, serve) in [
            ("vpn.example", None, "vpn.example", "pathtwin serve"),
            ("h:5302", None, "h:5302", "pathtwin serve --port 5302"),
            (
                "h",
                Some(5302),
                "h --port 5302",
                "pathtwin serve --port 5302",
            ),
            ("[::1]:7", None, "'[::1]:7'", "pathtwin serve --port 7"),
            ("::1", None, "::1", "pathtwin serve"),
            ("iperf3://h", None, "iperf3://h", "iperf3 -s"),
            (
                "iperf3://h:5202/",
                None,
                "iperf3://h:5202/",
                "iperf3 -s -p 5202",
            ),
        ] {
            let asked = asked(host, port);
            assert_eq!(asked.command(), format!("pathtwin measure {command}"));
            assert_eq!(asked.serve(), serve, "{host}");
        }
        let tunnel = Asked {
            via: vec!["100.64.0.7".parse().unwrap(), "fd7a::7".parse().unwrap()],
            open: true,
            ..asked("h:5302", None)
        };
        let command = "pathtwin measure h:5302 --via 100.64.0.7 --via fd7a::7 --open";
        assert_eq!(tunnel.command(), command);
    }

    #[test]
    fn a_far_end_of_a_foreign_document_stays_one_word() {
        for host in ["-rf", "a\nb", ""] {
            assert_eq!(asked(host, None).command(), "pathtwin measure '<host>'");
        }
        let command = asked("a;$(id)", None).command();
        assert_eq!(command, "pathtwin measure 'a;$(id)'");
    }
}
