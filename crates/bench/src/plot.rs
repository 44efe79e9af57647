//! Results as a picture: for each model, how many times better we are, on a logarithmic scale.

use std::fmt::Write as _;

use crate::measure::Figures;
use crate::results::{Results, Row, summary};
use crate::table::cut;

const MARGIN: f64 = 20.0;
/// The width of a panel, and of the gap to the next.
const PANEL: f64 = 260.0;
const GAP: f64 = 30.0;
/// The height of a line of text.
const LINE: f64 = 16.0;
/// The width of a letter.
const CHAR: f64 = 6.7;
/// Above the panels: their titles and the scale.
const HEAD: f64 = 46.0;
/// Longer names of models are cut, at the front.
const NAME: usize = 40;

/// Colours that people who cannot tell red from green can tell apart (Okabe and Ito).
const COLORS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

const STYLE: &str = "\
text{font:11px monospace;fill:#222}\
.title{font:bold 13px monospace}.name{text-anchor:end}.tick{text-anchor:middle;fill:#666}\
.grid{stroke:#e4e4e4}.one{stroke:#222}.mean{stroke-dasharray:4 3}";

/// What a panel shows.
struct Panel {
    title: &'static str,
    ratio: fn(&Figures) -> Option<f64>,
}

const PANELS: [Panel; 3] = [
    Panel { title: "time to verdict: times as soon", ratio: |it| it.seconds },
    Panel { title: "states per CPU second: times", ratio: |it| it.rate },
    Panel { title: "bytes a state: times as few", ratio: |it| it.bytes },
];

/// The results as SVG: a block for each other program, with a panel for each ratio, a line for each
/// model and a dot for each of our variants. A dashed line is the geometric mean of a variant.
pub fn plot(results: &Results) -> String {
    let mut body = String::new();
    let mut y = MARGIN;
    for rival in in_order(results.rows.iter().map(|row| row.rival.as_str())) {
        let rows: Vec<&Row> = results.rows.iter().filter(|row| row.rival == rival).collect();
        y = add_block(&mut body, rival, &rows, y) + 2.0 * MARGIN;
    }
    let width = panel_x(PANELS.len()) - GAP + MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{y:.0}\" \
         viewBox=\"0 0 {width:.0} {y:.0}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// Where a panel begins; the names of the models are left of the first.
fn panel_x(index: usize) -> f64 {
    MARGIN + NAME as f64 * CHAR + 10.0 + index as f64 * (PANEL + GAP)
}

/// Draws all panels of one rival; gives where the block ends.
fn add_block(out: &mut String, rival: &str, rows: &[&Row], mut y: f64) -> f64 {
    let variants = in_order(rows.iter().map(|row| row.ours.as_str()));
    let models = in_order(rows.iter().map(|row| row.model.as_str()));
    let title = format!("{rival} and spinward");
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"{:.1}\">{}</text>",
        y + LINE,
        escape(&title)
    );
    for (index, variant) in variants.iter().enumerate() {
        y += LINE;
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            MARGIN + 4.0,
            y + LINE - 4.0,
            color(index),
            MARGIN + 14.0,
            y + LINE,
            escape(variant)
        );
    }
    let top = y + LINE + HEAD;
    let line_y = |index: usize| top + (index as f64 + 0.5) * LINE;
    for (index, model) in models.iter().enumerate() {
        let _ = writeln!(
            out,
            "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            panel_x(0) - 10.0,
            line_y(index) + 4.0,
            escape(&cut(model, NAME))
        );
    }
    let bottom = top + models.len() as f64 * LINE;
    for (index, panel) in PANELS.iter().enumerate() {
        let scale = Scale::over(rows.iter().filter_map(|row| (panel.ratio)(&row.ratios())));
        let x = panel_x(index);
        add_frame(out, panel, &scale, (x, top, bottom));
        for (number, variant) in variants.iter().enumerate() {
            let own: Vec<&Row> = rows.iter().filter(|row| row.ours == *variant).copied().collect();
            let color = color(number);
            if let Some(summary) = summary(&own, |row| (panel.ratio)(&row.ratios())) {
                let at = x + scale.place(summary.mean);
                let _ = writeln!(
                    out,
                    "<line class=\"mean\" stroke=\"{color}\" x1=\"{at:.1}\" y1=\"{top:.1}\" \
                     x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>"
                );
            }
            for row in own {
                let line = models.iter().position(|model| *model == row.model);
                if let (Some(ratio), Some(line)) = ((panel.ratio)(&row.ratios()), line) {
                    let _ = writeln!(
                        out,
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\">\
                         <title>{}: {ratio:.2}</title></circle>",
                        x + scale.place(ratio),
                        line_y(line),
                        escape(&row.model)
                    );
                }
            }
        }
    }
    bottom
}

/// The title, the scale and its lines.
fn add_frame(out: &mut String, panel: &Panel, scale: &Scale, (x, top, bottom): (f64, f64, f64)) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", top - 26.0, panel.title);
    for tick in scale.ticks() {
        let at = x + scale.place(tick);
        let class = if tick == 1.0 { "one" } else { "grid" };
        let _ = writeln!(
            out,
            "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{top:.1}\" x2=\"{at:.1}\" \
             y2=\"{bottom:.1}\"/><text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\">{tick}</text>",
            top - 6.0
        );
    }
}

/// A logarithmic scale over a panel.
#[derive(Debug, PartialEq)]
struct Scale {
    least: f64,
    most: f64,
}

impl Scale {
    /// One that has room for these ratios, and for 1.
    fn over(ratios: impl Iterator<Item = f64>) -> Self {
        let (least, most) =
            ratios.fold((1.0_f64, 2.0_f64), |(least, most), it| (least.min(it), most.max(it)));
        let steps = || Self::steps().filter(|step| step.is_finite());
        Self {
            least: steps().filter(|step| *step <= least).fold(1e-9, f64::max),
            most: steps().filter(|step| *step >= most).fold(1e9, f64::min),
        }
    }

    /// 1, 2 and 5 times powers of ten.
    fn steps() -> impl Iterator<Item = f64> {
        (-9..=9).flat_map(|power: i32| {
            // Through text, so that a step is the number that it looks like.
            [1, 2, 5].map(|digit| format!("{digit}e{power}").parse().unwrap_or(f64::NAN))
        })
    }

    /// Where a ratio is, from the left end.
    fn place(&self, ratio: f64) -> f64 {
        (ratio / self.least).ln() / (self.most / self.least).ln() * PANEL
    }

    /// Numbers to write at the scale: not so many that they run into each other.
    fn ticks(&self) -> Vec<f64> {
        let all: Vec<f64> =
            Self::steps().filter(|step| (self.least..=self.most).contains(step)).collect();
        if all.len() <= 8 {
            return all;
        }
        let powers = |step: &f64| (step.log10() - step.log10().round()).abs() < 1e-9;
        all.into_iter().filter(powers).collect()
    }
}

fn color(index: usize) -> &'static str {
    COLORS[index % COLORS.len()]
}

/// Each of the words once, in the order of their first appearance.
fn in_order<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::results::tests::example;

    #[test]
    fn the_example_as_a_picture() {
        expect_file!["../tests/plot.svg"].assert_eq(&plot(&example()));
    }

    #[test]
    fn no_results_make_an_empty_picture() {
        let empty = plot(&Results::default());
        assert!(empty.starts_with("<svg") && empty.ends_with("</svg>\n"));
    }

    #[test]
    fn a_scale_has_room_for_all() {
        let scale = Scale::over([0.3, 7.0].into_iter());
        assert_eq!(scale, Scale { least: 0.2, most: 10.0 });
        assert_eq!(scale.place(0.2), 0.0);
        assert!((scale.place(10.0) - PANEL).abs() < 1e-9);
        assert_eq!(scale.ticks(), [0.2, 0.5, 1.0, 2.0, 5.0, 10.0]);
        let none = Scale::over(std::iter::empty());
        assert_eq!(none, Scale { least: 1.0, most: 2.0 });
    }

    #[test]
    fn a_long_scale_has_powers_of_ten() {
        let scale = Scale::over([0.5, 900.0].into_iter());
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1000.0]);
    }
}
