//! The HTML report: a single file that needs no network access.
//!
//! Verdict and tables are plain HTML and need no script; the script adds charts from data embedded
//! in the page. All text from documents is escaped by the templates, and a content security policy
//! blocks everything but the page's own script and style.

mod advice;
mod alone;
mod chart;
mod charts;
#[cfg(feature = "history")]
pub mod dashboard;
mod delay;
mod frame;
mod heat;
mod hosts;
mod layers;
mod loss;
mod matrix;
mod proof;
mod reproduce;
pub mod speedtest;
mod tiles;
mod timeline;
mod twin;
mod verdict;
mod words;

use maud::{Markup, html};
use model::{findings::Findings, row::Rows, run::Run};

use crate::{documents::Documents, time};

use frame::Section;
use words::{Words, label};

pub use alone::Alone;
pub use frame::policy;
pub use words::Lang;

/// The page of documents. `program`: version of the writing program.
pub fn html(documents: &Documents, lang: Lang, program: &str) -> String {
    let words = Words::new(lang).with_causes(&documents.causes);
    let mut charts = charts::Charts::default();
    let mut sections = Vec::new();
    let mut top = Vec::new();
    if let Some((run, findings)) = &documents.run {
        top.push(run_head(run, &words));
        top.push(verdict::html(run, findings, &words));
        top.push(tiles::html(run, &words));
        top.push(verdict::others(findings, &words));
        sections.extend(run_sections(run, findings, &words, &mut charts));
    }
    for (number, rows) in documents.matrices.iter().enumerate() {
        if documents.run.is_none() && number == 0 {
            top.push(matrix::head(rows, &words));
        }
        let lead = documents.run.is_some() || number > 0;
        sections.extend(matrix_section(rows, number, lead, &words, &mut charts));
    }
    sections.extend(documents.twin.as_ref().map(|twin| Section {
        id: "twin",
        title: label::twin_title(),
        nav: label::nav_twin(),
        body: twin::html(twin, &words, &mut charts),
    }));
    sections.extend(documents.advice.as_ref().map(|advice| Section {
        id: "advice",
        title: label::advice_title(),
        nav: label::nav_advice(),
        body: advice::html(advice, &words),
    }));
    sections.extend((!documents.changes.is_empty()).then(|| Section {
        id: "change",
        title: label::change_title(),
        nav: label::nav_change(),
        body: proof::html(&documents.changes, &words),
    }));
    sections.push(Section {
        id: "again",
        title: label::again_title(),
        nav: label::nav_again(),
        body: reproduce::html(documents, &words, program),
    });
    frame::page(&frame::Page {
        title: title(documents),
        top: html! { @for part in &top { (part) } },
        sections,
        charts,
        program,
        words: &words,
    })
}

/// Title of the page.
fn title(documents: &Documents) -> String {
    let of_twin = || documents.twin.as_ref().map(|t| &t.run);
    let of_advice = || documents.advice.as_ref().map(|a| &a.run);
    match (&documents.run, documents.matrices.first()) {
        (Some((run, _)), _) => format!("pathtwin {}", run.id),
        (None, Some(rows)) => format!("{} · pathtwin lab", rows.name),
        (None, None) => match of_twin().or_else(of_advice) {
            Some(run) => format!("pathtwin {run}"),
            None => "pathtwin".to_owned(),
        },
    }
}

/// Plan, time and number of valid samples of the run.
fn run_head(run: &Run, words: &Words) -> Markup {
    let count = run.samples.iter().filter(|s| s.valid).count();
    let span = crate::run::span(run.took_s);
    let lasted = words.label(match run.lab {
        true => label::head_virtual(span),
        false => label::head_took(span),
    });
    let samples = words.label(label::head_samples(count, run.samples.len()));
    let plan = words.label(label::head_plan(&run.plan.name));
    html! {
        p.meta {
            span { (words.label(label::head_run())) " " code { (run.id) } }
            @if run.started_us > 0 { span { (time::utc(run.started_us)) " UTC" } }
            span { (plan) }
            span { (lasted) }
            span { (samples) }
        }
        @for missing in &run.unreached {
            @let why = words.render(&missing.why);
            p.warning {
                (words.label(label::not_reached(missing.far)))
                " (" span lang=[why.lang] { (why.text) } ")"
            }
        }
        @for caveat in run.caveats.iter().map(|caveat| words.render(caveat)) {
            p.warning { strong { (words.label(label::not_measured())) } " " span lang=[caveat.lang] { (caveat.text) } }
        }
        @if let Some(lacks) = analysis::shortfall::of(run) {
            @let what = match lacks.is_few() {
                true => label::too_few(lacks.valid, lacks.all),
                false => label::no_throughput(lacks.valid, lacks.all),
            };
            p.warning { strong { (words.label(what)) } }
        }
        @if let Some(why) = run.cut_short.as_ref().map(|why| words.render(why)) {
            p.warning { strong { (words.label(label::head_cut_short())) } " " span lang=[why.lang] { (why.text) } }
        }
    }
}

fn run_sections(
    run: &Run,
    findings: &Findings,
    words: &Words,
    charts: &mut charts::Charts,
) -> Vec<Section> {
    let section = |id, nav, title, body: Option<Markup>| {
        body.map(|body| Section {
            id,
            title,
            nav,
            body,
        })
    };
    [
        section(
            "layers",
            label::nav_layers(),
            layers::title(run),
            layers::html(run, words),
        ),
        section(
            "time",
            label::nav_time(),
            label::time_title(),
            timeline::html(run, words, charts),
        ),
        section(
            "delay",
            label::nav_delay(),
            label::delay_title(),
            delay::html(run, words, charts),
        ),
        section(
            "loss",
            label::nav_loss(),
            label::loss_title(),
            loss::of_run(run, words, charts),
        ),
        section(
            "causes",
            label::nav_causes(),
            label::causes_title(),
            verdict::rest(findings, words),
        ),
        section(
            "hosts",
            label::nav_hosts(),
            label::hosts_title(),
            Some(hosts::html(run, words)),
        ),
        section(
            "doubts",
            label::nav_doubts(),
            label::doubts_title(),
            layers::doubts(run, words),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn matrix_section(
    rows: &Rows,
    number: usize,
    lead: bool,
    words: &Words,
    charts: &mut charts::Charts,
) -> Option<Section> {
    // Anchors are fixed, since a page has few matrices.
    let ids = ["matrix", "matrix-2", "matrix-3", "matrix-4"];
    Some(Section {
        id: ids.get(number).copied()?,
        title: label::matrix_title(),
        nav: label::nav_matrix(),
        body: matrix::html(rows, words, charts, number, lead),
    })
}
