//! `pathtwin fix HOST` between hosts in the lab's guest, in virtual time, and between two of this
//! one in real time.

#![allow(clippy::expect_used, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
mod guest;
mod hosts;
mod router;
mod ssh;

use guest::{LOSSY, UNDO, UNTOUCHED, in_lab, on_a_path};

fn answered(answer: &str) -> String {
    let command = format!("asked '{answer}' $fix server --far-ssh far");
    let message = in_lab(LOSSY, &command, UNTOUCHED);
    assert!(message.contains("questions 1\n"), "{message}");
    assert!(message.contains("no difference"), "{message}");
    assert!(!message.contains("a journal"), "{message}");
    assert!(message.contains("nothing was changed"), "{message}");
    message
}

#[test]
fn a_question_answered_with_no_ends_it_without_a_change() {
    let message = answered(r"n\n");
    assert!(message.contains("code 0\n"), "{message}");
}

/// Bug: the conflicts of a plan were never shown, and the plan was made after the question.
#[test]
fn the_plan_of_both_hosts_is_shown_with_its_conflicts_before_the_question() {
    let writer = "cp /bin/sleep /tmp/bpftune; /tmp/bpftune 100000 &";
    let command = format!("{writer}\nasked 'n\\n' $fix server --far-ssh far");
    let message = in_lab(LOSSY, &command, UNTOUCHED);
    // The script above has these words, too.
    let (before, _) = message.rsplit_once("[y/N]").unwrap_or(("", &message));
    for part in ["on server:", "(now no route of its own)", "note: bpftune"] {
        assert!(before.contains(part), "{part} is missing in {message}");
    }
    assert!(message.contains("no difference"), "{message}");
}

/// Bug: the program read on, and ended neither by Ctrl-C nor at all.
#[test]
fn ctrl_c_at_the_question_ends_it_without_a_change() {
    let message = answered(r"\x03");
    assert!(message.contains("code 130\n"), "{message}");
}

/// Nobody can answer.
#[test]
fn without_a_terminal_the_question_is_a_usage_error() {
    let message = in_lab(LOSSY, "$fix server --far-ssh far </dev/null", UNTOUCHED);
    assert!(message.contains("code 2\n"), "{message}");
    assert!(message.contains("--yes applies"), "{message}");
    assert!(message.contains("no difference"), "{message}");
}

/// Bug: it measured, changed settings, and ended with an error in the middle of its offers.
#[test]
fn a_history_that_cannot_be_opened_ends_it_before_it_measures() {
    let command = "$fix server --far-ssh far --yes --store /proc/nothing/history.db";
    let message = in_lab(LOSSY, command, UNTOUCHED);
    assert!(!message.contains("What is wrong"), "{message}");
    for part in ["nothing was changed", "--store FILE", "no difference"] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
    assert!(!message.contains("code 0\n"), "{message}");
    assert!(!message.contains("a journal"), "{message}");
}

/// Both layers are measured, and the change is of the route in the tunnel alone. The page has the
/// measurements before and after. Bug: the proof counted the connections of the underlay as well,
/// found another congestion control there, and undid the change.
#[test]
fn a_tunnel_is_fixed_after_a_yes_and_the_page_has_the_proof() {
    let spec = format!("{LOSSY}[tunnel]\nkind = \"wireguard\"\nmtu = 1420\n");
    let command = r"asked 'y\n' $fix 10.0.4.2 --via 10.0.99.2 --far-ssh far --out /tmp/page.html";
    let page = "grep -o 'The change and its proof' /tmp/page.html | head -n 1";
    let message = in_lab(&spec, command, &format!("{page}\n{UNDO}"));
    assert!(message.contains("questions 1\n"), "{message}");
    assert!(message.contains("code 0\n"), "{message}");
    assert!(message.contains("Kept: goodput"), "{message}");
    assert!(message.contains("The change and its proof"), "{message}");
    // As `diff` prints what the change left.
    let new = message.lines().filter(|line| line.starts_with("> "));
    let new: Vec<&str> = new.collect();
    assert!(!new.is_empty(), "{message}");
    let in_tunnel = |line: &&str| line.contains("dev wg0") && line.contains("congctl bbr");
    assert!(new.iter().all(in_tunnel), "{new:?}");
    assert!(message.contains("no trace"), "{message}");
}

#[test]
fn a_helpful_change_is_kept_and_undo_leaves_no_trace() {
    let message = on_a_path("--far-ssh far", UNDO);
    assert!(message.contains("code 0"), "{message}");
    assert!(message.contains("Kept: goodput"), "{message}");
    assert!(message.contains("congctl bbr"), "{message}");
    assert!(message.contains("no trace"), "{message}");
}

/// A person at the far host runs the printed command, and then the next one.
#[test]
fn without_ssh_the_command_for_the_far_host_is_printed_and_waited_for() {
    let person = r#"--wait 10m 2>/tmp/err & fix=$!
for n in $(seq 2000); do
    command=$(sed -n 's/^  sudo pathtwin //p' /tmp/err | tail -n 1)
    [ "$command" = "$done" ] || { echo "runs: $command"; /tmp/ssh -o BatchMode=yes -- far pathtwin $command; done=$command; }
    kill -0 $fix 2>/dev/null || break
    sleep 1
done
cat /tmp/err; wait $fix"#;
    let message = on_a_path(person, UNDO);
    assert!(message.contains("runs: tune apply --set"), "{message}");
    assert!(message.contains("runs: tune confirm"), "{message}");
    assert!(message.contains("code 0"), "{message}");
    assert!(message.contains("Kept: goodput (down)"), "{message}");
    assert!(message.contains("no trace"), "{message}");
}
