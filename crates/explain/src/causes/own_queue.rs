//! What the rules of the queue of the sender's own device have in common.

use analysis::view::{DirectionView, Host};
use model::{facts::QdiscFacts, findings::Value};

use crate::{
    says::{Says, say},
    verdict::{Figure, Strength, Verdict, figure, holds, not, unknown},
};

/// Holds with what `says` makes of the sender and its queue if that is of one of these kinds.
pub(super) fn is_of(
    way: &DirectionView,
    kinds: &[&str],
    better: Option<Says>,
    says: fn(&Host, &QdiscFacts) -> Says,
) -> Verdict {
    let sender = way.sender();
    let Some(queue) = sender.device().and_then(|d| d.root_qdisc()) else {
        return unknown(
            say!("the queue of the sender's device is not known"),
            say!("facts of the sending host"),
        );
    };
    if !kinds.contains(&queue.kind.as_str()) {
        return not(say!("the sender's device has {kind}", kind = &queue.kind));
    }
    let mut kind = figure(say!("queue of the device"), Value::Name(queue.kind.clone()))
        .on(sender.side)
        .deciding();
    if let Some(better) = better {
        kind = kind.against(better);
    }
    holds(Strength::Fair, says(&sender, queue), vec![kind])
}
