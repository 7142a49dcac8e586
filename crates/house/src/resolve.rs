//! Resolution of paths to modules.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    paths::Named,
    tree::{Module, Place, Tree},
};

/// Longest chain of re-exports that is followed.
const DEPTH: usize = 16;

/// Dependencies between modules, with the file and line that first states each.
pub(crate) type Dependencies = BTreeMap<Place, BTreeMap<Place, (PathBuf, usize)>>;

/// The dependencies between the files of a crate.
pub(crate) fn dependencies(tree: &Tree) -> Dependencies {
    let mut all = Dependencies::new();
    for (place, module) in &tree.modules {
        let of = all.entry(module.unit.clone()).or_default();
        for named in &module.named {
            let Some(target) = target(tree, place, module, named) else {
                continue;
            };
            if target != module.unit {
                let at = (Path::new(&named.file).to_owned(), named.line);
                of.entry(target).or_insert(at);
            }
        }
    }
    all
}

/// The file that a path in a module depends on.
fn target(tree: &Tree, place: &Place, module: &Module, named: &Named) -> Option<Place> {
    if let [name] = &named.path[..] {
        // A word alone may be a variable. It is foreign only if it is imported.
        let imported = module.imports.get(name).filter(|_| !named.import);
        let End::Item(at) = resolve(tree, place, imported?, DEPTH)? else {
            return None;
        };
        return Some(tree.modules.get(&at)?.unit.clone());
    }
    let (End::Item(at) | End::Module(at)) = resolve(tree, place, &named.path, DEPTH)?;
    Some(tree.modules.get(&at)?.unit.clone())
}

/// Target of a path.
enum End {
    /// At an item that this module defines.
    Item(Place),
    /// At a module.
    Module(Place),
}

/// Resolves a path used in the module `from`; `None` if it leaves the crate.
fn resolve(tree: &Tree, from: &Place, path: &[String], depth: usize) -> Option<End> {
    let depth = depth.checked_sub(1)?;
    let first = path.first()?;
    match first.as_str() {
        "crate" => walk(tree, Vec::new(), &path[1..], depth),
        "self" => walk(tree, from.clone(), &path[1..], depth),
        "super" => {
            let mut at = from.clone();
            let ups = path.iter().take_while(|s| *s == "super").count();
            for _ in 0..ups {
                at.pop()?;
            }
            walk(tree, at, &path[ups..], depth)
        }
        name => {
            let module = tree.modules.get(from)?;
            let known = module.children.contains(name)
                || module.items.contains(name)
                || module.imports.contains_key(name)
                // `use name::...` of another crate imports itself.
                    && module.imports.get(name).is_none_or(|path| path.first() != Some(first));
            known.then(|| walk(tree, from.clone(), path, depth))?
        }
    }
}

/// Follows names downward from a module.
fn walk(tree: &Tree, mut at: Place, mut path: &[String], depth: usize) -> Option<End> {
    loop {
        let module = tree.modules.get(&at)?;
        let Some(name) = path.first() else {
            return Some(End::Module(at));
        };
        if module.children.contains(name) && (path.len() > 1 || !module.items.contains(name)) {
            at.push(name.clone());
            path = &path[1..];
            continue;
        }
        if module.items.contains(name) {
            return Some(End::Item(at));
        }
        if let Some(import) = module.imports.get(name) {
            return match resolve(tree, &at, import, depth)? {
                End::Module(target) => walk(tree, target, &path[1..], depth),
                item => Some(item),
            };
        }
        return glob(tree, &at, module, path, depth).or(Some(End::Item(at)));
    }
}

/// A name that a module may have from another by `use other::*`.
fn glob(tree: &Tree, at: &Place, module: &Module, path: &[String], depth: usize) -> Option<End> {
    let depth = depth.checked_sub(1)?;
    module.globs.iter().find_map(|glob| {
        let End::Module(source) = resolve(tree, at, glob, depth)? else {
            return None;
        };
        let has = tree.modules.get(&source)?;
        let name = path.first()?;
        let there = has.items.contains(name)
            || has.children.contains(name)
            || has.imports.contains_key(name);
        there.then(|| walk(tree, source, path, depth))?
    })
}
