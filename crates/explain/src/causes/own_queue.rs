//! What the rules of the queue of the sender's own device have in common.

use analysis::view::{DirectionView, Host};
use model::{facts::QdiscFacts, findings::Value, text, text::Text};

use crate::verdict::{Figure, Strength, Verdict, figure, holds, not, unknown};

/// Holds with what `says` makes of the sender and its queue if that is of one of these kinds.
pub(super) fn is_of(
    way: &DirectionView,
    kinds: &[&str],
    better: Option<Text>,
    text: fn(&Host, &QdiscFacts) -> Text,
) -> Verdict {
    let sender = way.sender();
    let Some(queue) = sender.device().and_then(|d| d.root_qdisc()) else {
        return unknown(
            text!("the queue of the sender's device is not known"),
            text!("facts of the sending host"),
        );
    };
    if !kinds.contains(&queue.kind.as_str()) {
        return not(text!("the sender's device has {kind}", kind = &queue.kind));
    }
    let mut kind = figure(
        text!("queue of the device"),
        Value::Name(queue.kind.clone()),
    )
    .on(sender.side)
    .deciding();
    if let Some(better) = better {
        kind = kind.against(better);
    }
    holds(Strength::Fair, text(&sender, queue), vec![kind])
}
