//! The language of a page.

use report::page::Lang;

use crate::Request;

/// The language that the reader has chosen by `?lang=`.
pub fn chosen(request: &Request) -> Option<Lang> {
    match request.value("lang") {
        Some("zh-CN" | "zh") => Some(Lang::SimplifiedChinese),
        Some("en") => Some(Lang::English),
        _ => None,
    }
}

/// The chosen language, else the available one that the browser prefers (RFC 9110, 12.5.4; browsers
/// name the preferred one first).
pub fn preferred(request: &Request) -> Lang {
    let languages = request.field("accept-language").unwrap_or_default();
    let mut names = languages.split(',').map(|l| l.trim().to_ascii_lowercase());
    let known = names.find(|name| name.starts_with("zh") || name.starts_with("en"));
    chosen(request).unwrap_or(match known.is_some_and(|name| name.starts_with("zh")) {
        true => Lang::SimplifiedChinese,
        false => Lang::English,
    })
}
