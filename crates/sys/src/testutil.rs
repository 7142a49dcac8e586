//! Helpers of this crate's tests.

use std::io;

use crate::Netns;
use crate::link::{self, NewLink};
use crate::netlink::{Message, NLM_F_ACK, Netlink};

/// A temporary namespace, or `None` with a printed reason if the test may not create one.
pub(crate) fn netns() -> Option<Netns> {
    match Netns::create() {
        Ok(ns) => Some(ns),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            println!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// A veth pair `a0` and `a1`, up, with one queue each; the index of `a0`.
pub(crate) fn pair(nl: &mut Netlink) -> u32 {
    let end = |name| NewLink {
        queues: Some(1),
        ..NewLink::named(name)
    };
    link::create_veth(nl, &end("a0"), &end("a1")).unwrap();
    for name in ["a0", "a1"] {
        let index = link::index(nl, name).unwrap();
        link::set_up(nl, index).unwrap();
    }
    link::index(nl, "a0").unwrap()
}

/// A captured message of iproute2 from a golden file: `# command`, then its bytes in hexadecimal
/// with the sequence number zeroed; `~` means 1024 zero bytes.
pub(crate) fn golden(file: &str, command: &str) -> String {
    let mut lines = file
        .lines()
        .skip_while(|l| l.strip_prefix("# ") != Some(command));
    assert!(lines.next().is_some(), "no golden of {command}");
    let hex: String = lines.take_while(|l| !l.starts_with('#')).collect();
    lines_of(&hex.replace('~', &"00".repeat(1024)))
}

/// A message as a golden has it: acknowledged, with sequence number 0, and rate tables zeroed
/// (iproute2 rounds their entries, which the kernel does not read, to microseconds).
pub(crate) fn wire(mut message: Message) -> String {
    message.add_flags(NLM_F_ACK);
    let mut bytes = message.finish(0).unwrap().to_vec();
    let mut at = 36;
    while at + 1028 <= bytes.len() {
        if bytes[at..at + 2] == 1028u16.to_ne_bytes() {
            bytes[at + 4..at + 1028].fill(0);
            at += 1024;
        }
        at += 4;
    }
    lines_of(&bytes.iter().map(|b| format!("{b:02x}")).collect::<String>())
}

/// Text in lines of 64 characters, so that a difference is easy to find.
fn lines_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let lines: Vec<String> = chars.chunks(64).map(|line| line.iter().collect()).collect();
    lines.join("\n")
}
