//! How texts are made.

/// A [`Text`](crate::text::Text) from a template and the values for the names in its braces, which
/// the compiler compares. A value is a [`Value`](crate::text::Value): a figure with its unit, a
/// name, or again a text. The value of a name with a capital letter in front begins a sentence.
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
        // Never run: a name in braces without a value is an error. `concat!` keeps it from being
        // looked for around this.
        if false {
            let _ = ::std::format_args!(::std::concat!($template));
        }
        $crate::text::Text::fixed($template)
    }};
    ($template:literal, $($name:ident = $value:expr),+ $(,)?) => {{
        // Never run: the compiler compares names and values.
        if false {
            let _ = ::std::format_args!(::std::concat!($template), $($name = ""),+);
        }
        $crate::text::Text::with(
            $template,
            [$((::std::stringify!($name), $crate::text::Value::from($value))),+],
        )
    }};
}
