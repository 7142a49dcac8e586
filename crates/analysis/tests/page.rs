//! The reference page of figures and columns.

use std::path::PathBuf;

#[test]
fn the_page_of_figures_and_columns_is_current() {
    let path = "../../docs/reference/quantities.md";
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    let page = analysis::page::page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        assert!(std::fs::write(&file, &page).is_ok(), "{}", file.display());
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == page, "{path} is old: run with UPDATE_DOCS=1");
}
