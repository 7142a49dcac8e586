//! `pathtwin history label`, `delete`, `export`, `import` and `prune`.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write},
    path::Path,
};

use anyhow::Context;
use store::Retention;

use super::ago_us;
use crate::cli::history::{Delete, Export, Import, Label, Prune};
use crate::exit::{Failure, code};

pub(super) fn label(arguments: &Label) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    for (name, value) in &arguments.labels {
        let value = (!value.is_empty()).then_some(value.as_str());
        store.label(arguments.kind, &arguments.id, name, value)?;
    }
    Ok(())
}

pub(super) fn delete(arguments: &Delete) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    for id in &arguments.ids {
        let id = store.delete(arguments.kind, id)?;
        eprintln!("pathtwin: deleted {} {id}", arguments.kind);
    }
    Ok(())
}

pub(super) fn export(arguments: &Export) -> Result<(), Failure> {
    let mut store = arguments.place.open()?;
    let mut out = Output {
        to: BufWriter::new(io::stdout().lock()),
        gone: false,
    };
    let filter = arguments.which.filter(arguments.kind);
    let count = store.export(&filter, &mut out)?;
    out.flush().context("write to standard output")?;
    eprintln!("pathtwin: {count} documents exported");
    Ok(())
}

/// Standard output, whose reader may go away.
struct Output<W> {
    to: W,
    gone: bool,
}

impl<W: Write> Output<W> {
    fn or_gone(&mut self, result: io::Result<()>) -> io::Result<()> {
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(())
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.gone {
            let result = self.to.write_all(bytes);
            self.or_gone(result)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gone {
            return Ok(());
        }
        let result = self.to.flush();
        self.or_gone(result)
    }
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
    eprintln!("pathtwin: {added} documents added, {known} were there");
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
    eprintln!(
        "pathtwin: {} documents {would}forgotten, about {} kB",
        pruned.documents.len(),
        pruned.bytes.div_ceil(1000)
    );
    Ok(())
}
