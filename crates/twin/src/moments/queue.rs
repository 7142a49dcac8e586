//! Possible queues of a bottleneck, from the delay that a load adds for others and for itself.

use analysis::view::Rises;
use model::cell::Queue;

use crate::policing::Dropper;

/// Bytes of a full packet with its Ethernet header.
pub(super) const FULL_PACKET: f64 = 1514.0;

/// If TCP adds less than this share of the delay of a flood of UDP, queue management limits it.
const MANAGED: f64 = 0.6;
/// If a small overload adds less than this share of the delay of a large one, its delay is
/// controlled.
const CONTROLLED: f64 = 0.3;
/// If TCP delays others by less than this share of its own delay, they have queues of their own.
const ISOLATED: f64 = 0.5;
/// Increase of TCP's own round trip that trains of packets explain, µs.
pub(super) const TRAINS_US: f64 = 1_000.0;

/// Returns the delay of the full queue, µs, if there is evidence of it.
pub(super) fn full_us(rises: &Rises) -> Option<f64> {
    let [of_medians, of_tails] = rises.chance_us;
    let mild = rises.overload_us.map(|[mild, _]| mild);
    let mild = mild.filter(|us| *us > of_medians);
    let loaded = rises.loaded_us.filter(|us| *us > of_tails);
    mild.into_iter().chain(loaded).reduce(f64::max)
}

/// The queues that could be, the likeliest first.
pub(super) fn queues(rises: &Rises, named: Dropper) -> Vec<Queue> {
    let Some([mild, great]) = rises.overload_us else {
        return without_overload(rises, named);
    };
    // The largest overload may be short; the smallest lasts longest.
    if great.max(mild) <= rises.chance_us[0] {
        return match rises.own_us {
            Some(own) if own > own_by_chance_us(rises) => vec![Queue::FqCodel, Queue::Cake],
            Some(_) => vec![Queue::Policer, Queue::FqCodel],
            None => vec![Queue::Policer, Queue::FqCodel, Queue::Cake],
        };
    }
    if mild < CONTROLLED * great {
        return vec![Queue::Pie, Queue::Codel];
    }
    match rises.loaded_us {
        Some(loaded) if loaded >= MANAGED * mild => vec![Queue::Fifo],
        Some(_) => vec![Queue::Fifo, Queue::Codel, Queue::Pie],
        // TCP did not fill the queue: only the flood shows it.
        None => vec![Queue::Fifo, Queue::Codel],
    }
}

/// The queues that could be where the rate changes. Overloads met different rates then, so that
/// only TCP tells: one queue delays others as much as its own packets.
pub(super) fn queues_of_changes(rises: &Rises) -> Vec<Queue> {
    let isolated = match (rises.loaded_us, rises.own_us) {
        (Some(others), Some(own)) => own > own_by_chance_us(rises) && others < ISOLATED * own,
        _ => false,
    };
    match isolated {
        true => vec![Queue::FqCodel, Queue::Fifo],
        false => vec![Queue::Fifo, Queue::Codel],
    }
}

/// Without a delay of TCP, from what its losses name.
fn without_overload(rises: &Rises, named: Dropper) -> Vec<Queue> {
    match (rises.loaded_us, rises.own_us) {
        (Some(loaded), _) if loaded > rises.chance_us[1] => {
            vec![Queue::Fifo, Queue::Codel]
        }
        (_, Some(own)) if own > own_by_chance_us(rises) => {
            vec![Queue::FqCodel, Queue::Fifo]
        }
        _ if named == Dropper::Policer => vec![Queue::Policer, Queue::Fifo],
        (Some(_), Some(_)) if named == Dropper::Queue => vec![Queue::Fifo, Queue::Policer],
        (Some(_), Some(_)) => vec![Queue::Policer, Queue::Fifo],
        _ => vec![Queue::Fifo],
    }
}

/// Returns the round-trip time that trains of packets add for TCP without a queue, µs.
fn own_by_chance_us(rises: &Rises) -> f64 {
    TRAINS_US.max(2.0 * rises.chance_us[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate that changes makes two overloads look like a queue that controls its delay.
    #[test]
    fn where_the_rate_changes_others_that_wait_as_long_share_the_queue() {
        let rises = |loaded: f64, own: f64| Rises {
            overload_us: Some([5_000.0, 60_000.0]),
            loaded_us: Some(loaded),
            own_us: Some(own),
            chance_us: [300.0; 2],
        };
        assert_eq!(queues_of_changes(&rises(90e3, 80e3))[0], Queue::Fifo);
        assert_eq!(queues_of_changes(&rises(2e3, 15e3))[0], Queue::FqCodel);
    }

    #[test]
    fn without_a_flood_and_without_delay_the_losses_of_tcp_choose_the_first_queue() {
        let rises = |loaded, own| Rises {
            overload_us: None,
            loaded_us: loaded,
            own_us: own,
            chance_us: [300.0; 2],
        };
        let flat = rises(Some(100.0), Some(200.0));
        let first = |rises: &Rises, named| queues(rises, named)[0];
        assert_eq!(first(&flat, Dropper::Policer), Queue::Policer);
        assert_eq!(first(&flat, Dropper::Queue), Queue::Fifo);
        assert_eq!(first(&rises(None, None), Dropper::Policer), Queue::Policer);
        assert_eq!(first(&rises(None, None), Dropper::Unknown), Queue::Fifo);
        // Delay is a queue's, whatever drops.
        let delayed = rises(Some(50_000.0), Some(50_000.0));
        assert_eq!(first(&delayed, Dropper::Policer), Queue::Fifo);
    }
}
