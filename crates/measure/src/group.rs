//! Groups of probes on each layer: the delay of a path without load, outside of any Run.

use std::{net::SocketAddr, time::Duration};

use model::net::{IpVersion, Layer};
use sys::clock::Instant;
use traffic::{load::probe::Probing, wire::Key};

use crate::{
    far::{self, Action, Far, FarError, load::Echo},
    run::Target,
};

/// Result of the probes of one layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The layer.
    pub layer: Layer,
    /// The address family.
    pub family: IpVersion,
    /// Round trips of the answered probes, without the time at the far end, ns.
    pub rtt_ns: Vec<u64>,
    /// Number of unanswered probes.
    pub lost: u64,
}

/// Sends `count` probes on each layer at the interval `every`, in one session.
///
/// # Errors
/// There is no session with the far end. If no datagram is answered on a layer, all its probes
/// count as lost.
pub fn probes(
    control: SocketAddr,
    (key, program): (&Key, &str),
    targets: &[Target],
    (count, every): (u32, Duration),
) -> Result<Vec<Group>, FarError> {
    let mut far = Far::connect(control, key, program)?;
    let mut groups = Vec::new();
    for target in targets {
        let address = SocketAddr::new(target.far, control.port());
        let echo = far.open(&Echo)?;
        let found = match far::datagrams(*echo, address) {
            Ok(socket) => {
                let probing =
                    Probing::start(socket, every).map_err(Action::Probe.failed(address))?;
                // The last probe is sent within the span, but no further one.
                let span = every.saturating_mul(count).saturating_sub(every / 2);
                Instant::now().after(span).wait();
                probing.finish().iter().map(|probe| probe.rtt_ns).collect()
            }
            Err(FarError::Silent { .. }) => vec![None; count as usize],
            Err(error) => return Err(error),
        };
        far.finish(echo)?;
        let rtt_ns: Vec<u64> = found.iter().copied().flatten().collect();
        groups.push(Group {
            layer: target.layer,
            family: target.family(),
            lost: (found.len() - rtt_ns.len()) as u64,
            rtt_ns,
        });
    }
    far.bye();
    Ok(groups)
}
