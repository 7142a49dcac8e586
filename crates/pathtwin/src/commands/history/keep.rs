//! `pathtwin history label`, `delete`, `export`, `import` and `prune`.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::Path,
};

use anyhow::Context;
use store::Retention;

use super::filter::ago_us;
use crate::cli::history::{Delete, Import, Label, Prune, Selection};
use crate::{
    exit::{Failure, code},
    format,
    say::say,
};

pub(super) fn label(arguments: &Label) -> Result<(), Failure> {
    let mut store = arguments.of.place.open()?;
    for (name, value) in &arguments.labels {
        let value = (!value.is_empty()).then_some(value.as_str());
        store.label(arguments.of.kind, &arguments.id, name, value)?;
    }
    Ok(())
}

pub(super) fn delete(arguments: &Delete) -> Result<(), Failure> {
    let mut store = arguments.of.place.open()?;
    for id in &arguments.ids {
        let id = store.delete(arguments.of.kind, id)?;
        say!("pathtwin: deleted {} {id}", arguments.of.kind);
    }
    Ok(())
}

pub(super) fn export(selection: &Selection) -> Result<(), Failure> {
    let mut store = selection.place.open()?;
    let mut out = format::stdout();
    let count = store.export(&selection.filter(), &mut out)?;
    out.flush().context("write to standard output")?;
    say!("pathtwin: {count} documents exported");
    Ok(())
}

pub(super) fn import(arguments: &Import) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    let (mut added, mut known) = (0, 0);
    for file in &arguments.files {
        let name = file.display().to_string();
        let imported = if file == Path::new("-") {
            store.import(&mut io::stdin().lock(), "standard input", &arguments.label)
        } else {
            let open = File::open(file).with_context(|| format!("open {name}"));
            let mut open = BufReader::new(open.map_err(|e| Failure::new(code::USE, e))?);
            store.import(&mut open, &name, &arguments.label)
        }?;
        added += imported.added;
        known += imported.known;
    }
    say!("pathtwin: {added} documents added, {known} were there already");
    Ok(())
}

pub(super) fn prune(arguments: &Prune) -> Result<(), Failure> {
    let retention = Retention {
        before_us: arguments.older_than.map(ago_us),
        most_bytes: arguments.larger_than.map(|size| size.0),
    };
    let pruned = arguments
        .place
        .open()?
        .prune(&retention, arguments.dry_run)?;
    let would = if arguments.dry_run { "would be " } else { "" };
    say!(
        "pathtwin: {} documents {would}deleted, about {} kB",
        pruned.documents.len(),
        pruned.bytes.div_ceil(1000)
    );
    Ok(())
}
