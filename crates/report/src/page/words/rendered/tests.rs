use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use corpus::{File, Part, Source, compose};
use model::{
    advice::AdviceFigure,
    cause::CauseCode,
    findings::{CannotTell, Findings},
    net::{Direction, IpVersion, Layer},
    remedy::{self, Action},
    row::RowFigure,
    run::{FigureKind, Invalid, Key, StepKind},
    text::{Text, Value},
    twin::TwinFigure,
    watch::WatchFigure,
};

use super::{
    super::{Words, catalogue, label},
    *,
};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// All files below a folder with this suffix.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, end, found);
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
}

/// The string literal at the start of a Rust source, as parsed by the compiler.
fn literal(source: &str) -> Option<String> {
    let mut letters = source.trim_start().strip_prefix('"')?.chars().peekable();
    let mut text = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                // Line continuation: skip the indentation.
                '\n' => while letters.next_if(|c| c.is_whitespace()).is_some() {},
                letter @ ('"' | '\\') => text.push(letter),
                other => panic!("unsupported escape: \\{other}"),
            },
            letter => text.push(letter),
        }
    }
}

/// Sources of the program without comments and tests.
fn sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    for folder in std::fs::read_dir(project("crates")).unwrap() {
        files(&folder.unwrap().path().join("src"), ".rs", &mut paths);
    }
    let tests = |path: &PathBuf| path.ends_with("tests.rs") || path.iter().any(|p| p == "tests");
    paths.retain(|path| !tests(path));
    let code = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n");
        (path, code)
    };
    paths.into_iter().map(code).collect()
}

/// Templates in the sources: arguments of `text!`, and the string fields of causes.
fn templates() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, code) in sources() {
        for after in ["text!("].iter().flat_map(|m| code.split(m).skip(1)) {
            let template = literal(after);
            found.insert(template.unwrap_or_else(|| panic!("{}: {after:.60}", path.display())));
        }
    }
    for cause in explain::registry() {
        found.extend([cause.title, cause.remedy.why].map(str::to_owned));
    }
    let figures = FigureKind::ALL.iter().map(|f| f.text());
    let rows = RowFigure::ALL.iter().map(|f| f.text());
    let twins = TwinFigure::ALL.iter().map(|f| f.text());
    let watched = WatchFigure::ALL.iter().map(|f| f.text());
    found.extend(figures.chain(rows).chain(twins).map(str::to_owned));
    let advised = AdviceFigure::ALL.iter().map(|f| f.text());
    found.extend(watched.chain(advised).map(str::to_owned));
    found.extend(Value::units().map(str::to_owned));
    let page = [
        label::TEMPLATES,
        label::dashboard::TEMPLATES,
        label::speedtest::TEMPLATES,
    ];
    let page = page.into_iter().flatten();
    found.extend(page.map(|text| (*text).to_owned()));
    found
}

/// The Chinese catalogue, file by file.
fn chinese() -> Vec<(String, String)> {
    let read = |file: &&str| toml::from_str::<BTreeMap<String, String>>(file).unwrap();
    catalogue::CHINESE.iter().flat_map(read).collect()
}

/// The names in braces, with duplicates.
fn values(template: &str) -> Vec<&str> {
    let after = template.split('{').skip(1);
    let mut names: Vec<&str> = after.filter_map(|rest| rest.split('}').next()).collect();
    names.sort_unstable();
    names
}

/// Findings of the composed scenes of the corpus, also with data removed from their Runs.
fn judged() -> Vec<Findings> {
    let mut specs = Vec::new();
    files(&project("corpus"), ".toml", &mut specs);
    let mut all = Vec::new();
    for path in specs.iter().filter(|p| !p.ends_with("plan.toml")) {
        let file = File::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for scenario in file.scenarios().unwrap() {
            if let Source::Composed(scene) = &scenario.source {
                let run = compose::run(scene, scenario.seed(Part::Training).0);
                all.push(explain::judge(&run));
                let mut less = run;
                less.samples.retain(|s| s.sweep.is_empty());
                all.push(explain::judge(&less));
            }
        }
    }
    assert!(all.len() > 100);
    all
}

/// Every text of findings.
fn texts(findings: &Findings) -> Vec<&Text> {
    let mut list = vec![&findings.summary];
    for f in &findings.findings {
        list.extend([&f.title, &f.text]);
        list.extend(f.remedies.iter().map(|r| &r.why_there));
        list.extend(&f.settle);
        for e in &f.evidence {
            list.push(&e.name);
            list.extend(e.bound.iter().chain(&e.arithmetic));
            if let Value::Text(text) = &e.value {
                list.push(text);
            }
        }
    }
    list.extend(findings.ruled_out.iter().map(|r| &r.why));
    for c in &findings.cannot_tell {
        list.extend([&c.because, &c.settle]);
    }
    list
}

#[test]
fn the_catalogue_has_every_template_of_the_sources_and_no_other() {
    let chinese = chinese();
    let there: BTreeSet<&str> = chinese
        .iter()
        .map(|(english, _)| english.as_str())
        .collect();
    assert_eq!(there.len(), chinese.len(), "duplicate template");
    let templates = templates();
    let needed: BTreeSet<&str> = templates.iter().map(String::as_str).collect();
    let missing: Vec<_> = needed
        .difference(&there)
        .filter(|t| **t != "{name}")
        .collect();
    assert!(missing.is_empty(), "without a translation: {missing:#?}");
    let unused: Vec<_> = there.difference(&needed).collect();
    assert!(unused.is_empty(), "not in any source: {unused:#?}");
}

/// Documents of older versions stay translated; a template that comes back belongs to the others.
#[test]
fn templates_of_older_versions_are_no_longer_in_the_sources() {
    let older: BTreeMap<String, String> = toml::from_str(catalogue::OLDER).unwrap();
    assert!(!older.is_empty());
    let templates = templates();
    for template in older.keys() {
        assert!(!templates.contains(template), "{template}");
    }
}

#[test]
fn a_translation_has_the_values_of_its_template() {
    for (english, chinese) in chinese() {
        assert_eq!(values(&english), values(&chinese), "{english}");
    }
}

/// All texts of the rules use templates found in the sources.
#[test]
fn rules_say_nothing_but_templates() {
    fn check(text: &Text, templates: &BTreeSet<String>) {
        assert!(
            templates.contains(text.template()) || text.template() == "{name}",
            "{text:?}"
        );
        let names: BTreeSet<&str> = text.values().map(|(name, _)| name).collect();
        let placed: BTreeSet<&str> = values(text.template()).into_iter().collect();
        assert_eq!(names, placed);
        for (_, value) in text.values() {
            if let Value::Text(inner) = value {
                check(inner, templates);
            }
        }
    }
    let templates = templates();
    for findings in judged() {
        for text in texts(&findings) {
            check(text, &templates);
        }
    }
}

/// With PATHTWIN_TEXTS=FILE all texts are written to it in both languages, for review.
#[test]
fn texts_of_rules_are_in_chinese() {
    let words = Words::new(Lang::SimplifiedChinese);
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let mut message = BTreeMap::new();
    for findings in judged() {
        for text in texts(&findings) {
            let rendered = words.render(text);
            assert_eq!(rendered.lang, None, "{text}");
            assert!(!rendered.text.contains(['{', '}']), "{}", rendered.text);
            // A space between two Chinese characters indicates an unexpected value in a template.
            let letters: Vec<char> = rendered.text.chars().collect();
            let apart = letters
                .windows(3)
                .find(|w| w[1] == ' ' && is_chinese(w[0]) && is_chinese(w[2]));
            assert_eq!(apart, None, "{}", rendered.text);
            message.insert(text.to_string(), rendered.text);
        }
        for c in &findings.cannot_tell {
            assert_eq!(words.undecided(c).lang, None, "{c:?}");
        }
    }
    assert!(message.len() > 500);
    if let Some(file) = std::env::var_os("PATHTWIN_TEXTS") {
        let lines = message.iter().map(|(e, c)| format!("{e}\n    {c}\n"));
        std::fs::write(file, lines.collect::<String>()).unwrap();
    }
}

#[test]
fn untranslated_texts_stay_english_and_are_marked() {
    let words = Words::new(Lang::SimplifiedChinese);
    let rendered = words.render(&Text::plain("the moon is full"));
    assert_eq!(
        (rendered.text.as_str(), rendered.lang),
        ("the moon is full", Some("en"))
    );
    assert_eq!(
        [rendered.capital().as_ref(), rendered.stop()],
        ["The moon is full", "."]
    );
    let known = words.render(&Text::plain("no gain"));
    assert_eq!((known.lang, known.stop()), (None, "。"));
    let item = CannotTell {
        code: CauseCode::POLICER,
        place: Default::default(),
        because: Text::plain("the moon is full"),
        settle: Text::plain("a sweep to a higher rate"),
    };
    let rendered = words.undecided(&item);
    assert_eq!(
        rendered.text,
        "the moon is full; to decide: a sweep to a higher rate"
    );
    assert_eq!(rendered.lang, Some("en"));
}

#[test]
fn english_pages_match_the_findings() {
    let words = Words::new(Lang::English);
    for findings in judged() {
        for text in texts(&findings) {
            let rendered = words.render(text);
            assert_eq!((rendered.text, rendered.lang), (text.to_string(), None));
        }
        for c in &findings.cannot_tell {
            let expected = format!("{}; to decide: {}", c.because, c.settle);
            assert_eq!(words.undecided(c).text, expected);
        }
    }
}

#[test]
fn a_command_at_the_start_of_a_chinese_sentence_stays_as_it_is_typed() {
    let words = |lang| {
        Words::new(lang)
            .render(&Text::name("tc qdisc"))
            .capital()
            .into_owned()
    };
    assert_eq!(words(Lang::SimplifiedChinese), "tc qdisc");
    assert_eq!(words(Lang::English), "Tc qdisc");
}

#[test]
fn every_remedy_has_a_sentence_in_chinese() {
    let words = Words::new(Lang::SimplifiedChinese);
    let is_free_text = |action: &Action| matches!(action, Action::FreeText { .. });
    for remedy in remedy::examples() {
        let rendered = words.render(&remedy.sentence());
        let expected = is_free_text(&remedy.action).then_some("en");
        assert_eq!(rendered.lang, expected, "{}", rendered.text);
    }
    for findings in judged() {
        for finding in &findings.findings {
            assert!(!finding.remedies.is_empty(), "{}", finding.code);
            for remedy in &finding.remedies {
                let rendered = words.render(&remedy.sentence());
                assert_eq!(rendered.lang, None, "{}", rendered.text);
            }
        }
    }
}

#[test]
fn reasons_and_notes_of_a_run_are_chinese() {
    let words = Words::new(Lang::SimplifiedChinese);
    let reasons = [
        Invalid::SenderProcessor { share: 0.971 },
        Invalid::CongestionReplaced {
            requested: "bbr".to_owned(),
            used: "cubic".to_owned(),
        },
        Invalid::ClockStep { by_us: 2000 },
        Invalid::CutShort,
    ];
    let rendered = reasons.map(|reason| words.render(&reason.text()));
    assert!(rendered.iter().all(|t| t.lang.is_none()));
    assert!(rendered[0].text.ends_with("97 %"), "{}", rendered[0].text);
}

/// A verdict of a twin names measurements in the middle of a sentence.
#[test]
fn names_of_measurements_are_chinese() {
    let words = Words::new(Lang::SimplifiedChinese);
    let mut names = BTreeSet::new();
    for step in StepKind::ALL {
        for layer in [Layer::Underlay, Layer::Tunnel] {
            let key = Key {
                step,
                layer,
                family: IpVersion::V4,
                direction: Some(Direction::Down),
                bidirectional: true,
                flows: Some(8),
                cc: Some("cubic".to_owned()),
                rate_bps: Some(50_000_000),
                bytes: None,
            };
            // Written to a document and read again: a name of a measurement stays a text.
            let written = serde_json::to_string(&Value::from(&key)).unwrap();
            let read: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read.to_string(), key.to_string());
            names.insert(words.value(&read));
        }
    }
    assert_eq!(names.len(), 2 * StepKind::ALL.len());
    // Names of protocols and settings are the same in every language.
    let same = [
        "v4", "UDP", "TCP", "MTU", "HTTP", "QUIC", "cubic", "50mbit", "8",
    ];
    for name in names {
        let latin = name.split(|c: char| !c.is_ascii_alphanumeric());
        let english: Vec<_> = latin
            .filter(|w| !w.is_empty() && !same.contains(w))
            .collect();
        assert!(english.is_empty(), "{name}: {english:?}");
    }
}
