//! Results on temporal properties as a table for people.

use std::fmt::Write as _;

use super::results::{LtlResults, LtlRow, LtlSummary, SLOW};
use super::spin_label;
use crate::table::{add_skipped, cell, cut, models, seconds, times};

/// Longer names of models, and of properties, are cut, at the front.
const MODEL: usize = 26;
const PROPERTY: usize = 24;

/// The results as text, one table for each of our variants, and for all runs and the fair ones apart.
pub fn table(results: &LtlResults) -> String {
    let mut text = String::new();
    for group in results.groups() {
        add_group(&mut text, &group);
    }
    add_skipped(&mut text, &results.skipped);
    if results.without > 0 {
        let number = models(results.without);
        let _ = writeln!(text, "Left out: {number} (no temporal property)");
    }
    match results.differences() {
        0 => {}
        1 => text.push_str("1 comparison has different verdicts: a defect.\n"),
        more => {
            let _ = writeln!(text, "{more} comparisons have different verdicts: a defect.");
        }
    }
    if results.interrupted {
        text.push_str("Interrupted: these are the jobs that were finished.\n");
    }
    text
}

fn add_group(text: &mut String, rows: &[&LtlRow]) {
    let fair = rows[0].fair;
    let option = if fair { " --fair weak" } else { "" };
    let _ = writeln!(text, "{} | spinward {}{option}", spin_label(fair), rows[0].ours);
    let _ = writeln!(
        text,
        "{:MODEL$} {:PROPERTY$} {:8} |{:^23}|   steps of the run",
        "", "", "", "CPU seconds"
    );
    let _ = writeln!(
        text,
        "{:MODEL$} {:PROPERTY$} {:8} |{:>8}{:>8}{:>7}|{:>8}{:>8}{:>7}",
        "model", "property", "verdict", "theirs", "ours", "ratio", "theirs", "ours", "ratio"
    );
    for row in rows {
        let _ = write!(
            text,
            "{:MODEL$} {:PROPERTY$} {:8} |{}{}{}|{}{}{}",
            cut(&row.model, MODEL),
            cut(&row.property, PROPERTY),
            row.verdicts[1],
            cell(Some(row.cpu[0]), 8, seconds),
            cell(Some(row.cpu[1]), 8, seconds),
            cell(row.ratio(), 7, times),
            steps(row.steps[0]),
            steps(row.steps[1]),
            cell(row.steps_ratio(), 7, times),
        );
        if let Some(difference) = row.difference() {
            let _ = write!(text, "  DIFFERS: {difference}");
        }
        if !row.reduced {
            text.push_str("  (theirs: no reduction)");
        }
        text.push('\n');
    }
    let summary = LtlSummary::of(rows);
    let _ = writeln!(
        text,
        "{:width$} |{:16}{}|{:16}{}",
        "geometric mean",
        "",
        cell(summary.ratio, 7, times),
        "",
        cell(summary.steps_ratio, 7, times),
        width = MODEL + PROPERTY + 10
    );
    let properties = if summary.slow == 1 { "property" } else { "properties" };
    let _ = write!(
        text,
        "The mean of CPU seconds is of {} {properties} for which SPIN needs more than {SLOW} s",
        summary.slow
    );
    if summary.runs > 0 {
        let LtlSummary { runs, longer, .. } = summary;
        let _ = write!(text, "; runs that are longer than SPIN's: {longer} of {runs}");
    }
    if let Some(ratio) = summary.lasso_ratio {
        let _ = write!(text, "; the mean of steps of infinite runs alone: {}", times(ratio));
    }
    text.push_str(".\n");
    text.push('\n');
}

fn steps(steps: Option<u64>) -> String {
    let shown = steps.map_or_else(|| "-".to_owned(), |it| it.to_string());
    format!("{shown:>8}")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::ltl::example;

    #[test]
    fn a_table_shows_everything() {
        expect![[r#"
            SPIN -a | spinward --threads 1
                                                                         |      CPU seconds      |   steps of the run
            model                      property                 verdict  |  theirs    ours  ratio|  theirs    ours  ratio
            a/m.pml                    slow                     holds    |    8.00    1.00   8.00|       -       -      -
            a/m.pml                    lasso                    violated |    1.00   0.500   2.00|      80      10   8.00
            a/m.pml                    never_0                  violated |   0.010   0.010   1.00|       1       2   0.50
            geometric mean                                               |                   4.00|                   2.00
            The mean of CPU seconds is of 2 properties for which SPIN needs more than 0.2 s; runs that are longer than SPIN's: 1 of 2; the mean of steps of infinite runs alone: 8.00.

            SPIN -a -f | spinward --threads 1 --fair weak
                                                                         |      CPU seconds      |   steps of the run
            model                      property                 verdict  |  theirs    ours  ratio|  theirs    ours  ratio
            a/m.pml                    slow                     violated |   16.00    4.00   4.00|       -       7      -  DIFFERS: holds, and ours violated
            a/m.pml                    lasso                    violated |   0.200   0.100   2.00|       9       9   1.00  (theirs: no reduction)
            geometric mean                                               |                   4.00|                   1.00
            The mean of CPU seconds is of 1 property for which SPIN needs more than 0.2 s; runs that are longer than SPIN's: 0 of 1; the mean of steps of infinite runs alone: 1.00.

            Skipped:
              a/m.pml never_0  SPIN -a -f: pan: time limit

            Left out: 2 models (no temporal property)
            1 comparison has different verdicts: a defect.
        "#]].assert_eq(&table(&example()));
    }

    #[test]
    fn without_properties_there_is_no_table() {
        let results = LtlResults { without: 1, interrupted: true, ..LtlResults::default() };
        let told = "Left out: 1 model (no temporal property)\n\
                    Interrupted: these are the jobs that were finished.\n";
        assert_eq!(table(&results), told);
    }
}
