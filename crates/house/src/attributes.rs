//! Meaning of attributes for the code behind them.

use syn::Attribute;

/// Returns true if something exists in tests only.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let test = |text: String| text == "test" || text.starts_with("all (test");
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if test(list.tokens.to_string()))
    })
}

/// The value of `#[path = "..."]`.
pub(crate) fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let value = match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => &pair.value,
            _ => return None,
        };
        match value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        }
    })
}
