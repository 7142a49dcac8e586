//! The macro that makes words of the page.

/// Makes a function for each word, whose arguments are the values of its text, and the list of all
/// templates.
macro_rules! labels {
    ($($name:ident $(($($value:ident),+))? : $english:literal,)+) => {
        $(
            pub(crate) fn $name($($($value: impl Into<Value>),+)?) -> Text {
                labels!(@text $english $(, $($value),+)?)
            }
        )+

        #[cfg(test)]
        pub(crate) const TEMPLATES: &[&str] = &[$($english),+];
    };
    // With braces: `text!` in parentheses is for templates that the tests extract from the sources.
    (@text $english:literal) => { text! { $english } };
    (@text $english:literal, $($value:ident),+) => {
        text! { $english, $($value = Into::<Value>::into($value)),+ }
    };
}

pub(super) use labels;
