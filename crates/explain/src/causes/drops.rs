//! What hosts dropped, against what TCP had to send again.

use analysis::view::Host;
use model::run::Sample;

/// Share of TCP's retransmissions from which local drops explain them.
const MANY: f64 = 0.2;
/// Drops beyond this multiple of the retransmissions are not TCP's packets.
const TOO_MANY: f64 = 20.0;
/// Fewer are chance.
const FEWEST: f64 = 10.0;

/// Drops in a host while TCP ran.
pub(super) struct Drops {
    /// How many.
    pub(super) lost: f64,
    /// Over what TCP sent again in both directions; absent if that is not known.
    pub(super) share: Option<f64>,
}

impl Drops {
    /// Whether they explain what TCP sent again: some packets at least (a card drops what no one
    /// wants, too), and a good part of it.
    pub(super) fn explain(&self) -> bool {
        self.lost >= FEWEST && self.share.is_none_or(|s| (MANY..=TOO_MANY).contains(&s))
    }
}

/// Increase of the counters of a group with one of these ends; `None` if the group was not read.
pub(super) fn drops<'a>(
    host: &Host<'a>,
    samples: &[&'a Sample],
    group: &str,
    ends: &[&str],
) -> Option<Drops> {
    let lost = host.counter_increase(samples, group, ends)?;
    let ways = host.view().directions();
    let again: Vec<f64> = ways.iter().filter_map(|w| w.retransmits()).collect();
    let again = (!again.is_empty()).then(|| again.iter().sum::<f64>());
    Some(Drops {
        lost,
        share: again.map(|again| lost / again.max(1.0)),
    })
}
