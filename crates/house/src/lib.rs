//! Rules of this workspace's source that neither rustc nor clippy checks.
//!
//! **Circles.** A module is a file; an inline module belongs to the file it is in. Module A depends
//! on module B when code of A outside of tests names something that B defines, or B itself. An item
//! named through a re-export counts as defined where it is defined. `mod b;`, a re-export
//! (`pub use b::Item;`, of any visibility) and `pub(in crate::a)` are no dependencies. So a parent
//! uses its children or is used by them: what both need is in a module of its own. Items that only
//! a macro generates, and methods of a type that is not named, are not seen.
//!
//! **Files.** The children of `foo.rs` are in `foo/`; there is no `mod.rs` in `src`, and unit tests
//! are in `foo.rs` itself or `foo/tests.rs`. A test program is `tests/foo.rs`, or
//! `tests/foo/main.rs` with its modules next to it; helpers of several test programs are in
//! `tests/NAME/mod.rs`. `#[path]` is used for such helpers only, as `"../NAME/mod.rs"`.
//!
//! **Crates.** A crate uses only crates above it in the table of ARCHITECTURE.md, and none that its
//! column "must not" forbids: `report` uses neither `explain` nor `stats` nor `store`.
//!
//! **Errors.** The documentation of a public function of a library that returns a `Result` states
//! under the heading `# Errors` when it fails.
//!
//! **Comments.** Lines of comments have at most 100 columns, unless they hold a link.

mod attributes;
mod circles;
mod failures;
mod order;
mod paths;
mod resolve;
mod style;
mod tree;

use std::path::{Path, PathBuf};

pub use circles::{Circle, Step};
pub use failures::{Unexplained, unexplained_errors};
pub use order::{breaches, forbidden};
pub use style::{long_comments, misplaced, path_attributes};
pub use tree::ReadError;

/// The circles between the modules of one program or library, whose first file is `root`.
///
/// # Errors
///
/// A file of it is missing or is not Rust.
pub fn circles(root: &Path) -> Result<Vec<Circle>, ReadError> {
    let tree = tree::Tree::read(root)?;
    Ok(circles::find(&resolve::dependencies(&tree)))
}

/// The first files of all libraries and programs in `crates` of a workspace.
pub fn roots(workspace: &Path) -> Vec<PathBuf> {
    let crates = std::fs::read_dir(workspace.join("crates"));
    let folders = crates.into_iter().flatten().flatten();
    let mut roots: Vec<PathBuf> = folders
        .flat_map(|folder| ["lib.rs", "main.rs"].map(|f| folder.path().join("src").join(f)))
        .filter(|file| file.exists())
        .collect();
    roots.sort();
    roots
}
