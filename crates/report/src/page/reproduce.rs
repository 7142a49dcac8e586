//! Instructions to reproduce a result: commands, plan, seed and versions.

use maud::{Markup, html};
use model::{net::Layer, row::Rows, run::Run};

use super::words::{Words, label};
use crate::documents::Documents;

pub(super) fn html(documents: &Documents, words: &Words, program: &str) -> Markup {
    html! {
        @if let Some((run, _)) = &documents.run { (of_run(run, words)) }
        @for rows in &documents.matrices { (of_rows(rows, words)) }
        p.note { (words.label(label::again_written(program))) }
    }
}

fn of_run(run: &Run, words: &Words) -> Markup {
    html! {
        p { (words.label(if run.lab { label::again_lab() } else { label::again_run() })) }
        pre.commands tabindex="0" aria-label=(words.label(label::again_commands())) { code { (commands(run)) } }
        p.note { (words.label(if run.lab { label::again_lab_same() } else { label::again_run_same() })) }
        @if let Some(spec) = &run.spec {
            h3 { (words.label(label::again_spec())) }
            pre.commands tabindex="0" aria-label=(words.label(label::again_spec())) { code { (spec) } }
        }
        @if let Ok(plan) = toml::to_string(&run.plan) {
            details.more {
                summary { (words.label(label::again_plan())) }
                pre tabindex="0" aria-label=(words.label(label::again_plan())) { code { (plan) } }
            }
        }
    }
}

/// The commands with the addresses and seed of the run.
fn commands(run: &Run) -> String {
    let mut seed = String::new();
    if let Some(number) = run.plan.seed {
        seed = format!(" --seed {number}");
    }
    if run.lab {
        return format!("pathtwin measure --lab SPEC.toml --plan plan.toml{seed} --out run.json\n");
    }
    if let Some(asked) = &run.asked {
        let key = match asked.takes_key() {
            true => (", with the far host's key in the file key", " --key key"),
            false => ("", ""),
        };
        return format!(
            "# far host\n{}\n\n# near host{}\n{}{} --plan plan.toml{seed} --out run.json\n",
            asked.serve(),
            key.0,
            asked.command(),
            key.1
        );
    }
    let far = |wanted| {
        let mut of = run.layers.iter().filter(move |l| l.layer == wanted);
        of.next().map(|l| l.far.to_string())
    };
    let host = far(Layer::Underlay).unwrap_or_else(|| "FAR_HOST".to_owned());
    let via = far(Layer::Tunnel).map_or_else(String::new, |a| format!(" --via {a}"));
    format!(
        "# far host\npathtwin serve\n\n# near host, with the far host's key in the file key\n\
         pathtwin measure {host}{via} --key key --plan plan.toml{seed} --out run.json\n"
    )
}

fn of_rows(rows: &Rows, words: &Words) -> Markup {
    let mut seeds: Vec<u64> = rows.rows.iter().map(|r| r.seed.0).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let first = seeds.first().copied().unwrap_or(1);
    let kernel = rows.rows.first().map_or("", |r| r.kernel.as_str());
    let message = words.label(label::again_rows(&rows.name, seeds.len(), kernel));
    let command = format!("pathtwin lab run SPEC.toml --seed {first} --out out/rows\n");
    html! {
        p { (message) }
        pre.commands tabindex="0" aria-label=(words.label(label::again_commands())) { code { (command) } }
        details.more {
            summary { (words.label(label::again_digests())) }
            ul.digests { @for row in &rows.rows {
                li { code { (digest(&row.digest)) } " "
                    @for (name, value) in &row.factors { (name) "=" (crate::number::factor(value)) " " }
                    "seed " (row.seed) }
            } }
        }
    }
}

/// The first digits of a digest.
fn digest(text: &str) -> String {
    text.chars().take(16).collect()
}
