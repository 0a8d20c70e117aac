//! A bar chart as SVG.

use std::fmt::Write as _;

const LINE: usize = 26;
const LEFT: usize = 330;
const WIDTH: f64 = 420.0;

/// A bar for each name, as long as its value, with a remark behind it.
pub(crate) fn bars(title: &str, bars: &[(String, f64, String)]) -> String {
    let most = bars
        .iter()
        .map(|bar| bar.1)
        .fold(f64::MIN_POSITIVE, f64::max);
    let height = 50 + bars.len() * LINE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"16\">{}</text>\n",
        escaped(title)
    );
    for (place, (name, value, remark)) in bars.iter().enumerate() {
        let (top, long) = (40 + place * LINE, value / most * WIDTH);
        let (text, after) = (
            top + 15,
            f64::from(u32::try_from(LEFT).unwrap_or(0)) + long + 8.0,
        );
        let colour = if name.starts_with("pgbench") {
            "#9aa5b1"
        } else {
            "#2f6f9f"
        };
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LEFT}\" y=\"{top}\" width=\"{long:.1}\" height=\"20\" fill=\"{colour}\"/>\
             <text x=\"{after:.1}\" y=\"{text}\">{}</text>",
            LEFT - 10,
            escaped(name),
            escaped(remark)
        )
        .expect("writing to a String cannot fail");
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_width_and_names_are_escaped() {
        let svg = bars(
            "a < b",
            &[
                ("one".into(), 5.0, "5/s".into()),
                ("two & three".into(), 10.0, "10/s".into()),
            ],
        );
        assert!(
            svg.contains("a &lt; b") && svg.contains("two &amp; three"),
            "{svg}"
        );
        assert!(
            svg.contains("width=\"210.0\"") && svg.contains("width=\"420.0\""),
            "{svg}"
        );
        assert_eq!(svg.matches("<rect x=").count(), 2);
    }
}
