//! Results as a table for people.

use std::fmt::Write as _;

use crate::measure::{Figures, TOO_FEW_STATES};
use crate::results::{Results, Row, Skipped, summary};
use crate::stats::Summary;

/// Longer names of models are cut, at the front.
const NAME: usize = 34;

/// The results as text, one table for each pair of programs.
pub fn table(results: &Results) -> String {
    let mut text = String::new();
    for pair in results.pairs() {
        add_pair(&mut text, &pair);
    }
    add_skipped(&mut text, &results.skipped);
    for (number, why) in &results.left_out {
        let _ = writeln!(text, "Left out: {} ({why})", models(*number));
    }
    let tiny = results.rows.iter().any(|row| row.states[0] < TOO_FEW_STATES);
    if tiny {
        let _ =
            writeln!(text, "Rates and bytes are of models with {TOO_FEW_STATES} states or more.");
    }
    match results.differences() {
        0 => {}
        1 => text.push_str("1 comparison has unequal counts: a defect.\n"),
        more => {
            let _ = writeln!(text, "{more} comparisons have unequal counts: a defect.");
        }
    }
    if results.interrupted {
        text.push_str("Interrupted: these are the jobs that were finished.\n");
    }
    text
}

/// The jobs that gave no figures, with the reasons.
pub(crate) fn add_skipped(text: &mut String, skipped: &[Skipped]) {
    if skipped.is_empty() {
        return;
    }
    let _ = writeln!(text, "Skipped:");
    for skipped in skipped {
        let _ = writeln!(text, "  {}  {}: {}", skipped.model, skipped.program, skipped.reason);
    }
    text.push('\n');
}

pub(crate) fn models(number: usize) -> String {
    format!("{number} model{}", if number == 1 { "" } else { "s" })
}

fn add_pair(text: &mut String, rows: &[&Row]) {
    let _ = writeln!(text, "{} | spinward {}", rows[0].rival, rows[0].ours);
    let _ = writeln!(
        text,
        "{:NAME$} {:>11} |{:^23}|{:^23}|    bytes a state",
        "", "", "seconds to verdict", "states per CPU second"
    );
    let _ = writeln!(
        text,
        "{:NAME$} {:>11} |{:>8}{:>8}{:>7}|{:>8}{:>8}{:>7}|{:>7}{:>7}{:>7}",
        "model",
        "states",
        "theirs",
        "ours",
        "ratio",
        "theirs",
        "ours",
        "ratio",
        "theirs",
        "ours",
        "ratio"
    );
    for row in rows {
        let (theirs, ours, ratio) = (&row.rival_figures, &row.our_figures, row.ratios());
        let _ = write!(
            text,
            "{:NAME$} {:>11} |{}{}{}|{}{}{}|{}{}{}",
            cut(&row.model, NAME),
            row.states[1],
            cell(theirs.seconds, 8, seconds),
            cell(ours.seconds, 8, seconds),
            cell(ratio.seconds, 7, times),
            cell(theirs.rate, 8, rate),
            cell(ours.rate, 8, rate),
            cell(ratio.rate, 7, times),
            cell(theirs.bytes, 7, bytes),
            cell(ours.bytes, 7, bytes),
            cell(ratio.bytes, 7, times),
        );
        match &row.difference {
            Some(difference) => {
                let _ = write!(text, "  DIFFERS: {difference}");
            }
            None if row.states[0] != row.states[1] => {
                let _ = write!(text, "  (theirs: {} states)", row.states[0]);
            }
            None => {}
        }
        text.push('\n');
    }
    let ratio = |figure: fn(&Figures) -> Option<f64>| summary(rows, |row| figure(&row.ratios()));
    let ratios = [ratio(|it| it.seconds), ratio(|it| it.rate), ratio(|it| it.bytes)];
    let our_bytes = summary(rows, |row| row.our_figures.bytes);
    add_summary(text, "geometric mean", ratios, our_bytes, |it| it.mean);
    add_summary(text, "median", ratios, our_bytes, |it| it.median);
    add_summary(text, "least", ratios, our_bytes, |it| it.least);
    text.push('\n');
}

/// One line below the rows: of the ratios, and of our bytes a state, which count by themselves.
fn add_summary(
    text: &mut String,
    name: &str,
    ratios: [Option<Summary>; 3],
    our_bytes: Option<Summary>,
    figure: fn(Summary) -> f64,
) {
    let [time, speed, memory] = ratios.map(|summary| cell(summary.map(figure), 7, times));
    let our_bytes = cell(our_bytes.map(figure), 7, bytes);
    let _ = writeln!(
        text,
        "{name:NAME$} {:>11} |{:16}{time}|{:16}{speed}|{:7}{our_bytes}{memory}",
        "", "", "", ""
    );
}

pub(crate) fn cell(figure: Option<f64>, width: usize, show: fn(f64) -> String) -> String {
    format!("{:>width$}", figure.map_or_else(|| "-".to_owned(), show))
}

pub(crate) fn seconds(value: f64) -> String {
    if value < 1.0 { format!("{value:.3}") } else { format!("{value:.2}") }
}

pub(crate) fn times(value: f64) -> String {
    match value {
        _ if value < 10.0 => format!("{value:.2}"),
        _ if value < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn rate(value: f64) -> String {
    if value < 1e6 { format!("{:.0}k", value / 1e3) } else { format!("{:.2}M", value / 1e6) }
}

fn bytes(value: f64) -> String {
    format!("{value:.1}")
}

/// A name with at most so many letters, the last ones.
pub(crate) fn cut(name: &str, most: usize) -> String {
    let letters = name.chars().count();
    if letters <= most {
        return name.to_owned();
    }
    let end: String = name.chars().skip(letters + 1 - most).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::results::tests::example;

    #[test]
    fn a_table_shows_everything() {
        expect![[r#"
            SPIN safety | spinward --search bfs
                                                           |  seconds to verdict   | states per CPU second |    bytes a state
            model                                   states |  theirs    ours  ratio|  theirs    ours  ratio| theirs   ours  ratio
            a/large.pml                            2000000 |    4.00    1.00   4.00|   1.00M   4.00M   4.00|   40.0   20.0   2.00
            wrong<2>.pml                            100001 |    1.60   0.100   16.0|   1.00M   1.00M   1.00|   60.0   15.0   4.00  DIFFERS: states: 100000 and ours 100001
            small.pml                                   10 |    1.00   0.004    250|       -       -      -|      -      -      -
            geometric mean                                 |                   25.2|                   2.00|          17.3   2.83
            median                                         |                   16.0|                   2.50|          17.5   3.00
            least                                          |                   4.00|                   1.00|          15.0   2.00

            Skipped:
              huge.pml  SPIN safety: pan: time limit

            Left out: 3 models (SPIN takes longer than 5 s)
            Rates and bytes are of models with 10000 states or more.
            1 comparison has unequal counts: a defect.
        "#]].assert_eq(&table(&example()));
    }

    #[test]
    fn fewer_states_on_purpose_are_told() {
        let mut results = example();
        results.rows[1].difference = None;
        let text = table(&results);
        assert!(text.contains("(theirs: 100000 states)\n"), "{text}");
        assert!(!text.contains("defect"), "{text}");
    }

    #[test]
    fn an_interrupt_is_told() {
        let results = Results { interrupted: true, ..Results::default() };
        assert_eq!(table(&results), "Interrupted: these are the jobs that were finished.\n");
    }

    #[test]
    fn long_names_lose_their_front() {
        let long = "folder/of/folders/with/a/model.that.has.a.long.name.pml";
        assert_eq!(cut(long, NAME).chars().count(), NAME);
        assert!(cut(long, NAME).ends_with("a.long.name.pml"));
        assert_eq!(cut("short.pml", NAME), "short.pml");
    }
}
