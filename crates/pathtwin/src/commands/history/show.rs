//! `pathtwin history list` and `show`.

use model::history::Kind;
use model::{run::Run, safe};
use report::history;

use crate::cli::history::{List, Show};
use crate::{cli::Format, exit::Failure, format};

/// Documents that are listed by default.
const FEW: u64 = 50;

pub(super) fn list(arguments: &List) -> Result<(), Failure> {
    let mut filter = arguments.selection.filter();
    if arguments.output == Format::Text && !arguments.all {
        filter.limit = filter.limit.or(Some(FEW));
    }
    let entries = arguments.selection.place.open()?.list(&filter)?;
    match arguments.output {
        Format::Text => format::text(&history::entries(&entries, format::width())),
        Format::Json => format::json(&entries),
        Format::Jsonl => format::json_lines(&entries),
    }
}

pub(super) fn show(arguments: &Show) -> Result<(), Failure> {
    let of = &arguments.of;
    let body = of.place.open()?.body(of.kind, &arguments.id)?;
    if of.kind != Kind::Run || arguments.output == Format::Json {
        return format::print(safe::json(&String::from_utf8_lossy(&body)).as_bytes());
    }
    let run = Run::parse(&body).map_err(|e| Failure::new(crate::exit::code::FAILED, e))?;
    match arguments.output {
        Format::Jsonl => format::json_lines(&run.samples),
        _ => format::text(&match format::width() {
            Some(width) => report::run::text_within(&run, width),
            None => report::run::text(&run),
        }),
    }
}
