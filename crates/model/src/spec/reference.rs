//! Reference of the grammar, generated from the table of keys.

use super::{
    keys::{Fallback, KEYS, Key, Section},
    profile,
    write::keys_of,
};

/// The reference as Markdown: the content of `docs/reference/spec.md`.
pub fn reference() -> String {
    let tables: Vec<String> = Section::ALL.into_iter().map(table).collect();
    let profiles = format!("{PROFILES}{}", profile_rows());
    format!("{HEAD}\n{}\n{profiles}\n{TAIL}", tables.join("\n"))
}

const HEAD: &str = "\
# Specs

<!-- Made from the code; `UPDATE_DOCS=1 cargo test -p pathtwin-model` regenerates it. -->

A spec is a TOML file that describes a path, the traffic on it, and the settings to compare. It has one cell for each combination of its matrix and each repeat. An empty file is a valid spec, since every key has a default. An unknown key is an error that names the nearest valid key.

## Quantities

| quantity | written as |
|---|---|
| duration | `\"250us\"`, `\"1.5s\"`; units `ns`, `us`, `ms`, `s`, `m` (minutes) |
| rate | `\"100mbit\"`, `\"2.5gbit/s\"`; units `bit`, `kbit`, `mbit`, `gbit` |
| size | `\"256kB\"`, `\"4MiB\"`; units `B`, `kB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB`, `GiB` |
| percentage | `\"0.5%\"` |
| buffer | `\"1bdp\"` (this direction's rate times the two-way delay), `\"200p\"` (packets), \
`\"256kB\"`, `\"40ms\"` (at the rate) |
| changes | `\"5s 20mbit, 10s 100mbit, repeat 20s\"`: times and rates, `\"trace:FILE\"` |
| quantiles | `\"50% 1ms, 99% 20ms\"`: shares and delays |
| loss | `\"0.5%\"` (independent), `\"every 1000\"` (exactly every n-th), \
`\"gemodel(p, r, 1-h, 1-k)\"` |

`gemodel(p, r, 1-h, 1-k)` is netem's: the probabilities of entering and leaving the bad state, the loss in the bad state (default `100%`) and in the good one (default `0%`). A buffer must hold one
full packet: the MTU and 14 bytes of Ethernet header.

## Traces

The file of `\"trace:FILE\"` is relative to the spec, and has one of two formats. Its content, not its name, is part of a
cell.

- CSV: the header `seconds,mbit`, then a time and a rate in each line. A last line without a rate (`60,`) is the time after which the trace starts again. Lines that begin with `#` are comments.
- mahimahi: in each line the time, in whole ms, at which one packet of 1500 bytes (1514 with its header) may pass. The rate is the average over parts of 100 ms. The trace starts again after its last line.

A change is made by netlink at its time, which is exact in the lab. A packet that waits already keeps its time, so a rate must be at least 64 kbit/s; an outage in a trace has that rate.
";

const PROFILES: &str = "\
### Profiles

`profile = \"web\"` and the like stand for the keys of this table, beside which only `start`, `stop` and `cc` can be set. They are not real traffic: sizes, times and rates are constant, and nothing adapts but TCP.

| profile | the same as | source |
|---|---|---|
";

const TAIL: &str = "\
## `[matrix]`

Each key is a factor; its value is an array of levels to compare. Cells are in the order of the file: the repeats vary fastest, then the last factor.

```toml
[matrix]
\"ends.server.cc\" = [\"cubic\", \"bbr\"]   # any key of this page except name, seed and repeats
\"cross.0.flows\" = [1, 4]               # the first [[cross]]
tunnel = [\"none\", \"wireguard\"]         # the same path without and with its tunnel
arrangement = [                        # several keys at once, as a custom factor
  { label = \"plain\" },
  { label = \"fq\", \"ends.server.qdisc\" = \"fq\", \"path.queue\" = \"fq_codel\" },
]
```

A level that is a table sets several keys together. Under the name of a table (`tunnel`,
`ends.server`) it holds keys of that table; under any other name it holds full dotted keys, and rows show its `label`. Two factors must not set the same key, and a factor must not list the same value twice. A spec has at most 100000 cells.

## `--set`

`--set path.rtt=30ms` overrides a key of the file. If the matrix varies that key, the value replaces the factor; `--set arrangement=fq` selects one label of a factor.
";

fn table(section: Section) -> String {
    let (title, intro) = heading(section);
    let rows: String = KEYS
        .iter()
        .filter(|key| key.sections.contains(&section))
        .map(|k| row(k, section))
        .collect();
    format!(
        "## {title}\n\n{intro}\n\n| key | takes | default | meaning |\n|---|---|---|---|\n{rows}"
    )
}

fn row(key: &Key, section: Section) -> String {
    let default = match key.fallback {
        _ if section == Section::Line && key.sections.len() > 1 => {
            format!("`path.{}`", key.name)
        }
        _ if section == Section::TunnelLine => format!("`tunnel.{}`", key.name),
        _ if section == Section::LocalLine => format!("`local.{}`", key.name),
        Fallback::Text(text) => format!("`\"{text}\"`"),
        Fallback::Integer(n) => format!("`{n}`"),
        Fallback::Bool(b) => format!("`{b}`"),
        Fallback::Rule(rule) | Fallback::Needed(rule) => rule.to_owned(),
    };
    format!(
        "| `{}` | {} | {default} | {} |\n",
        key.name,
        key.kind.describe(),
        key.meaning
    )
}

fn heading(section: Section) -> (&'static str, &'static str) {
    match section {
        Section::Top => ("Top of the file", "Settings of the whole spec."),
        Section::Path => (
            "`[path]`",
            "The path between the two ends, the same in both directions.",
        ),
        Section::Line => (
            "`[path.down]`, `[path.up]`",
            "One direction, overriding `[path]`; `down` is server to client. There is no `rtt` \
            here.",
        ),
        Section::Tunnel => (
            "`[tunnel]`",
            "A tunnel over the path; without the table there is none.",
        ),
        Section::TunnelLine => (
            "`[tunnel.down]`, `[tunnel.up]`",
            "One direction of the tunnel, overriding `[tunnel]`.",
        ),
        Section::Local => (
            "`[local]`",
            "A second line in series, between the client and a host named `third`, the home \
            router, which `measure --lab` probes beside the load; without the table there is \
            neither. The router can shape: see [a third point](third.md#in-the-lab).",
        ),
        Section::LocalLine => (
            "`[local.down]`, `[local.up]`",
            "One direction of that line, overriding `[local]`.",
        ),
        Section::Ends => (
            "`[ends]`, `[ends.server]`, `[ends.client]`",
            "The two hosts: `[ends]` sets both, the other two override it for one.",
        ),
        Section::Traffic => ("`[traffic]`", "The measured traffic."),
        Section::Cross => (
            "`[[cross]]`",
            "Competing traffic, one table for each group of flows. It is not measured.",
        ),
    }
}

/// Profiles: name, keys and source.
fn profile_rows() -> String {
    let row = |(name, profile): &(&str, profile::Profile)| {
        let keys = keys_of(&profile.traffic());
        let keys: Vec<String> = keys.lines().map(|line| format!("`{line}`")).collect();
        format!(
            "| `{name}` | {} | {} |\n",
            keys.join(", "),
            profile.source()
        )
    };
    profile::NAMES.iter().map(row).collect()
}
