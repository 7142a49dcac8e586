//! The macro that makes texts.

/// Makes a [`Text`](crate::text::Text) from a template and the values for the names in its braces,
/// which are checked at compile time. A value is a [`Value`](crate::text::Value): a figure with its
/// unit, a name, or a nested text. A capitalised name begins a sentence.
///
/// ```
/// use model::{text, text::Value};
///
/// let text = text!("{cc} gets {rate}", cc = "cubic", rate = Value::Bps(1e6));
/// assert_eq!(text.to_string(), "cubic gets 1 Mbit/s");
/// ```
#[macro_export]
macro_rules! text {
    ($template:literal $(,)?) => {{
        // Never run: a name in braces without a value is a compile error. `concat!` prevents
        // capturing variables of the caller.
        if false {
            let _ = ::std::format_args!(::std::concat!($template));
        }
        $crate::text::Text::fixed($template)
    }};
    ($template:literal, $($name:ident = $value:expr),+ $(,)?) => {{
        // Never run: the compiler checks names and values.
        if false {
            let _ = ::std::format_args!(::std::concat!($template), $($name = ""),+);
        }
        $crate::text::Text::with(
            $template,
            [$((::std::stringify!($name), $crate::text::Value::from($value))),+],
        )
    }};
}
