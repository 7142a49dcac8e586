use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use explain::{
    compose,
    corpus::{File, Part, What},
};
use model::{
    findings::Findings,
    message::{self, Messages},
};

use super::*;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// All files below a folder that end so.
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

/// The string that a Rust source starts with, as the compiler reads it.
fn literal(source: &str) -> Option<String> {
    let mut letters = source.trim_start().strip_prefix('"')?.chars().peekable();
    let mut text = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                // The line goes on after the indentation.
                '\n' => while letters.next_if(|c| c.is_whitespace()).is_some() {},
                letter @ ('"' | '\\') => text.push(letter),
                other => panic!("an escape that no text needs: \\{other}"),
            },
            letter => text.push(letter),
        }
    }
}

/// The templates in the sources of `explain`: it makes no text of words but by `say!`.
fn templates() -> BTreeSet<String> {
    let mut sources = Vec::new();
    files(&project("crates/explain/src"), ".rs", &mut sources);
    let mut found = BTreeSet::new();
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        for after in code.join("\n").split("say!(").skip(1) {
            let template = literal(after);
            found.insert(template.unwrap_or_else(|| panic!("{}: {after:.60}", path.display())));
        }
    }
    found
}

/// The names in braces, each as often as it is there.
fn values(template: &str) -> Vec<&str> {
    let after = template.split('{').skip(1);
    let mut names: Vec<&str> = after.filter_map(|rest| rest.split('}').next()).collect();
    names.sort_unstable();
    names
}

/// What is found in the composed scenes of the corpus, and where their Runs lack something.
fn judged() -> Vec<Findings> {
    let mut specs = Vec::new();
    files(&project("corpus"), ".toml", &mut specs);
    let mut all = Vec::new();
    for path in specs.iter().filter(|p| !p.ends_with("plan.toml")) {
        let file = File::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for scenario in file.scenarios().unwrap() {
            if let What::Composed(scene) = &scenario.what {
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

/// Every text of findings, with its message.
fn texts(findings: &Findings) -> Vec<(&str, Option<&Message>)> {
    fn one<'a>(
        list: &mut Vec<(&'a str, Option<&'a Message>)>,
        messages: &'a Messages,
        fields: &[(&str, Option<&'a String>)],
    ) {
        for (field, text) in fields {
            list.extend(text.map(|text| (text.as_str(), messages.get(*field))));
        }
    }
    let mut list = Vec::new();
    for f in &findings.findings {
        let fields = [("says", Some(&f.says)), ("settle", f.settle.as_ref())];
        one(&mut list, &f.messages, &fields);
        for e in &f.evidence {
            let fields = [
                ("name", Some(&e.name)),
                ("bound", e.bound.as_ref()),
                ("arithmetic", e.arithmetic.as_ref()),
            ];
            one(&mut list, &e.messages, &fields);
        }
    }
    for r in &findings.ruled_out {
        one(&mut list, &r.messages, &[("why", Some(&r.why))]);
    }
    for c in &findings.cannot_tell {
        let fields = [("because", Some(&c.because)), ("settle", Some(&c.settle))];
        one(&mut list, &c.messages, &fields);
    }
    list
}

#[test]
fn the_catalogue_has_every_template_of_the_rules_and_no_other() {
    let catalogue: Catalogue = toml::from_str(CHINESE).unwrap();
    let there: BTreeSet<&str> = catalogue.keys().map(String::as_str).collect();
    let templates = templates();
    let needed: BTreeSet<&str> = templates.iter().map(String::as_str).collect();
    let missing: Vec<_> = needed.difference(&there).collect();
    assert!(missing.is_empty(), "without a translation: {missing:#?}");
    let unused: Vec<_> = there.difference(&needed).collect();
    assert!(unused.is_empty(), "said by no rule: {unused:#?}");
}

#[test]
fn a_translation_has_the_values_of_its_template() {
    let catalogue: Catalogue = toml::from_str(CHINESE).unwrap();
    for (english, chinese) in &catalogue {
        assert_eq!(values(english), values(chinese), "{english}");
    }
}

/// What the rules say is made of the templates that were read from their sources.
#[test]
fn rules_say_nothing_but_templates() {
    fn check<'a>(message: &'a Message, templates: &BTreeSet<String>) {
        assert!(templates.contains(&message.template), "{message:?}");
        let names: BTreeSet<&'a str> = message.values.keys().map(String::as_str).collect();
        let placed: BTreeSet<&'a str> = values(&message.template).into_iter().collect();
        assert_eq!(names, placed);
        for value in message.values.values() {
            if let message::Part::Message(inner) = value {
                check(inner, templates);
            }
        }
    }
    let templates = templates();
    for findings in judged() {
        for (text, message) in texts(&findings) {
            match message {
                Some(message) => check(message, &templates),
                None => assert!(templates.contains(text), "{text}"),
            }
        }
    }
}

/// With PATHTWIN_SAID=FILE all of it is kept there in both languages, to be read.
#[test]
fn what_rules_say_is_said_in_chinese() {
    let words = Words::new(Lang::SimplifiedChinese);
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let mut said = BTreeMap::new();
    for findings in judged() {
        for (text, message) in texts(&findings) {
            let told = words.told(text, message);
            assert_eq!(told.lang, None, "{text}");
            assert!(!told.text.contains(['{', '}']), "{}", told.text);
            // A space between two Chinese characters is a value that the template did not reckon with.
            let letters: Vec<char> = told.text.chars().collect();
            let apart = letters
                .windows(3)
                .find(|w| w[1] == ' ' && is_chinese(w[0]) && is_chinese(w[2]));
            assert_eq!(apart, None, "{}", told.text);
            said.insert(text.to_owned(), told.text.into_owned());
        }
        for c in &findings.cannot_tell {
            assert_eq!(words.would_tell(c).lang, None, "{c:?}");
        }
    }
    assert!(said.len() > 500);
    if let Some(file) = std::env::var_os("PATHTWIN_SAID") {
        let lines = said.iter().map(|(e, c)| format!("{e}\n    {c}\n"));
        std::fs::write(file, lines.collect::<String>()).unwrap();
    }
}

#[test]
fn what_the_catalogue_lacks_stays_english_and_is_marked() {
    let words = Words::new(Lang::SimplifiedChinese);
    let told = words.told("the moon is full", None);
    assert_eq!(
        (told.text.as_ref(), told.lang),
        ("the moon is full", Some("en"))
    );
    assert_eq!(
        [told.capital().as_ref(), told.stop()],
        ["The moon is full", "."]
    );
    let known = words.told("no gain", None);
    assert_eq!((known.lang, known.stop()), (None, "。"));
    let item = CannotTell {
        code: "policer".to_owned(),
        place: Default::default(),
        because: "the moon is full".to_owned(),
        settle: "a sweep to a higher rate".to_owned(),
        messages: Messages::new(),
    };
    let told = words.would_tell(&item);
    assert_eq!(
        told.text,
        "the moon is full; a sweep to a higher rate would tell"
    );
    assert_eq!(told.lang, Some("en"));
}

#[test]
fn english_pages_say_what_findings_say() {
    let words = Words::new(Lang::English);
    for findings in judged() {
        for (text, message) in texts(&findings) {
            let told = words.told(text, message);
            assert_eq!((told.text.as_ref(), told.lang), (text, None));
        }
        for c in &findings.cannot_tell {
            let expected = format!("{}; {} would tell", c.because, c.settle);
            assert_eq!(words.would_tell(c).text, expected);
        }
    }
}

#[test]
fn a_command_at_the_start_of_a_chinese_sentence_stays_as_it_is_typed() {
    let words = Words::new(Lang::SimplifiedChinese);
    let remedy = words.find("wrong-queue", Some("what"), &[]).unwrap();
    assert!(remedy.starts_with("tc qdisc"));
    assert_eq!(words.capital(&remedy), remedy);
    assert_eq!(Words::new(Lang::English).capital("a queue"), "A queue");
}
