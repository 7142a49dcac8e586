//! Processors that programs of one host share without knowing of each other.

use std::{
    io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

/// Most claims of one processor; beyond these, it is chosen by the number of the process.
const MOST: usize = 64;

/// A claim of a processor, which others avoid until it is dropped, or its process ends in any way.
///
/// It is an abstract socket address (unix(7)), which only one process of a network namespace can
/// bind: no file is left behind, and users need no common folder. It restricts nobody.
#[derive(Debug)]
pub struct Claim {
    cpu: usize,
    _socket: Option<UnixDatagram>,
}

impl Claim {
    /// Claims one of the processors that this process may run on: one with the fewest claims.
    /// `None` if the kernel does not report them.
    pub fn any() -> Option<Self> {
        let cpus = crate::sched::allowed_cpus().ok()?;
        Self::among(&cpus, "pathtwin/processor")
    }

    /// Number of the processor.
    pub fn cpu(&self) -> usize {
        self.cpu
    }

    /// Claims one of `cpus`, the last of those with the fewest claims of this name.
    fn among(cpus: &[usize], name: &str) -> Option<Self> {
        for rank in 0..MOST {
            for &cpu in cpus.iter().rev() {
                match bind(&format!("{name}/{cpu}/{rank}")) {
                    Ok(socket) => {
                        return Some(Self {
                            cpu,
                            _socket: Some(socket),
                        });
                    }
                    Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                    Err(_) => return unclaimed(cpus),
                }
            }
        }
        unclaimed(cpus)
    }
}

fn bind(name: &str) -> io::Result<UnixDatagram> {
    UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// A processor where claims are impossible, such as in a sandbox without Unix sockets.
fn unclaimed(cpus: &[usize]) -> Option<Claim> {
    let at = std::process::id() as usize % cpus.len().max(1);
    cpus.get(at).map(|&cpu| Claim { cpu, _socket: None })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Claim;

    fn name(test: &str) -> String {
        format!("pathtwin/test/{}/{test}", std::process::id())
    }

    #[test]
    fn claims_are_spread_evenly_over_the_processors() {
        let name = name("spread");
        let claims: Vec<_> = (0..6)
            .filter_map(|_| Claim::among(&[2, 5, 7], &name))
            .collect();
        let mut cpus: Vec<_> = claims.iter().map(Claim::cpu).collect();
        assert_eq!(cpus[..3], [7, 5, 2]);
        cpus.sort_unstable();
        assert_eq!(cpus, [2, 2, 5, 5, 7, 7]);
    }

    #[test]
    fn a_processor_is_free_again_when_its_claim_is_dropped() {
        let name = name("dropped");
        let first = Claim::among(&[0, 1], &name).unwrap();
        let second = Claim::among(&[0, 1], &name).unwrap();
        assert_eq!((first.cpu(), second.cpu()), (1, 0));
        drop(second);
        assert_eq!(Claim::among(&[0, 1], &name).unwrap().cpu(), 0);
    }

    #[test]
    fn without_processors_there_is_no_claim() {
        assert!(Claim::among(&[], &name("none")).is_none());
    }

    /// Every guest of two programs that ran at once was on the last processor.
    #[test]
    fn two_processes_do_not_claim_the_same_processor() {
        let name = name("processes");
        let own = Claim::among(&[0, 1], &name).unwrap();
        // Another process that holds the first place of the other processor.
        let address = format!("{name}/0/0");
        let script = format!(
            "import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); \
             s.bind('\\0{address}'); print(flush=True); input()"
        );
        let mut child = std::process::Command::new("python3")
            .args(["-c", &script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        let third = Claim::among(&[0, 1], &name).unwrap();
        assert_eq!((own.cpu(), third.cpu()), (1, 1), "one claim each so far");
        let fourth = Claim::among(&[0, 1], &name).unwrap();
        assert_eq!(fourth.cpu(), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
