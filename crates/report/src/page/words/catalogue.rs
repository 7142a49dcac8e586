//! Catalogues by language: `locales/<language>/*.toml`, each line an English template and its
//! translation.

use std::collections::BTreeMap;

use model::text::Catalogue;

use super::lang::Lang;

/// The Chinese files; no template is in two of them.
pub(super) const CHINESE: [&str; 12] = [
    include_str!("../../../locales/zh-CN/advice.toml"),
    include_str!("../../../locales/zh-CN/causes.toml"),
    include_str!("../../../locales/zh-CN/dashboard.toml"),
    include_str!("../../../locales/zh-CN/errors.toml"),
    include_str!("../../../locales/zh-CN/facts.toml"),
    include_str!("../../../locales/zh-CN/findings.toml"),
    include_str!("../../../locales/zh-CN/measure.toml"),
    include_str!("../../../locales/zh-CN/page.toml"),
    include_str!("../../../locales/zh-CN/remedies.toml"),
    include_str!("../../../locales/zh-CN/speedtest.toml"),
    include_str!("../../../locales/zh-CN/twin.toml"),
    include_str!("../../../locales/zh-CN/watch.toml"),
];

/// Templates of documents that older versions wrote: their values were part of the text.
pub(super) const OLDER: &str = include_str!("../../../locales/zh-CN/older.toml");

/// The catalogue of a language; none for English.
pub(super) fn of(lang: Lang) -> Option<Catalogue> {
    match lang {
        Lang::English => None,
        Lang::SimplifiedChinese => {
            // Their test checks that they can be parsed.
            let files = CHINESE.into_iter().chain([OLDER]);
            let files = files.map(|file| toml::from_str(file).unwrap_or_default());
            let all: BTreeMap<String, String> = files
                .flat_map(|file: BTreeMap<String, String>| file)
                .collect();
            Some(Catalogue::new(all, false))
        }
    }
}
