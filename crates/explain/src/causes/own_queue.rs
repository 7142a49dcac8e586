//! Common parts of the rules about the queue of the sender's own device.

use analysis::view::{DirectionView, Host};
use model::{facts::QdiscFacts, findings::Value, text, text::Text};

use crate::verdict::{Figure, Strength, Verdict, confirmed, figure, ruled_out, undecided};

/// Confirmed, with the text that `text` returns, if the sender's queue is one of these kinds.
pub(super) fn is_of(
    dir: &DirectionView,
    kinds: &[&str],
    better: Option<Text>,
    text: fn(&Host, &QdiscFacts) -> Text,
) -> Verdict {
    let sender = dir.sender();
    let Some(queue) = sender.device().and_then(|d| d.root_qdisc()) else {
        return undecided(
            text!("the queue of the sender's device is not known"),
            text!("facts of the sending host"),
        );
    };
    if !kinds.contains(&queue.kind.as_str()) {
        return ruled_out(text!("the sender's device has {kind}", kind = &queue.kind));
    }
    let mut kind = figure(
        text!("queue of the device"),
        Value::Name(queue.kind.clone()),
    )
    .end(sender.side)
    .decisive();
    if let Some(better) = better {
        kind = kind.bound(better);
    }
    confirmed(Strength::Fair, text(&sender, queue), vec![kind])
}
