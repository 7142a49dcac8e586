//! The configuration fragment, and the options of it that a kernel source accepted.

use std::collections::BTreeMap;

/// The lab's fragment, applied on top of `allnoconfig`.
pub(super) const FRAGMENT: &str = include_str!("../lab.config");

/// One line of the fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// `CONFIG_...`
    pub(super) name: String,
    /// `y`, `n`, a number or a string.
    pub(super) value: String,
    /// The lab cannot work without it.
    pub(super) required: bool,
}

/// The options of the lab's fragment and of another one, whose values replace those of the first.
pub(super) fn wanted(more: Option<&str>) -> Vec<Wanted> {
    let more = parse_fragment(more.unwrap_or_default());
    let mut all = parse_fragment(FRAGMENT);
    all.retain(|lab| more.iter().all(|other| other.name != lab.name));
    all.extend(more);
    all
}

/// True if a kernel with these options beyond those of the lab has modules.
pub(super) fn has_modules(more: Option<&str>) -> bool {
    let all = wanted(more);
    all.iter()
        .any(|w| w.name == "CONFIG_MODULES" && w.value == "y")
}

/// Reads a fragment. `# required` at the end of a line marks options that the lab cannot do
/// without.
pub(super) fn parse_fragment(text: &str) -> Vec<Wanted> {
    text.lines()
        .filter_map(|line| {
            let (option, comment) = line.split_once('#').unwrap_or((line, ""));
            let (name, value) = option.trim().split_once('=')?;
            Some(Wanted {
                name: name.to_owned(),
                value: value.to_owned(),
                required: comment.trim() == "required",
            })
        })
        .collect()
}

/// The fragment as Kconfig reads it, which has no comments after a value.
pub(super) fn for_kconfig(wanted: &[Wanted]) -> String {
    wanted
        .iter()
        .map(|w| format!("{}={}\n", w.name, w.value))
        .collect()
}

/// The options of a `.config` that are set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Config(BTreeMap<String, String>);

impl Config {
    /// Reads a `.config`.
    pub(super) fn parse(text: &str) -> Self {
        Self(
            text.lines()
                .filter(|line| line.starts_with("CONFIG_"))
                .filter_map(|line| line.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        )
    }

    /// The value of an option; `None` if it is off.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Missing options.
    pub(super) fn missing<'w>(&self, wanted: &'w [Wanted]) -> Vec<&'w Wanted> {
        wanted
            .iter()
            .filter(|w| match self.get(&w.name) {
                Some(value) => value != w.value,
                None => w.value != "n",
            })
            .collect()
    }

    /// The lower-case endings of the options that begin so and are built in.
    fn built_in(&self, prefix: &str) -> Vec<String> {
        self.0
            .iter()
            .filter(|(_, value)| *value == "y")
            .filter_map(|(name, _)| name.strip_prefix(prefix))
            .map(str::to_ascii_lowercase)
            .collect()
    }

    /// Names of the congestion controls, as in `net.ipv4.tcp_congestion_control`. Reno has no
    /// option: it is always built in (`net/ipv4/tcp_cong.c`).
    pub(super) fn congestion_controls(&self) -> Vec<String> {
        let mut names = self.built_in("CONFIG_TCP_CONG_");
        names.retain(|name| name != "advanced" && name != "hstcp");
        if self.get("CONFIG_TCP_CONG_HSTCP") == Some("y") {
            names.push("highspeed".to_owned()); // net/ipv4/tcp_highspeed.c
        }
        names.push("reno".to_owned());
        names.sort_unstable();
        names
    }

    /// Names of the queueing disciplines, as `tc` takes them.
    pub(super) fn qdiscs(&self) -> Vec<String> {
        let mut names = self.built_in("CONFIG_NET_SCH_");
        names.retain(|name| name != "default" && name != "fifo");
        if self.get("CONFIG_NET_SCH_INGRESS").is_some() {
            names.push("clsact".to_owned());
        }
        if self.get("CONFIG_NET_SCHED").is_some() {
            names.extend(["pfifo", "bfifo", "noqueue"].map(str::to_owned));
        }
        names.sort_unstable();
        names
    }

    /// Kinds of tunnel devices.
    pub(super) fn tunnels(&self) -> Vec<String> {
        const KINDS: &[(&str, &str)] = &[
            ("CONFIG_WIREGUARD", "wireguard"),
            ("CONFIG_TUN", "tun"),
            ("CONFIG_NET_IPIP", "ipip"),
            ("CONFIG_NET_IPGRE", "gre"),
            ("CONFIG_VXLAN", "vxlan"),
            ("CONFIG_GENEVE", "geneve"),
        ];
        KINDS
            .iter()
            .filter(|(option, _)| self.get(option) == Some("y"))
            .map(|(_, kind)| (*kind).to_owned())
            .collect()
    }

    /// Timer ticks a second.
    pub(super) fn hz(&self) -> Option<u32> {
        self.get("CONFIG_HZ")?.parse().ok()
    }

    /// Returns true if it includes the x86 vector code of WireGuard's cipher.
    pub(super) fn simd_crypto(&self) -> bool {
        self.get("CONFIG_CRYPTO_LIB_CHACHA_ARCH") == Some("y")
            && self.get("CONFIG_CRYPTO_LIB_POLY1305_ARCH") == Some("y")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragment_lines_are_read() {
        let wanted =
            parse_fragment("# c\n\nCONFIG_A=y # required\nCONFIG_B=n\nCONFIG_HZ=1000 # why\n");
        assert_eq!(wanted.len(), 3);
        assert!(wanted[0].required && !wanted[1].required && !wanted[2].required);
        assert_eq!(wanted[2].value, "1000");
        assert_eq!(
            for_kconfig(&wanted),
            "CONFIG_A=y\nCONFIG_B=n\nCONFIG_HZ=1000\n"
        );
    }

    #[test]
    fn a_further_option_is_added_or_replaces_that_of_the_lab() {
        let lab = parse_fragment(FRAGMENT);
        assert_eq!(wanted(None), lab);
        let first = &lab[0].name;
        let all = wanted(Some(&format!("{first}=n\nCONFIG_OF_OTHERS=y\n")));
        assert_eq!(all.len(), lab.len() + 1);
        let of = |name: &str| all.iter().filter(|w| w.name == *name).collect::<Vec<_>>();
        assert!(matches!(&of(first)[..], [one] if one.value == "n"));
        assert!(matches!(&of("CONFIG_OF_OTHERS")[..], [one] if one.value == "y"));
    }

    #[test]
    fn ignored_options_are_listed() {
        let wanted =
            parse_fragment("CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\nCONFIG_D=n\nCONFIG_HZ=1000\n");
        let config =
            Config::parse("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_D=y\nCONFIG_HZ=100\n");
        let names: Vec<_> = config
            .missing(&wanted)
            .into_iter()
            .map(|w| w.name.as_str())
            .collect();
        assert_eq!(names, ["CONFIG_B", "CONFIG_D", "CONFIG_HZ"]);
    }

    #[test]
    fn features_carry_the_names_of_the_tools() {
        let config = Config::parse(
            "CONFIG_TCP_CONG_ADVANCED=y\nCONFIG_TCP_CONG_BBR=y\nCONFIG_NET_SCHED=y\nCONFIG_NET_SCH_FQ_CODEL=y\n\
             CONFIG_NET_SCH_INGRESS=y\nCONFIG_NET_SCH_FIFO=y\nCONFIG_WIREGUARD=y\nCONFIG_HZ=1000\n",
        );
        assert_eq!(config.congestion_controls(), ["bbr", "reno"]);
        assert_eq!(
            config.qdiscs(),
            ["bfifo", "clsact", "fq_codel", "ingress", "noqueue", "pfifo"]
        );
        assert_eq!(config.tunnels(), ["wireguard"]);
        assert_eq!(config.hz(), Some(1000));
        assert!(!config.simd_crypto());
    }

    #[test]
    fn the_shipped_fragment_is_sound() {
        let wanted = parse_fragment(FRAGMENT);
        assert!(wanted.len() > 80);
        assert!(wanted.iter().all(|w| w.name.starts_with("CONFIG_")));
        let mut names: Vec<_> = wanted.iter().map(|w| &w.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), wanted.len(), "an option is named twice");
        assert!(
            wanted
                .iter()
                .any(|w| w.name == "CONFIG_UML_TIME_TRAVEL_SUPPORT" && w.required)
        );
    }
}
