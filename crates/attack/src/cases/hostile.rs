//! Hostile far ends, and clients who attack readers of the log.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::json;
use traffic::wire::{Channel, Key, Refusal, greeting, message::Numbered};

use super::{
    budget::ATTACKER,
    documents::{ESCAPES, controls},
};
use crate::{
    case::{Case, Seen, Target},
    client::connect_from,
    served::Served,
    trouble::Trouble,
};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "escapes-from-far-ends",
        attack: "far end: escape sequences and newlines in its refusal, its program, its reasons and its facts",
        bound: "no control character but line feed and tab on the terminal, no line forged",
        run: far_end,
    },
    Case {
        name: "escapes-in-the-log",
        attack: "stranger with the key of an open server: a request whose name forges a line of the log",
        bound: "no control character, no line forged",
        run: log,
    },
    Case {
        name: "long-far-end",
        attack: "far end: a reply that never ends, and one that inflates to a gigabyte",
        bound: "the client gives up, with 256 MiB at most",
        run: long_reply,
    },
];

/// Accepts one client like a far end, and replies to its requests with `answer`.
fn far(
    listener: &TcpListener,
    key: &Key,
    answer: impl Fn(&serde_json::Value) -> serde_json::Value,
) -> Result<(), Trouble> {
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut first = [0; greeting::CONTROL];
    stream.read_exact(&mut first)?;
    let mut handshake = [0; greeting::HANDSHAKE];
    handshake.copy_from_slice(&first[greeting::CONTROL - greeting::HANDSHAKE..]);
    let mut channel = Channel::accept(stream, &handshake, key, 1 << 20)?;
    channel.set_timeout(Some(Duration::from_secs(5)));
    while let Ok(Numbered(number, request)) = channel.receive() {
        channel.send(&Numbered(number, answer(&request)))?;
    }
    Ok(())
}

/// Output of `measure` with a far end.
fn measure(target: &Target, at: SocketAddr, key: &Key) -> Result<Output, Trouble> {
    Ok(Command::new(&target.program)
        .args(["measure", &at.to_string(), "--quick", "--no-store"])
        .env("PATHTWIN_KEY", key.to_string())
        .stdin(Stdio::null())
        .output()?)
}

fn judge(what: &str, output: &Output, seen: &mut Seen) {
    let both = [&output.stdout[..], &output.stderr].concat();
    let found = controls(&both);
    seen.check(found == 0, format!("{what}: {found} control characters"));
    let text = String::from_utf8_lossy(&both).into_owned();
    let forged = text.lines().any(|l| l.starts_with("pathtwin: forged"));
    if forged {
        seen.check(false, format!("{what}: a line is forged"));
    }
}

fn far_end(target: &Target) -> Result<Seen, Trouble> {
    let key = Key::generate()?;
    let mut seen = Seen::default();
    let no = json!({ "reply": "no", "why": ESCAPES });
    let welcome = json!({
        "reply": "welcome", "program": ESCAPES, "abilities": [ESCAPES], "congestion": [ESCAPES, "cubic"],
        "limits": { "flows": 128 },
    });
    for (what, first, others) in [
        ("a refusal", &no, &no),
        ("a reason", &welcome, &no),
        ("no fit", &welcome, &welcome),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let at = listener.local_addr()?;
        let output = thread::scope(|scope| {
            scope.spawn(|| {
                far(&listener, &key, |request| {
                    let is_first = request["ask"] == "hello";
                    if is_first {
                        first.clone()
                    } else {
                        others.clone()
                    }
                })
            });
            measure(target, at, &key)
        })?;
        judge(what, &output, &mut seen);
    }
    Ok(seen)
}

fn log(target: &Target) -> Result<Seen, Trouble> {
    let served = Served::start(target, &[])?;
    let mut seen = Seen::default();
    let forge = json!({ "ask": ESCAPES });
    for first in [true, false] {
        let stream = connect_from(ATTACKER, served.address())?;
        let mut channel = Channel::connect(stream, &served.key, 1 << 20)?;
        channel.set_timeout(Some(Duration::from_secs(5)));
        if !first {
            channel.send(&Numbered(1, crate::client::hello()))?;
            let _: serde_json::Value = channel.receive()?;
        }
        channel.send(&Numbered(2, &forge))?;
        let _ = channel.receive::<serde_json::Value>();
    }
    thread::sleep(Duration::from_millis(500));
    let message = served.message();
    let found = controls(message.as_bytes());
    seen.check(found == 0, format!("{found} control characters"));
    let forged = message.lines().any(|l| l.starts_with("pathtwin: forged"));
    seen.check(!forged, format!("a line is forged: {forged}"));
    seen.check(message.contains("127.0.2.2"), "the attack is in the log");
    Ok(seen)
}

fn long_reply(target: &Target) -> Result<Seen, Trouble> {
    const MAX_KIB: f64 = 256.0 * 1024.0;
    let key = Key::generate()?;
    let mut seen = Seen::default();
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    let mut child = Command::new(&target.program)
        .args(["measure", &at.to_string(), "--quick", "--no-store"])
        .env("PATHTWIN_KEY", key.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = child.id();
    let ((), most) = crate::process::most_while(pid, || {
        // Inflates to slightly less than the limit would allow, sixteen times.
        let bomb = json!({ "reply": "no", "why": " ".repeat(200 << 20) });
        let _ = far(&listener, &key, |_| bomb.clone());
        let _ = listener.set_nonblocking(true);
    })?;
    let _ = child.kill();
    child.wait()?;
    seen.at_most("KiB", most.resident_kib as f64, MAX_KIB);
    // A connection that gets only bytes as a reply.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    let output = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept()?;
            let _ = stream.write_all(&Refusal::Busy.bytes());
            for _ in 0..1000 {
                stream.write_all(&[0x1b; 1000])?;
            }
            Ok::<_, std::io::Error>(())
        });
        measure(target, at, &key)
    })?;
    judge("bytes without end", &output, &mut seen);
    seen.check(!output.status.success(), "it is an error");
    Ok(seen)
}
