//! The configuration file: flat TOML, no key that is not a setting.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::sources::{Origin, Raw};
use super::{TABLE, find};
use crate::failure::Failure;

/// Reads the file. A fault names the file and the line, and never shows the line: it may hold a secret.
pub(super) fn read(path: &Path) -> Result<BTreeMap<&'static str, Raw>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let text = format!("{} cannot be read: {error}", path.display());
        Failure::usage("unreadable_config", text)
    })?;
    parse(&text, path)
}

pub(super) fn parse(text: &str, path: &Path) -> Result<BTreeMap<&'static str, Raw>, Failure> {
    let line_of = |span: Range<usize>| line(text, span.start);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, line_of);
        // Only the kind of fault: the message can quote a key or a value.
        let what = format!("{}:{line}: this is not TOML", path.display());
        Failure::usage(
            "invalid_config",
            format!("{what} ({})", fault(error.message())),
        )
    })?;
    let mut values = BTreeMap::new();
    for (key, value) in table.get_ref() {
        let line = line_of(key.span());
        let at = format!("{}:{line}", path.display());
        let name = key.get_ref();
        let Some(setting) = find(name) else {
            let text = format!("{at}: there is no setting {name:?}{}", hint(name));
            return Err(Failure::usage("unknown_setting", text));
        };
        let Some(text) = scalar(value.get_ref()) else {
            let text = format!("{at}: {name} needs a string, a whole number or a boolean");
            return Err(Failure::usage("invalid_setting", text));
        };
        let path = path.to_owned();
        let origin = Origin::File { path, line };
        values.insert(setting.key, Raw { text, origin });
    }
    Ok(values)
}

fn line(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    before.matches('\n').count() + 1
}

/// The parser's sentence up to anything it quotes.
fn fault(message: &str) -> &str {
    let end = message
        .find(['`', '"', '\n', '\''])
        .unwrap_or(message.len());
    message[..end].trim_end_matches([' ', ',', ':'])
}

fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Boolean(switch) => Some(switch.to_string()),
        _ => None,
    }
}

/// The setting that was probably meant.
fn hint(name: &str) -> String {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let close = TABLE
        .iter()
        .map(|setting| (distance(&plain(setting.key), &plain(name)), setting.key))
        .min();
    match close {
        Some((distance, key)) if distance <= 2 => format!("; did you mean {key:?}?"),
        _ => "; see throughline serve --help for all of them".to_owned(),
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replace = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let parsed = parse(text, Path::new("config.toml"));
        parsed.err().expect("the file is refused").to_string()
    }

    #[test]
    fn an_unknown_key_is_refused_with_file_and_line() {
        assert_eq!(
            error("# a comment\nlisten = \"127.0.0.1:1\"\npol_size = 3\n"),
            "unknown_setting: config.toml:3: there is no setting \"pol_size\"; did you mean \"pool_size\"?"
        );
        assert!(error("[server]\nlisten = 1\n").contains("config.toml:1: there is no setting"));
    }

    #[test]
    fn a_fault_never_shows_the_line() {
        let secret = ["hun", "ter2"].concat();
        for text in [
            format!("\ndatabase_url = \"{secret}\nlisten = 1"),
            format!("\ndatabase_url = {secret}"),
            format!("\ndatabase_url = \"a\" {secret}"),
            format!("\ndatabase_url = [\"{secret}\"]"),
            format!("\n\"{secret}"),
        ] {
            let error = error(&text);
            assert!(!error.contains(&secret), "{error}");
            assert!(error.contains("config.toml:2"), "{error}");
        }
    }

    #[test]
    fn numbers_and_booleans_need_no_quotes() {
        let values = parse("pool_size = 1_000\nmigrate = true", Path::new("c"))
            .ok()
            .unwrap();
        assert_eq!(values["pool_size"].text, "1000");
        assert_eq!(values["migrate"].text, "true");
    }
}
