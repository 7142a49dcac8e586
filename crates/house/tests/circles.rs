//! Detection of deliberate circles, without false alarms.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

/// The circles of a crate of these files, as lists of their modules.
fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let found = house::circles(&folder.path().join("lib.rs")).unwrap();
    let modules = |c: house::Circle| c.0.into_iter().map(|step| step.module).collect();
    found.into_iter().map(modules).collect()
}

fn one(files: &[(&str, &str)], modules: &[&str]) {
    let found = circles(files);
    assert_eq!(found.len(), 1, "{found:?}");
    let mut names = found[0].clone();
    names.sort();
    assert_eq!(names, modules);
}

#[test]
fn two_modules_that_use_each_other() {
    let a = ("a.rs", "use crate::b::B; pub struct A; pub fn f(_: B) {}");
    let b = ("b.rs", "pub struct B; pub fn g() { crate::a::f(B) }");
    one(
        &[("lib.rs", "mod a; mod b;"), a, b],
        &["crate::a", "crate::b"],
    );
}

#[test]
fn a_circle_names_the_location_of_each_step() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a;\nmod b;");
    write("a.rs", "\nuse crate::b::B;\npub struct A(B);");
    write("b.rs", "pub struct B;\n\n\nfn f(_: super::a::A) {}");
    let found = house::circles(&folder.path().join("lib.rs")).unwrap();
    let text = found[0].to_string();
    assert!(
        text.starts_with("crate::a -> crate::b -> crate::a\n"),
        "{text}"
    );
    assert!(
        text.contains("a.rs:2\n") && text.ends_with("b.rs:4"),
        "{text}"
    );
}

#[test]
fn three_modules_in_a_ring_behind_a_re_export() {
    let lib = ("lib.rs", "mod a; mod b; mod c; pub use c::C;");
    let a = ("a.rs", "pub fn a() { crate::b::b() }");
    let b = ("b.rs", "pub fn b() { let _ = crate::C; }");
    let c = (
        "c.rs",
        "pub struct C; fn c() { let run = 1; println!(\"{}\", crate::a::a()) }",
    );
    one(&[lib, a, b, c], &["crate::a", "crate::b", "crate::c"]);
}

#[test]
fn a_module_used_by_its_dependency_through_a_parent() {
    let lib = ("lib.rs", "mod p; mod v;");
    let p = ("p.rs", "mod k; pub fn run() { k::k() }");
    let k = ("p/k.rs", "pub fn k() { crate::v::v() }");
    let v = ("v.rs", "pub fn v() { crate::p::run() }");
    one(&[lib, p, k, v], &["crate::p", "crate::p::k", "crate::v"]);
}

#[test]
fn a_parent_and_a_child_that_use_each_other() {
    let lib = ("lib.rs", "mod p;");
    let p = ("p.rs", "mod k; fn helper() {} pub fn run() { k::k() }");
    let k = ("p/k.rs", "pub fn k() { super::helper() }");
    one(&[lib, p, k], &["crate::p", "crate::p::k"]);
    // Also if only another child is used, which uses that one, and if the parent is the root.
    let p = (
        "p.rs",
        "mod k; mod l; fn helper() {} pub fn run() { l::l() }",
    );
    let l = ("p/l.rs", "pub fn l() { super::k::k() }");
    one(&[lib, p, k, l], &["crate::p", "crate::p::k", "crate::p::l"]);
    let lib = ("lib.rs", "mod a; use a::A; pub fn f(_: A) {} pub struct B;");
    one(
        &[lib, ("a.rs", "pub struct A(crate::B);")],
        &["crate", "crate::a"],
    );
}

#[test]
fn a_parent_that_only_declares_its_children_or_is_only_used_by_them() {
    let lib = ("lib.rs", "mod p; mod q;");
    let p = ("p.rs", "mod k; mod l; pub use l::L;");
    let k = (
        "p/k.rs",
        "use super::{L, l::of}; pub(in crate::p) fn k(_: L) { of() }",
    );
    let l = ("p/l.rs", "pub struct L; pub fn of() {}");
    let q = ("q.rs", "pub mod m; pub struct Q;");
    let m = ("q/m.rs", "pub struct M(super::Q);");
    assert_eq!(circles(&[lib, p, k, l, q, m]), Vec::<Vec<String>>::new());
    let lib = ("lib.rs", "mod a; mod b;");
    let a = ("a.rs", "pub(in crate::b) struct A;");
    let b = ("b.rs", "fn f(_: crate::a::A) {}");
    assert_eq!(circles(&[lib, a, b]), Vec::<Vec<String>>::new());
}

#[test]
fn imports_by_glob_and_in_functions_and_in_attributes_count() {
    let lib = ("lib.rs", "mod a; mod b; mod c; mod d;");
    let a = ("a.rs", "use crate::b::*; pub fn f() {}");
    let b = ("b.rs", "pub fn g() { use crate::a::f; f() }");
    let c = ("c.rs", "#[arg(value = crate::d::parse)] pub struct C;");
    let d = ("d.rs", "pub fn parse(_: crate::c::C) {}");
    assert_eq!(circles(&[lib, a, b, c, d]).len(), 2);
}

#[test]
fn declaring_re_exporting_and_tests_make_no_circle() {
    let lib = ("lib.rs", "mod p; pub(crate) use p::{k::K, run};");
    let p = (
        "p.rs",
        "pub(crate) mod k; mod l; pub(crate) use k::K; pub struct Shared; pub(crate) fn run() {}
         #[cfg(test)] mod tests { use super::k::K; fn t() { crate::p::k::f(); } }",
    );
    let k = (
        "p/k.rs",
        "use super::{Shared, run}; pub struct K(Shared); pub fn f() { let l = 2; run(); crate::run() }",
    );
    // Through the parent's re-export it uses its sibling, not the parent.
    let l = ("p/l.rs", "use super::K; fn f(_: K) {}");
    assert_eq!(circles(&[lib, p, k, l]), Vec::<Vec<String>>::new());
}

#[test]
fn inline_modules_and_other_crates_are_no_modules_of_their_own() {
    let lib = ("lib.rs", "mod a; mod b;");
    let a = (
        "a.rs",
        "use std::fmt; pub mod code { use super::X; pub struct Y(X); } pub struct X;
         fn f(_: code::Y) -> fmt::Result { serde::b::f(); Ok(()) }",
    );
    let b = ("b.rs", "use crate::a::code::Y; pub fn f(_: Y) {}");
    assert_eq!(circles(&[lib, a, b]), Vec::<Vec<String>>::new());
}
