//! The two commented samples are the table, written out; this test keeps them so.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Section, Setting, TABLE, file};

/// With this variable set, the test writes the samples in place of comparing them.
const WRITE: &str = "THROUGHLINE_WRITE_SAMPLES";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn written(comment: &str, line: impl Fn(&Setting, &str) -> String) -> String {
    let mut text = comment.to_owned();
    let mut section: Option<Section> = None;
    for setting in TABLE {
        if section.replace(setting.section) != Some(setting.section) {
            write!(text, "\n# == {} ==\n", setting.section.heading()).unwrap();
        }
        text.push('\n');
        for row in wrapped(&setting.help(), 76) {
            writeln!(text, "# {row}").unwrap();
        }
        let (note, value) = match setting.default {
            Some(default) => (format!("Default: {default}"), default),
            None => ("Default: not set. An example:".to_owned(), setting.example),
        };
        writeln!(text, "# {}. {note}", setting.unit).unwrap();
        writeln!(text, "#{}", line(setting, value)).unwrap();
    }
    text
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let row = rows.last_mut().unwrap();
        if row.len() + 1 + word.len() > width {
            rows.push(word.to_owned());
        } else if row.is_empty() {
            row.push_str(word);
        } else {
            *row += " ";
            *row += word;
        }
    }
    rows
}

fn toml() -> String {
    let comment = "# Every setting of Throughline with its default. Use: throughline serve --config FILE\n\
                   # A flag wins over a CCM_* variable, which wins over this file. Take away a line's # to set it.\n";
    written(comment, |setting, value| {
        let bare = value.parse::<u32>().is_ok() || value.parse::<bool>().is_ok();
        if bare {
            format!("{} = {value}", setting.key)
        } else {
            format!("{} = {value:?}", setting.key)
        }
    })
}

fn dotenv() -> String {
    let comment = "# Every setting of Throughline as an environment variable, with its default.\n\
                   # Take away a line's # to set it. A secret can also be read from the file that NAME_FILE names.\n\
                   # PI_DATABASE_URL is another name of CCM_DATABASE_URL.\n\
                   \n# A TOML file with settings, like docs/throughline.sample.toml; variables win over it.\n\
                   #CCM_CONFIG=/etc/throughline.toml\n\
                   \n# The key that throughline import uses. Not a setting of the service.\n\
                   #CCM_KEY=\n";
    written(comment, |setting, value| {
        format!("{}={value}", setting.env())
    })
}

fn check(path: &str, expected: &str) {
    let path = root().join(path);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert!(
        found == expected,
        "{} is not the table of settings (first difference {differs:?}); run the test with {WRITE}=1",
        path.display()
    );
}

#[test]
fn the_sample_file_names_every_setting_with_its_default() {
    check("docs/throughline.sample.toml", &toml());
}

#[test]
fn the_sample_environment_names_every_setting_with_its_default() {
    check(".env.example", &dotenv());
}

#[test]
fn the_sample_file_is_a_configuration_when_its_lines_are_set() {
    let text = std::fs::read_to_string(root().join("docs/throughline.sample.toml")).unwrap();
    let set: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => rest,
            _ => line,
        })
        .collect();
    let values = file::parse(&set.join("\n"), Path::new("sample.toml"))
        .ok()
        .unwrap();
    assert_eq!(values.len(), TABLE.len());
    for setting in TABLE {
        let expected = setting.default.unwrap_or(setting.example);
        assert_eq!(values[setting.key].text, expected, "{}", setting.key);
    }
}
