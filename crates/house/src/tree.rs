//! The modules of a crate: their files, definitions, imports and names.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use syn::{Item, ItemMod, visit::Visit};

use crate::{
    attributes::{is_test, path_attribute},
    paths::{Named, Names},
};

/// Error reading a crate.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error("read {0}: {1}")]
    File(PathBuf, io::Error),
    /// A file is not Rust.
    #[error("{0}: {1}")]
    Syntax(PathBuf, syn::Error),
    /// A module has no file.
    #[error("{0}: there is no file of the module {1}")]
    NoFile(PathBuf, String),
}

/// Place of a module: the names from the root of its crate.
pub(crate) type Place = Vec<String>;

/// One module.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The module whose file contains it: the module itself, unless it is inline.
    pub(crate) unit: Place,
    /// Child modules.
    pub(crate) children: BTreeSet<String>,
    /// Names it defines.
    pub(crate) items: BTreeSet<String>,
    /// Names it imports, and from where.
    pub(crate) imports: BTreeMap<String, Vec<String>>,
    /// Modules of which it imports everything.
    pub(crate) globs: Vec<Vec<String>>,
    /// Every path in its code.
    pub(crate) named: Vec<Named>,
}

/// All modules of a crate outside of its tests.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// By place.
    pub(crate) modules: BTreeMap<Place, Module>,
}

impl Tree {
    /// Reads the crate whose first file is `root`.
    pub(crate) fn read(root: &Path) -> Result<Self, ReadError> {
        let mut tree = Self::default();
        let folder = root.parent().unwrap_or(Path::new("."));
        tree.file(Vec::new(), root, folder)?;
        Ok(tree)
    }

    /// Reads a module that has a file; the files of its children are in `folder`.
    fn file(&mut self, place: Place, file: &Path, folder: &Path) -> Result<(), ReadError> {
        let text =
            std::fs::read_to_string(file).map_err(|e| ReadError::File(file.to_owned(), e))?;
        let parsed = syn::parse_file(&text).map_err(|e| ReadError::Syntax(file.to_owned(), e))?;
        let source = Source {
            unit: place.clone(),
            file,
        };
        self.items(place, &source, folder, &parsed.items)
    }

    fn items(
        &mut self,
        place: Place,
        source: &Source<'_>,
        folder: &Path,
        items: &[Item],
    ) -> Result<(), ReadError> {
        let mut children = Vec::new();
        let mut names = Names::new(source.file);
        for item in items {
            match item {
                Item::Mod(child) if !is_test(&child.attrs) => children.push(child),
                Item::Mod(_) => {}
                item => names.visit_item(item),
            }
        }
        // Two files may implement one module, chosen by a feature: both count.
        let module = self.modules.entry(place.clone()).or_default();
        module.unit.clone_from(&source.unit);
        module.items.extend(items.iter().filter_map(defined));
        module.imports.extend(names.imports);
        module.globs.extend(names.globs);
        module.named.extend(names.named);
        let inner: Vec<String> = children.iter().map(|c| c.ident.to_string()).collect();
        module.children.extend(inner);
        for child in children {
            self.child(&place, source, folder, child)?;
        }
        Ok(())
    }

    fn child(
        &mut self,
        parent: &Place,
        source: &Source<'_>,
        folder: &Path,
        child: &ItemMod,
    ) -> Result<(), ReadError> {
        let name = child.ident.to_string();
        let mut place = parent.clone();
        place.push(name.clone());
        let inner = folder.join(&name);
        if let Some((_, items)) = &child.content {
            return self.items(place, source, &inner, items);
        }
        let given = path_attribute(&child.attrs).map(|path| {
            let beside = source.file.parent().unwrap_or(Path::new("."));
            beside.join(path)
        });
        let usual = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
        let mut files = given.into_iter().chain(usual);
        let file = files
            .find(|file| file.exists())
            .ok_or_else(|| ReadError::NoFile(source.file.to_owned(), name))?;
        self.file(place, &file, &inner)
    }
}

/// Location of code.
struct Source<'a> {
    unit: Place,
    file: &'a Path,
}

/// The name that an item defines.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::TraitAlias(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(name.to_string())
}
