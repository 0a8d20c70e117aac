//! Top-level domains that a bare name may end in and still be read as a web address.

/// Left out on purpose: those that file names, code and prose end in as well (`.py`, `.md`, `.rs`,
/// `.is`, `.name`, `.so`, `.id`, `.it`, `.in`).
const COMMON: &[&str] = &[
    "ac", "ae", "ai", "app", "ar", "asia", "at", "au", "be", "bg", "biz", "blog", "br", "by", "ca",
    "cat", "ch", "cl", "cloud", "club", "cn", "co", "com", "coop", "cz", "de", "dev", "dk", "edu",
    "ee", "es", "eu", "fi", "fm", "fr", "gg", "gov", "gr", "hk", "hr", "hu", "ie", "il", "info",
    "int", "io", "ir", "jobs", "jp", "ke", "kr", "kz", "lt", "lu", "lv", "ly", "mil", "mobi",
    "museum", "mx", "my", "net", "ng", "nl", "no", "nu", "nz", "online", "org", "pe", "ph", "pk",
    "pro", "pt", "ro", "ru", "sa", "se", "sg", "shop", "si", "site", "sk", "store", "tech", "th",
    "tk", "tn", "tr", "travel", "tv", "tw", "ua", "uk", "us", "uy", "uz", "ve", "vn", "xyz", "za",
];

pub(crate) fn is_common(label: &str) -> bool {
    label.len() <= 6
        && COMMON
            .binary_search(&label.to_ascii_lowercase().as_str())
            .is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_is_sorted_for_the_binary_search() {
        assert!(super::COMMON.is_sorted());
    }
}
