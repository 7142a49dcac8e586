//! Keys of a config with their defaults, for the parser, the search for the nearest key and the
//! reference.

/// A key, its default as text, and its meaning.
pub(super) type Key = (&'static str, &'static str, &'static str);

/// Default folder of the state. On OpenWrt, `/var` is in memory.
pub(super) fn state() -> &'static str {
    match sys::machine::is_openwrt() {
        true => "/etc/pathtwin/watch",
        false => "/var/lib/pathtwin/watch",
    }
}

/// Default bytes of a month.
pub(super) const MONTH_BYTES: u64 = 2_000_000_000;
/// Default smallest change.
pub(super) const CHANGE: f64 = 0.05;
/// Default times between probes, short loads and full plans, s.
pub(super) const PROBE: u64 = 120;
/// See [`PROBE`].
pub(super) const LOAD: u64 = 2 * 3600;
/// See [`PROBE`].
pub(super) const FULL: u64 = 86_400;
/// Default full plan.
pub(super) const PLAN: &str = "quick";
/// Default bytes of a short load.
pub(super) const LOAD_BYTES: u64 = 30_000_000;
/// Default bytes of a full plan.
pub(super) const FULL_BYTES: u64 = 300_000_000;
/// Default congestion control: every Linux has it.
pub(super) const CC: &str = "cubic";

pub(super) const TOP: &[Key] = &[
    (
        "state",
        "/var/lib/pathtwin/watch, on OpenWrt /etc/pathtwin/watch",
        "folder of the state; it is replaced atomically and survives kill -9",
    ),
    (
        "runtime",
        "$RUNTIME_DIRECTORY, or none",
        "folder in memory for the state; `state` gets a copy once a day",
    ),
    (
        "flash",
        "false",
        "the history is on flash: runs wait in `runtime` and are added to it once a day",
    ),
    (
        "store",
        "the user's own",
        "the history that runs are added to: a file, or postgres://...",
    ),
    (
        "listen",
        "nowhere",
        "address and port of the pages and of /metrics, such as 127.0.0.1:5302",
    ),
    (
        "names",
        "none",
        "names under which a reverse proxy serves the pages: [\"paths.example\"]",
    ),
    (
        "textfile",
        "none",
        "a file for a node exporter's textfile collector, replaced once a minute: /DIR/pathtwin.prom",
    ),
    ("budget", "", "the table [budget]"),
    ("alarm", "", "the table [alarm]"),
    ("path", "", "a table [[path]] for each path"),
];

pub(super) const BUDGET: &[Key] = &[(
    "month",
    "2GB",
    "bytes on the line in a calendar month (UTC), of all paths together; never exceeded",
)];

pub(super) const ALARM: &[Key] = &[
    (
        "command",
        "none",
        "a program and its arguments; it gets the message as JSON on standard input",
    ),
    (
        "webhook",
        "none",
        "an http:// or https:// URL to which the message is posted as JSON",
    ),
    (
        "quiet",
        "none",
        "local hours without messages, such as \"22:00-07:00\"; they are sent after them",
    ),
    ("change", "5%", "the smallest change to detect, 1% to 50%"),
];

pub(super) const PATH: &[Key] = &[
    (
        "name",
        "the host",
        "its name in messages, metrics and the history",
    ),
    (
        "host",
        "required",
        "the far end, which runs pathtwin serve: HOST or HOST:PORT",
    ),
    (
        "via",
        "none",
        "addresses of the far end inside tunnels: [\"100.64.0.7\"]",
    ),
    (
        "key",
        "the one known for the host",
        "file with the key of the far end",
    ),
    (
        "open",
        "false",
        "the far end runs with --open and needs no key",
    ),
    ("layers", "all", "[\"underlay\"], [\"tunnel\"] or both"),
    (
        "probe",
        "2m",
        "time between groups of ten probes, 10s to 1d, or \"never\"",
    ),
    (
        "load",
        "2h",
        "time between short loads on average, 10m to 30d, or \"never\"",
    ),
    (
        "full",
        "24h",
        "time between runs of the full plan on average, 1h to 30d, or \"never\" (then only after a change)",
    ),
    (
        "plan",
        "quick",
        "the full plan: quick, default, thorough, or a file",
    ),
    (
        "load_bytes",
        "30MB",
        "bytes on the line that a short load may cost",
    ),
    (
        "full_bytes",
        "300MB",
        "bytes on the line that a run of the full plan may cost",
    ),
    (
        "month",
        "that of [budget]",
        "bytes on the line in a month, of this path",
    ),
    (
        "cc",
        "[\"cubic\"]",
        "congestion controls of the short loads; `default` is the host's own",
    ),
    (
        "rate",
        "the highest measured",
        "the rate of the line; above a tenth of it, the line is busy",
    ),
    (
        "metered",
        "auto",
        "\"auto\", \"yes\" (probes only), or \"no\" (loads are allowed)",
    ),
    (
        "undo_when_useless",
        "none",
        "changes of `pathtwin tune` on this host that may be undone when they no longer help this path: [\"ID\"], at least eight digits of each",
    ),
];

/// A config to begin with.
pub const EXAMPLE: &str = r#"[budget]
month = "5GB"

[alarm]
command = ["logger", "-t", "pathtwin"]

[[path]]
name = "office"
host = "office.example"
via = ["100.64.0.7"]
key = "/etc/pathtwin/keys/office"
"#;

/// All keys as a table of Markdown, for the reference.
pub fn reference() -> String {
    let mut out = String::new();
    for (name, keys) in [
        ("Top of the file", TOP),
        ("`[budget]`", BUDGET),
        ("`[alarm]`", ALARM),
        ("`[[path]]`", PATH),
    ] {
        out.push_str(&format!(
            "### {name}\n\n| key | default | |\n|---|---|---|\n"
        ));
        for (key, default, text) in keys.iter().filter(|key| !key.1.is_empty()) {
            out.push_str(&format!("| `{key}` | {default} | {text} |\n"));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
