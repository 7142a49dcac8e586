//! Rules for the documents that commands keep in the history by themselves.

/// Label with the name of the host that measured a run, or from which a change was made.
pub const HOST: &str = "host";

/// Returns true if a result is kept: that of a lab path, which can be computed again, only if the
/// user names the history.
pub fn is_kept(is_lab: bool, is_named: bool) -> bool {
    !is_lab || is_named
}

/// The labels of a kept run: those given, and the host that measured it unless one is given or the
/// path is one of the lab. The name is not part of the run, which people show to others; many hosts
/// may write to one history.
pub fn labels_of(
    is_lab: bool,
    given: &[(String, String)],
    host: impl FnOnce() -> String,
) -> Vec<(String, String)> {
    let mut labels = given.to_vec();
    if !is_lab && !labels.iter().any(|(name, _)| name == HOST) {
        labels.insert(0, (HOST.to_owned(), host()));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_path_is_kept_only_where_the_user_names() {
        assert!(is_kept(false, false) && is_kept(false, true) && is_kept(true, true));
        assert!(!is_kept(true, false));
    }

    #[test]
    fn a_given_host_is_not_replaced() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let host = || "ann".to_owned();
        let line = [pair("line", "dsl")];
        assert_eq!(
            labels_of(false, &line, host),
            [pair("host", "ann"), line[0].clone()]
        );
        let own = [pair("host", "bob")];
        assert_eq!(labels_of(false, &own, host), own);
        assert_eq!(labels_of(true, &line, host), line);
    }
}
