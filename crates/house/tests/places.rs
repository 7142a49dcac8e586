//! Files in places that the rules do not allow are found.

#![allow(clippy::unwrap_used)]

use std::path::Path;

fn write(workspace: &Path, file: &str, text: &str) {
    let file = workspace.join("crates/one").join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

#[test]
fn a_mod_file_in_src_is_found_and_helpers_of_tests_are_not() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "src/a/mod.rs", "");
    write(folder.path(), "src/a_tests.rs", "");
    write(folder.path(), "src/a/tests.rs", "");
    write(folder.path(), "tests/common/mod.rs", "");
    let found = house::misplaced(folder.path());
    let source = folder.path().join("crates/one/src");
    assert_eq!(found, [source.join("a/mod.rs"), source.join("a_tests.rs")]);
}

#[test]
fn a_test_file_named_by_a_path_attribute_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let unit = "fn f() {}\n#[cfg(test)]\n#[path = \"tests/a.rs\"]\nmod tests;\n";
    write(folder.path(), "src/a.rs", unit);
    let helper = "#[path = \"../common/mod.rs\"]\nmod common;\nmod cases;\n";
    write(folder.path(), "tests/b/main.rs", helper);
    let feature = "#[cfg_attr(not(feature = \"x\"), path = \"no_x.rs\")]\nmod x;\n";
    write(folder.path(), "src/b.rs", feature);
    let elsewhere = "#[path = \"c/cases.rs\"]\nmod cases;\n";
    write(folder.path(), "tests/c.rs", elsewhere);
    let root = folder.path().join("crates/one");
    assert_eq!(
        house::path_attributes(folder.path()),
        [
            (root.join("src/a.rs"), 3),
            (root.join("src/b.rs"), 1),
            (root.join("tests/c.rs"), 1)
        ]
    );
}
