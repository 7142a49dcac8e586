//! Reference of the Path document, generated from its tables.

use super::{
    Source,
    end::{Competitor, End, Ends},
    layer::{Line, Tunnel, Underlay},
    walk::Field,
};

const HEAD: &str = r#"# Paths

<!-- Made from the code; `UPDATE_DOCS=1 cargo test -p pathtwin-model` regenerates it. -->

A Path is a model of a path, as JSON: the known parameters of each layer and direction. It names no host and no address,
so it can be published. Every parameter is a separate table:

```json
{"value": 20000000, "low": 19600000, "high": 20300000, "source": "measured"}
```

`low` and `high` bound the 95 % interval of the value; without them the interval is unknown, or the
value is exact. What is unknown is absent, never 0: then the lab takes a default. A whole document:

```json
{
  "schema": 1,
  "name": "home",
  "underlay": {
    "down": {
      "rate_bps": {"value": 20000000, "low": 19600000, "high": 20300000, "source": "measured"},
      "buffer": {"value": {"bytes": 256000}, "source": "fitted"},
      "delay_ns": {"value": 12000000, "source": "measured"},
      "loss": {"random": {"share": {"value": 0.001, "low": 0.0004, "high": 0.002, "source": "measured"}}}
    },
    "up": {"rate_bps": {"value": "unlimited", "source": "assumed"}},
    "mtu_bytes": {"value": 1492, "source": "measured"}
  },
  "tunnel": {"mtu_bytes": {"value": 1412, "source": "facts"}},
  "ends": {"near": {"cc": {"value": "bbr", "source": "facts"}}},
  "competitors": [{"kind": {"value": "tcp", "source": "fitted"}}],
  "stand_ins": [{"of": "radio", "at": "near", "parameters": ["underlay.down.rate_bps"]}]
}
```

Names beyond those of this page are errors.

## Top of the document

| name | meaning |
|---|---|
| `schema` | Version of the document's shape: 1. |
| `name` | Name of the model, of letters, digits, `.`, `_`, `-`. |
| `underlay` | The path itself, below. |
| `tunnel` | The tunnel over it, below; absent = there is none. |
| `ends` | The two hosts, below. |
| `competitors` | The load of others: a list of the tables below. |
| `stand_ins` | What the lab cannot copy: `of` (`"processor"`, `"radio"`, `"relay"`), `at` (`"near"` or `"far"`; absent = between the two), and `parameters`, the dotted names of those that stand for it. |

## Sources
"#;

/// Description of `loss`, which is not a plain table of parameters.
const LOSS: &str = r#"
`loss` has one of these forms:

| name | meaning |
|---|---|
| `random.share` | Probability of each packet to be lost, 0 to 1; 0 is known to be none. |
| `bursts.p`, `bursts.r`, `bursts.bad`, `bursts.good` | Two states (Gilbert-Elliott, as netem has it): the probabilities to turn bad and to turn good again for each packet, and the loss in the bad and in the good state. |
| `every.packets` | Exactly every n-th packet is lost, 2 to 65535. |
"#;

/// The reference as Markdown: the content of `docs/reference/path.md`.
pub fn reference() -> String {
    let mut text = format!("{HEAD}\n| source | meaning |\n|---|---|\n");
    for source in Source::ALL {
        text += &format!("| `{}` | {} |\n", source.name(), source.meaning());
    }
    text += &table("`underlay`", Underlay::FIELDS);
    text += &table(
        "`underlay.down`, `underlay.up`, `tunnel.down`, `tunnel.up`",
        Line::FIELDS,
    );
    text += LOSS;
    text += &table("`tunnel`", Tunnel::FIELDS);
    text += &table("`ends`", Ends::FIELDS);
    text += &table("`ends.near`, `ends.far`", End::FIELDS);
    text += &table("`competitors`", Competitor::FIELDS);
    text
}

fn table(title: &str, fields: &[Field]) -> String {
    let mut text = format!("\n## {title}\n\n| name | meaning |\n|---|---|\n");
    for field in fields {
        text += &format!("| `{}` | {} |\n", field.name, field.meaning.trim());
    }
    text
}
