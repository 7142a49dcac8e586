//! Files of drawn scenarios below `--out`: specs, truths, Runs, and the lines of the result.

use std::path::{Path, PathBuf};

use anyhow::Context;
use model::run::Run;
use pathtwin::{
    exit::{Failure, code},
    format,
};
use sys::files::Readers;
use validation::drawn::{Drawn, advised::Bbr, outcome::Outcome, truth::Truth};

/// The folder of stored results, if any, the name of the plan, and scenarios of known truth.
pub(super) struct Kept<'a> {
    folder: Option<&'a Path>,
    plan: &'a str,
    known: Vec<Outcome>,
}

impl<'a> Kept<'a> {
    /// Opens or makes the folder.
    pub(super) fn open(
        folder: Option<&'a Path>,
        plan: &'a str,
        known: Vec<Outcome>,
    ) -> Result<Self, Failure> {
        if let Some(folder) = folder {
            let made = std::fs::create_dir_all(folder);
            made.with_context(|| format!("make {}", folder.display()))?;
        }
        Ok(Self {
            folder,
            plan,
            known,
        })
    }

    /// The truth of a scenario: by the definitions of this program, if its effects are stored for
    /// the same spec; or that of its line.
    pub(super) fn truth(&self, drawn: &Drawn) -> Result<Option<Truth>, Failure> {
        let mut known = self.known.iter();
        if let Some(line) = known.find(|line| line.is_of(drawn)) {
            return Ok(Some(line.truth()));
        }
        let read = self.read(drawn, "truth.json")?;
        let parse = |(file, bytes): (PathBuf, Vec<u8>)| {
            let truth: Result<Truth, _> = serde_json::from_slice(&bytes);
            let truth = truth.with_context(|| file.display().to_string())?;
            anyhow::Ok(truth.again(&drawn.cell))
        };
        Ok(read.map(parse).transpose()?)
    }

    /// Stores the truth of a scenario, and its spec.
    pub(super) fn put_truth(&self, drawn: &Drawn, truth: Truth) -> Result<Truth, Failure> {
        let text = serde_json::to_vec_pretty(&truth).context("write a truth as JSON")?;
        self.put(drawn, "truth.json", &text)?;
        Ok(truth)
    }

    /// The effect of BBR on a scenario's path; empty if it is not stored.
    pub(super) fn bbr(&self, drawn: &Drawn) -> Result<Vec<Bbr>, Failure> {
        let line = self.known.iter().find(|line| line.is_of(drawn));
        if let Some(line) = line.filter(|line| !line.bbr.is_empty()) {
            return Ok(line.bbr.clone());
        }
        let Some((file, bytes)) = self.read(drawn, "bbr.json")? else {
            return Ok(Vec::new());
        };
        let bbr = serde_json::from_slice(&bytes).with_context(|| file.display().to_string());
        bbr.map_err(|e| Failure::new(code::USE, e))
    }

    /// Stores the effect of BBR on a scenario's path.
    pub(super) fn put_bbr(&self, drawn: &Drawn, bbr: Vec<Bbr>) -> Result<Vec<Bbr>, Failure> {
        let text = serde_json::to_vec_pretty(&bbr).context("write the effect of BBR as JSON")?;
        self.put(drawn, "bbr.json", &text)?;
        Ok(bbr)
    }

    /// The Run of a scenario, if it is stored for the same spec.
    pub(super) fn run(&self, drawn: &Drawn) -> Result<Option<Run>, Failure> {
        let Some((file, bytes)) = self.read(drawn, &format!("{}.json", self.plan))? else {
            return Ok(None);
        };
        let run = Run::parse(&bytes).with_context(|| file.display().to_string());
        run.map(Some).map_err(|e| Failure::new(code::USE, e))
    }

    /// Stores the Run of a scenario, and its spec.
    pub(super) fn put_run(&self, drawn: &Drawn, run: &Run) -> Result<(), Failure> {
        let text = serde_json::to_vec(run).context("write a Run as JSON")?;
        self.put(drawn, &format!("{}.json", self.plan), &text)
    }

    /// Outcomes of stored scenarios by the rules of this program: fewer than `part` if one lacks
    /// its truth or Run.
    pub(super) fn outcomes(&self, part: &[Drawn], plan: &str) -> Result<Vec<Outcome>, Failure> {
        let mut outcomes = Vec::new();
        for drawn in part {
            if let (Some(truth), Some(run)) = (self.truth(drawn)?, self.run(drawn)?) {
                outcomes.push(Outcome::of(drawn, &truth, plan, &run));
            }
        }
        Ok(outcomes)
    }

    /// Writes the lines of all outcomes so far.
    pub(super) fn lines(&self, outcomes: &[Outcome]) -> Result<(), Failure> {
        let Some(folder) = self.folder else {
            return Ok(());
        };
        let mut text = String::new();
        for outcome in outcomes {
            text += &serde_json::to_string(outcome).context("write an outcome as JSON")?;
            text.push('\n');
        }
        let file = folder.join(format!("outcomes-{}.jsonl", self.plan));
        format::file(&file, Readers::ByUmask, text.as_bytes())
    }

    /// A stored file of a scenario, and its name. A file for another spec, from a draw with other
    /// priors, counts as missing.
    fn read(&self, drawn: &Drawn, what: &str) -> Result<Option<(PathBuf, Vec<u8>)>, Failure> {
        let Some(folder) = self.folder else {
            return Ok(None);
        };
        let spec = folder.join(format!("{}.toml", drawn.cell.name));
        let file = folder.join(format!("{}.{what}", drawn.cell.name));
        let same = std::fs::read_to_string(spec).is_ok_and(|text| drawn.is_of(&text));
        if !same || !file.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&file).with_context(|| format!("read {}", file.display()))?;
        Ok(Some((file, bytes)))
    }

    fn put(&self, drawn: &Drawn, what: &str, bytes: &[u8]) -> Result<(), Failure> {
        let Some(folder) = self.folder else {
            return Ok(());
        };
        let spec = folder.join(format!("{}.toml", drawn.cell.name));
        let file = folder.join(format!("{}.{what}", drawn.cell.name));
        let same = std::fs::read_to_string(&spec).is_ok_and(|text| drawn.is_of(&text));
        if !same {
            // Files stored for another spec of this name are useless now.
            for old in ["truth.json", "bbr.json", "quick.json", "default.json"] {
                let _ = std::fs::remove_file(folder.join(format!("{}.{old}", drawn.cell.name)));
            }
            format::file(&spec, Readers::ByUmask, drawn.spec().as_bytes())?;
        }
        format::file(&file, Readers::ByUmask, bytes)
    }
}
