//! Paths in code: in `use`, in types and expressions, in macros and attributes.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::{Attribute, ImplItem, Item, ItemUse, Macro, UseTree, Visibility, visit::Visit};

use crate::attributes::is_test;

/// A path in code.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// Its segments.
    pub(crate) path: Vec<String>,
    /// True if it is in a `use` that is not a re-export.
    pub(crate) import: bool,
    /// The file.
    pub(crate) file: PathBuf,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// Collects the names in code.
pub(crate) struct Names<'a> {
    file: &'a Path,
    /// See [`crate::tree::Module::imports`].
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    /// See [`crate::tree::Module::globs`].
    pub(crate) globs: Vec<Vec<String>>,
    /// See [`crate::tree::Module::named`].
    pub(crate) named: Vec<Named>,
}

impl<'a> Names<'a> {
    /// Of code in `file`.
    pub(crate) fn new(file: &'a Path) -> Self {
        Self {
            file,
            imports: BTreeMap::new(),
            globs: Vec::new(),
            named: Vec::new(),
        }
    }

    fn name(&mut self, path: Vec<String>, import: bool, line: usize) {
        self.named.push(Named {
            path,
            import,
            file: self.file.to_owned(),
            line,
        });
    }

    fn import(&mut self, before: &[String], tree: &UseTree, reexport: bool) {
        let with = |name: &syn::Ident| {
            let mut path = before.to_vec();
            path.push(name.to_string());
            path
        };
        let (as_name, path, line) = match tree {
            UseTree::Path(path) => return self.import(&with(&path.ident), &path.tree, reexport),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree, reexport);
                }
                return;
            }
            UseTree::Glob(glob) => {
                self.globs.push(before.to_vec());
                let line = glob.star_token.spans[0].start().line;
                if !reexport {
                    self.name(before.to_vec(), true, line);
                }
                return;
            }
            UseTree::Name(name) if name.ident == "self" => {
                let own = before.last().cloned().unwrap_or_default();
                (own, before.to_vec(), name.ident.span().start().line)
            }
            UseTree::Name(name) => {
                let line = name.ident.span().start().line;
                (name.ident.to_string(), with(&name.ident), line)
            }
            UseTree::Rename(name) => {
                let path = match name.ident == "self" {
                    true => before.to_vec(),
                    false => with(&name.ident),
                };
                (
                    name.rename.to_string(),
                    path,
                    name.ident.span().start().line,
                )
            }
        };
        if !reexport {
            self.name(path.clone(), true, line);
        }
        self.imports.insert(as_name, path);
    }

    /// Paths in unparsed tokens: names with `::` between them.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.flush(&mut path, line);
                        line = name.span().start().line;
                    }
                    path.push(name.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(p)
                    if p.as_char() == ':' && (colons == 1 || p.spacing() == Spacing::Joint) =>
                {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
            colons = 0;
            self.flush(&mut path, line);
        }
        self.flush(&mut path, line);
    }

    fn flush(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            self.name(std::mem::take(path), false, line);
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let test = matches!(item, ImplItem::Fn(function) if is_test(&function.attrs));
        if !test {
            syn::visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let reexport = !matches!(item.vis, Visibility::Inherited);
        self.import(&[], &item.tree, reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|s| s.ident.to_string()).collect();
            let line = path
                .segments
                .first()
                .map_or(0, |s| s.ident.span().start().line);
            self.name(names, false, line);
        }
        syn::visit::visit_path(self, path);
    }

    /// `pub(in crate::a)` uses nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.tokens(call.tokens.clone());
        syn::visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
