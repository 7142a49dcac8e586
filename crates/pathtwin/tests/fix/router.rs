//! A router of the path that can be changed.

use super::guest::{UNDO, UNTOUCHED, in_lab};

/// The queue of the line holds 300 ms, and the router at home is before it.
const BLOATED: &str = "[path]\nrtt = \"30ms\"\nrate = \"20mbit\"\nbuffer = \"300ms\"\n\
    [local]\nrate = \"1gbit\"\n";

#[test]
fn a_shaper_is_set_on_the_router_that_can_be_reached_and_undo_leaves_no_trace() {
    let command = "${fix% --for throughput} server --yes --for latency --router-ssh router";
    let message = in_lab(BLOATED, command, UNDO);
    assert!(message.contains("on router:"), "{message}");
    assert!(message.contains("code 0\n"), "{message}");
    assert!(message.contains("Kept: "), "{message}");
    // Its counters, in lines of at most 80 columns.
    let words: Vec<&str> = message.split_whitespace().collect();
    let words = words.join(" ");
    let (_, evidence) = words
        .split_once("(router at the bottleneck): ")
        .unwrap_or_default();
    assert!(
        evidence
            .split('.')
            .next()
            .is_some_and(|e| e.contains("packets passed")),
        "{message}"
    );
    // As `diff` prints what the change left: a shaper of what comes from the line or goes there.
    let mut new = message.lines().filter(|line| line.starts_with("> "));
    assert!(new.any(|line| line.contains("qdisc cake")), "{message}");
    assert!(message.contains("no trace"), "{message}");
}

#[test]
fn a_router_that_cannot_be_reached_is_said_before_anything_is_measured() {
    let command = "$fix server --yes --router-ssh nowhere";
    let message = in_lab(BLOATED, command, UNTOUCHED);
    assert!(message.contains("code 3\n"), "{message}");
    assert!(message.contains("nothing was measured"), "{message}");
    assert!(message.contains("no difference"), "{message}");
}
