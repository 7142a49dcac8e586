//! Public functions without documented errors.

use std::path::{Path, PathBuf};

use syn::{
    Attribute, Expr, ExprLit, ImplItemFn, ItemFn, ItemMod, ItemTrait, Lit, Meta, ReturnType,
    Signature, TraitItemFn, Type, Visibility, visit, visit::Visit,
};

use crate::{attributes::is_test, style::sources, tree::ReadError};

/// A public function of a library that returns a `Result` and has no heading `# Errors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// Name of the function.
    pub function: String,
}

/// The public functions in the libraries of a workspace that can fail without documented errors,
/// under a heading `# Errors` of their documentation.
///
/// Items marked `pub` count as public: the lint `unreachable_pub` ensures that no others are.
///
/// # Errors
///
/// A file is not Rust.
pub fn unexplained_errors(workspace: &Path) -> Result<Vec<Unexplained>, ReadError> {
    let mut found = Vec::new();
    for file in sources(workspace) {
        let is_source = file.components().any(|c| c.as_os_str() == "src");
        let is_tests = file.file_stem().is_some_and(|stem| stem == "tests");
        if !is_source || is_tests || !is_library(&file) {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|e| ReadError::File(file.clone(), e))?;
        let parsed = syn::parse_file(&text).map_err(|e| ReadError::Syntax(file.clone(), e))?;
        let mut functions = Functions {
            file: &file,
            found: &mut found,
        };
        functions.visit_file(&parsed);
    }
    Ok(found)
}

/// Returns true if a file belongs to a crate with a library.
fn is_library(file: &Path) -> bool {
    let sources = file
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|n| n == "src"));
    sources.is_some_and(|folder| folder.join("lib.rs").exists())
}

struct Functions<'a> {
    file: &'a Path,
    found: &'a mut Vec<Unexplained>,
}

impl Functions<'_> {
    fn check(&mut self, attributes: &[Attribute], signature: &Signature) {
        if can_fail(signature) && !has_heading(attributes) {
            self.found.push(Unexplained {
                file: self.file.to_owned(),
                line: signature.ident.span().start().line,
                function: signature.ident.to_string(),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if is_public(&function.vis) && !is_test(&function.attrs) {
            self.check(&function.attrs, &function.sig);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if is_public(&function.vis) && !is_test(&function.attrs) {
            self.check(&function.attrs, &function.sig);
        }
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        if is_public(&item.vis) {
            visit::visit_item_trait(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.check(&function.attrs, &function.sig);
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn can_fail(signature: &Signature) -> bool {
    let ReturnType::Type(_, returned) = &signature.output else {
        return false;
    };
    let Type::Path(path) = &**returned else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == "Result")
}

/// Returns true if the documentation has the heading.
fn has_heading(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => text.value().trim() == "# Errors",
            _ => false,
        },
        _ => false,
    })
}
