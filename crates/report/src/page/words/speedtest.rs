//! Texts of the speed test, as [`super::texts`].

/// Keys and texts.
pub(super) const TEXTS: &[(&str, &str)] = &[
    ("speed-title", "Speed test"),
    (
        "speed-what",
        "Between this browser and this server: one and four connections in each direction, two congestion controls of the server, and the round trip beside each load. It takes a minute and uses the full capacity of the path.",
    ),
    ("speed-start", "Start"),
    ("speed-idle", "Idle round trips"),
    ("speed-down-bbr", "Download, 1 connection, bbr"),
    ("speed-down-cubic", "Download, 1 connection, cubic"),
    ("speed-down-many", "Download, 4 connections, cubic"),
    ("speed-up-single", "Upload, 1 connection"),
    ("speed-up-many", "Upload, 4 connections"),
    ("speed-done", "Done"),
    (
        "speed-refused",
        "The server does not take this load now: try again later",
    ),
    ("speed-idle-rtt", "Round trip without load"),
    ("speed-rtt", "Median RTT beside it"),
    ("speed-verdict", "Verdict"),
    ("speed-not-yet", "none yet"),
    (
        "speed-note",
        "Round trips are those of messages over TCP, which lost packets make longer. Downloads are counted by the browser, uploads by the server, both as payload and without the first two seconds.",
    ),
    (
        "speed-verdict-browser",
        "The browser itself: it was late for its own timers by more than 50 ms under load.",
    ),
    (
        "speed-verdict-control",
        "The server's congestion control: bbr is faster than cubic by more than 30 %, and packets are lost.",
    ),
    (
        "speed-verdict-receiver",
        "This device reads too slowly: the server waited for its receive window for more than 30 % of the time.",
    ),
    (
        "speed-verdict-buffer",
        "The line's buffer: a load adds more than 100 ms to the round trip.",
    ),
    (
        "speed-verdict-wireless",
        "The wireless link, probably: round trips vary by more than 30 ms without any load.",
    ),
    (
        "speed-verdict-single",
        "A single connection: four of them are faster by more than 30 %.",
    ),
    (
        "speed-verdict-none",
        "Nothing stands out: the figures are those of the path.",
    ),
    (
        "speed-verdict-lacks",
        "Open: whether another congestion control is faster; the server may use only one of the two.",
    ),
    (
        "speed-token-where",
        "This speed test requires a token: the file that pathtwin serve named when it started.",
    ),
];
