//! Names of sets of runs.

/// Meaning of the name of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Set<'a> {
    /// The newest runs, `last:5`.
    Last(u64),
    /// The runs before those of the other set, `before:20`.
    Before(u64),
    /// The runs with a label, `label:cc=bbr`.
    Label(&'a str, &'a str),
    /// Files and ids, with commas between them.
    These(Vec<&'a str>),
}

/// Error in the name of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSet {
    text: String,
    why: &'static str,
}

impl std::fmt::Display for NoSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} is no set of runs: {}", self.text, self.why)
    }
}

impl std::error::Error for NoSet {}

impl<'a> Set<'a> {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// A number or a label is not one, or a name in a list is empty.
    pub fn parse(text: &'a str) -> Result<Self, NoSet> {
        let no = |why| NoSet {
            text: text.to_owned(),
            why,
        };
        let number = |n: &str| match n.parse::<u64>() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(no("give a number, as last:5")),
        };
        match text.split_once(':') {
            Some(("last", n)) => Ok(Self::Last(number(n)?)),
            Some(("before", n)) => Ok(Self::Before(number(n)?)),
            Some(("label", label)) => match label.split_once('=') {
                Some((name, value)) => Ok(Self::Label(name, value)),
                None => Err(no("give label:NAME=VALUE")),
            },
            _ if text.split(',').all(|part| !part.is_empty()) => {
                Ok(Self::These(text.split(',').collect()))
            }
            _ => Err(no("a name in it is empty")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        assert_eq!(Set::parse("last:5"), Ok(Set::Last(5)));
        assert_eq!(Set::parse("before:20"), Ok(Set::Before(20)));
        assert_eq!(Set::parse("label:cc=bbr=2"), Ok(Set::Label("cc", "bbr=2")));
        assert_eq!(
            Set::parse("3f2a,run.json"),
            Ok(Set::These(vec!["3f2a", "run.json"]))
        );
    }

    #[test]
    fn invalid_sets_are_refused() {
        for text in [
            "", "a,", ",", "last:", "last:0", "last:-1", "before:x", "label:cc",
        ] {
            let error = Set::parse(text).unwrap_err().to_string();
            assert!(error.contains("no set of runs"), "{error}");
        }
    }
}
