//! Place of a queue on the path: notes about queues that do nothing there, or harm a tunnel.

use model::{
    change::{Fq, Htb, Queue, Setting},
    remedy::Discipline,
    text,
    text::Text,
};
use sys::{Netlink, link};

use crate::error::HostError;

/// Packets of one flow that fq holds by default (net/sched/sch_fq.c: `fq_init`, Linux 6.18).
const FLOW_LIMIT: u32 = 100;

/// `ARPHRD_NONE` (include/uapi/linux/if_arp.h): of the devices of kind `tun`, those of IP packets.
const NO_HARDWARE: u16 = 65534;

/// Names of the tunnels of other programs that are up, without the device itself. The kernel does
/// not know over which device their programs send.
pub(super) fn tunnels(nl: &mut Netlink, device: u32) -> Result<Vec<String>, HostError> {
    let mut all = link::list(nl)?;
    all.retain(|link| {
        let is_tunnel = link.kind.as_deref() == Some("tun") && link.hardware == NO_HARDWARE;
        is_tunnel && link.up && link.index != device
    });
    Ok(all.into_iter().map(|link| link.name).collect())
}

/// Notes about the queue of a device on a host with these tunnels.
pub(super) fn notes(
    setting: &Setting,
    device: &str,
    queue: &Queue,
    tunnels: &[String],
) -> Vec<Text> {
    let mut all = Vec::new();
    // The purpose of fq at a sender is pacing, and of the others a limit.
    if matches!(queue, Queue::FqCodel(_) | Queue::Cake(_)) && queue.rate_bps().is_none() {
        all.push(text!(
            "{setting}: without a rate it acts only where {device} is the slowest link, since no \
             queue forms before a slower one; `--shape {device}=RATE` moves the queue here",
            setting = setting,
            device = device
        ));
    }
    let tunnel = tunnels.first();
    if let (Some(limit), Some(tunnel)) = (flow_limit(queue), tunnel) {
        all.push(text!(
            "{setting}: if the program of the tunnel {tunnel} sends over it, all of the tunnel is \
             one UDP flow, of which fq drops what exceeds {limit} packets; use fq_codel, or a \
             larger flow_limit",
            setting = setting,
            tunnel = tunnel,
            limit = limit
        ));
    }
    all
}

/// The limit of a flow of fq, if that is not larger than the default.
fn flow_limit(queue: &Queue) -> Option<u32> {
    let limit = match queue {
        Queue::Fq(Fq {
            flow_limit_packets, ..
        }) => flow_limit_packets.unwrap_or(FLOW_LIMIT),
        Queue::Htb(Htb {
            queue: Discipline::Fq,
            ..
        }) => FLOW_LIMIT,
        _ => return None,
    };
    (limit <= FLOW_LIMIT).then_some(limit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn all(setting: &Setting, tunnels: &[&str]) -> Vec<String> {
        let Setting::Queue { device, queue } = setting else {
            panic!("{setting}");
        };
        let tunnels: Vec<String> = tunnels.iter().map(|name| (*name).to_owned()).collect();
        let notes = notes(setting, device, queue, &tunnels);
        notes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_queue_without_a_rate_acts_only_at_the_slowest_link() {
        for text in ["wan=fq_codel", "wan=cake rtt=50ms"] {
            let found = all(&Setting::parse_queue(text).unwrap(), &["tun0"]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("`--shape wan=RATE`"), "{found:?}");
        }
        for text in ["wan=cake bandwidth=9mbit", "wan=pfifo", "wan=fq"] {
            let found = all(&Setting::parse_queue(text).unwrap(), &[]);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    #[test]
    fn fq_drops_packets_of_a_tunnel_that_is_one_flow() {
        let shaped = Setting::parse_shape("wan=9mbit fq").unwrap();
        let limited = Setting::parse_queue("wan=fq flow_limit=50").unwrap();
        for (setting, limit) in [
            (
                Setting::parse_queue("wan=fq").unwrap(),
                "exceeds 100 packets",
            ),
            (limited, "exceeds 50 packets"),
            (shaped, "exceeds 100 packets"),
        ] {
            let found = all(&setting, &["tun0"]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("tunnel tun0"), "{found:?}");
            assert!(found[0].contains(limit), "{found:?}");
            assert!(all(&setting, &[]).is_empty());
        }
        let larger = Setting::parse_queue("wan=fq flow_limit=1000").unwrap();
        assert!(all(&larger, &["tun0"]).is_empty());
    }
}
