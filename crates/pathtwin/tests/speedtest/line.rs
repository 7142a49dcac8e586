//! The verdict of the page over a real line between browser and server.

use std::process::Command;

use crate::{
    browser::{Browser, Viewport},
    common::{is_root, pathtwin},
    served::Served,
};

/// Two network namespaces, and a router between them with 20 Mbit/s each way. At the ends, a queue
/// would stay short: the kernel keeps each of its own flows to a few packets there (TCP small
/// queues, net/ipv4/tcp_output.c of Linux 6.12, `tcp_small_queue_check`).
struct Line {
    name: String,
}

impl Line {
    /// With a queue of that many ms each way. `None` with a printed reason where the test may not
    /// make them.
    fn new(number: u32, queue_ms: u32) -> Option<Self> {
        let tools = ["ip", "tc"];
        let missing = tools.map(|tool| Command::new(tool).arg("-V").output().is_err());
        if !is_root() || missing.contains(&true) {
            eprintln!("skipped: needs root, ip and tc");
            return None;
        }
        let line = Self {
            name: format!("ptst{}-{number}", std::process::id()),
        };
        for end in ENDS {
            run("ip", &["netns", "add", &line.namespace(end)]);
            line.ip(end, "link set lo up");
        }
        for (end, network) in [("near", "198.18.1"), ("far", "198.18.2")] {
            line.join(end, network, queue_ms);
        }
        let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward";
        let router = line.namespace("router");
        run("ip", &["netns", "exec", &router, "sh", "-c", forward]);
        Some(line)
    }

    /// Joins an end with the router, which shapes what it sends there.
    fn join(&self, end: &str, network: &str, queue_ms: u32) {
        let (own, router) = (self.namespace(end), self.namespace("router"));
        let pair = format!("link add line netns {own} type veth peer name {end} netns {router}");
        run("ip", &pair.split(' ').collect::<Vec<_>>());
        for (at, link, last) in [(end, "line", 2), ("router", end, 1)] {
            self.ip(at, &format!("address add {network}.{last}/24 dev {link}"));
            // A bucket counts packets, not segments of 64 KiB.
            self.ip(at, &format!("link set {link} gso_max_segs 1"));
            self.ip(at, &format!("link set {link} up"));
        }
        self.ip(end, &format!("route add default via {network}.1"));
        let bucket = format!(
            "-n {router} qdisc add dev {end} root tbf rate 20mbit burst 16kb latency {queue_ms}ms"
        );
        run("tc", &bucket.split(' ').collect::<Vec<_>>());
    }

    fn ip(&self, end: &str, arguments: &str) {
        let namespace = self.namespace(end);
        let arguments = arguments.split(' ');
        run(
            "ip",
            &["-n", &namespace]
                .into_iter()
                .chain(arguments)
                .collect::<Vec<_>>(),
        );
    }

    fn namespace(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    /// What the page finds over the line: its verdicts, and the figures of some places.
    fn tested<const N: usize>(&self, places: [&str; N]) -> (Vec<String>, [f64; N]) {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace("far")]);
        command.arg(pathtwin().get_program());
        // Five loads of five seconds: enough for cubic to queue more than 100 ms.
        let served = Served::start_by(command, "198.18.2.2", &["--open", "--max-time", "5s"]);
        let mut browser = Browser::start_by(&["ip", "netns", "exec", &self.namespace("near")]);
        browser.visit(&format!("http://{}/", served.address), Viewport::DESK);
        browser.value("document.getElementById('start').click()");
        browser.value("window.pathtwinSpeed.running.then(() => 1)");
        let said = browser.value("document.getElementById('status').textContent");
        let figures = places.map(|place| {
            let shown = browser.value(&format!("document.getElementById('{place}').value"));
            let number = shown.as_str().and_then(|text| text.split(' ').next());
            let number = number.and_then(|text| text.parse().ok());
            number.unwrap_or_else(|| panic!("{place}: {shown}: {said}"))
        });
        let texts = "JSON.parse(document.getElementById('words').dataset.words)";
        let verdicts = browser.value(&format!(
            "(texts => [...document.querySelectorAll('#verdict li')].map(li =>
                Object.keys(texts).find(key => texts[key] === li.textContent)))({texts})"
        ));
        let verdicts = serde_json::from_value(verdicts).expect("known texts");
        // Chromium ignores this policy without TLS, except on this host, and says so.
        let is_ignored = |error: &String| error.contains("Cross-Origin-Opener-Policy");
        browser.errors.retain(|error| !is_ignored(error));
        assert!(browser.errors.is_empty(), "{:?}", browser.errors);
        (verdicts, figures)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        for end in ENDS {
            let name = self.namespace(end);
            let _ = Command::new("ip").args(["netns", "del", &name]).status();
        }
    }
}

const ENDS: [&str; 3] = ["near", "router", "far"];

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(status.expect("run it").success(), "{program} {arguments:?}");
}

/// Payload of a line of 20 Mbit/s, less headers of 66 in 1514 bytes.
const PAYLOAD_MBPS: f64 = 20.0 * 1448.0 / 1514.0;

/// A real line whose queue holds 400 ms: cubic fills it, and every other packet waits behind that.
#[test]
fn a_deep_buffer_between_browser_and_server_is_the_verdict() {
    let Some(line) = Line::new(1, 400) else {
        return;
    };
    let (verdicts, [down, down_rtt, up_rtt, idle]) =
        line.tested(["down-cubic", "down-cubic-rtt", "up-many-rtt", "idle"]);
    println!("{down} Mbit/s, {down_rtt} ms down, {up_rtt} ms up, {idle} ms idle: {verdicts:?}");
    assert!(
        verdicts.contains(&"verdict-buffer".to_owned()),
        "{verdicts:?}"
    );
    for wrong in ["control", "receiver", "wireless", "none"] {
        assert!(
            !verdicts.contains(&format!("verdict-{wrong}")),
            "{verdicts:?}"
        );
    }
    // A queue adds at most what it holds; its other direction has only acknowledgements and probes.
    let longest = down_rtt.max(up_rtt);
    assert!((100.0..420.0 + idle).contains(&longest), "{longest} ms");
    assert!(
        (0.9 * PAYLOAD_MBPS..1.02 * PAYLOAD_MBPS).contains(&down),
        "{down} Mbit/s"
    );
}

/// The same line with a queue of 40 ms cannot add 100 ms.
#[test]
fn a_short_buffer_between_browser_and_server_is_not_the_verdict() {
    let Some(line) = Line::new(2, 40) else {
        return;
    };
    let (verdicts, [down_rtt, up_rtt, idle]) =
        line.tested(["down-cubic-rtt", "up-many-rtt", "idle"]);
    println!("{down_rtt} ms down, {up_rtt} ms up, {idle} ms idle: {verdicts:?}");
    assert!(
        !verdicts.contains(&"verdict-buffer".to_owned()),
        "{verdicts:?}"
    );
}
