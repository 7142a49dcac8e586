//! Words of the speed test.

use model::{text, text::Text};

use super::macros::labels;

labels! {
    title: "Speed test",
    what:
        "Between this browser and this server: one and four connections in each direction, two congestion controls of the server, and the round trip beside each load. It takes a minute and uses the full capacity of the path.",
    start: "Start",
    idle: "Idle round trips",
    down_bbr: "Download, 1 connection, bbr",
    down_cubic: "Download, 1 connection, cubic",
    down_many: "Download, 4 connections, cubic",
    up_single: "Upload, 1 connection",
    up_many: "Upload, 4 connections",
    done: "Done",
    refused: "The server does not take this load now: try again later",
    idle_rtt: "Round trip without load",
    rtt: "Median RTT beside it",
    verdict: "Verdict",
    not_yet: "none yet",
    note:
        "Round trips are those of messages over TCP, which lost packets make longer. Downloads are counted by the browser, uploads by the server, both as payload and without the first two seconds.",
    verdict_browser:
        "The browser itself: it was late for its own timers by more than 50 ms under load.",
    verdict_control:
        "The server's congestion control: bbr is faster than cubic by more than 30 %, and packets are lost.",
    verdict_receiver:
        "This device reads too slowly: the server waited for its receive window for more than 30 % of the time.",
    verdict_buffer: "The line's buffer: a load adds more than 100 ms to the round trip.",
    verdict_wireless:
        "The wireless link, probably: round trips vary by more than 30 ms without any load.",
    verdict_single: "A single connection: four of them are faster by more than 30 %.",
    verdict_none: "Nothing stands out: the figures are those of the path.",
    verdict_lacks:
        "Open: whether another congestion control is faster; the server may use only one of the two.",
    token_where:
        "This speed test requires a token: the file that pathtwin serve named when it started.",
}
