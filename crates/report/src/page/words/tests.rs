use super::*;

#[test]
fn numbers_choose_the_plural() {
    let words = Words::new(Lang::English);
    let flows = |n: u32| words.label(label::flows(n));
    assert_eq!([flows(1), flows(8)], ["1 flow", "8 flows"]);
}

/// A name that a script uses, and that the page does not give it, is the text `undefined`.
#[test]
fn scripts_get_all_texts_that_they_use() {
    let page = include_str!("../assets/page.js");
    let quoted = page.split("words[\"").skip(1);
    let quoted = quoted.filter_map(|rest| rest.split('"').next());
    let plain = page.split("words.").skip(1);
    let end = |c: char| !c.is_ascii_alphanumeric();
    let plain = plain.filter_map(|rest| rest.split(end).next());
    let given = crate::page::frame::script_words().map(|(name, _)| name);
    let used: Vec<&str> = quoted.chain(plain).collect();
    assert!(used.len() > given.len());
    for name in &used {
        assert!(given.contains(name), "{name}");
    }
    for name in given {
        assert!(used.contains(&name), "{name} is not used");
    }
}
