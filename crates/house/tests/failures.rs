//! A public function that can fail and does not say when is found.

#![allow(clippy::unwrap_used)]

/// Names of the functions that are found in a library of this one file.
fn found(file: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("crates/one/src");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join(file), text).unwrap();
    let found = house::unexplained_errors(folder.path()).unwrap();
    found.into_iter().map(|f| f.function).collect()
}

#[test]
fn a_public_function_that_can_fail_without_saying_when() {
    let text = "
        /// Reads.
        pub fn read() -> std::io::Result<()> { Ok(()) }
        /// Writes.
        ///
        /// # Errors
        /// The disk is full.
        pub fn write() -> Result<(), Full> { Ok(()) }
        pub struct Full;
        impl Full {
            /// Makes room.
            pub fn make_room(&self) -> Result<(), Self> { Ok(()) }
        }
        pub trait Store {
            /// Opens it.
            fn open(&self) -> Result<(), Full>;
        }
        pub mod inner {
            /// # Errors
            ///
            /// Always.
            pub fn fails() -> Result<(), ()> { Err(()) }
            pub fn too() -> Result<(), ()> { Err(()) }
        }
    ";
    assert_eq!(found("lib.rs", text), ["read", "make_room", "open", "too"]);
}

#[test]
fn infallible_or_private_functions_need_no_heading() {
    let text = "
        pub fn number() -> u32 { 1 }
        pub fn nothing() {}
        fn own() -> Result<(), ()> { Ok(()) }
        pub(crate) fn shared() -> Result<(), ()> { Ok(()) }
        trait Own { fn open(&self) -> Result<(), ()>; }
        pub struct Text;
        impl std::str::FromStr for Text {
            type Err = ();
            fn from_str(_: &str) -> Result<Self, ()> { Ok(Self) }
        }
        #[cfg(test)]
        pub mod tests { pub fn help() -> Result<(), ()> { Ok(()) } }
    ";
    assert_eq!(found("lib.rs", text), Vec::<String>::new());
}

#[test]
fn programs_without_a_library_have_no_public_functions() {
    let text = "pub fn run() -> Result<(), ()> { Ok(()) } fn main() {}";
    assert_eq!(found("main.rs", text), Vec::<String>::new());
}

#[test]
fn a_place_is_named_by_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("crates/one/src");
    std::fs::create_dir_all(source.join("deep")).unwrap();
    std::fs::write(source.join("lib.rs"), "mod deep;").unwrap();
    let file = source.join("deep/er.rs");
    std::fs::write(&file, "\n\n/// X.\npub fn x() -> Result<(), ()> { Ok(()) }").unwrap();
    let found = house::unexplained_errors(folder.path()).unwrap();
    assert_eq!((found[0].file.clone(), found[0].line), (file, 4));
}
