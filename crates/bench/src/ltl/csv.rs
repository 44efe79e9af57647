//! Results on temporal properties as comma-separated values, for other programs.

use super::results::LtlRow;
use crate::csv::{line, number};

/// The names of the columns of [`result`].
pub const RESULTS: &str = "model,property,fairness,spinward,rival_reduced,rival_verdict,verdict,\
rival_states,states,rival_cpu_seconds,cpu_seconds,cpu_seconds_ratio,\
rival_steps,steps,steps_ratio,difference\n";

/// A comparison as a line.
pub fn result(row: &LtlRow) -> String {
    let fairness = if row.fair { "weak" } else { "none" };
    let mut fields = vec![
        row.model.clone(),
        row.property.clone(),
        fairness.to_owned(),
        row.ours.clone(),
        row.reduced.to_string(),
    ];
    fields.extend(row.verdicts.map(|verdict| verdict.to_string()));
    fields.extend(row.states.map(|states| states.to_string()));
    fields.extend([Some(row.cpu[0]), Some(row.cpu[1]), row.ratio()].map(number));
    fields.extend(row.steps.map(|steps| steps.map_or_else(String::new, |it| it.to_string())));
    fields.push(number(row.steps_ratio()));
    fields.push(row.difference().unwrap_or_default());
    line(&fields)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::ltl::example;

    #[test]
    fn results_as_lines() {
        let lines: String = example().rows.iter().map(result).collect();
        expect![[r#"
            model,property,fairness,spinward,rival_reduced,rival_verdict,verdict,rival_states,states,rival_cpu_seconds,cpu_seconds,cpu_seconds_ratio,rival_steps,steps,steps_ratio,difference
            a/m.pml,slow,none,--threads 1,true,holds,holds,1000,1000,8.0000,1.0000,8.0000,,,,
            a/m.pml,slow,weak,--threads 1,true,holds,violated,1000,1000,16.0000,4.0000,4.0000,,7,,"holds, and ours violated"
            a/m.pml,lasso,none,--threads 1,true,violated,violated,1000,1000,1.0000,0.5000,2.0000,80,10,8.0000,
            a/m.pml,lasso,weak,--threads 1,false,violated,violated,1000,1000,0.2000,0.1000,2.0000,9,9,1.0000,
            a/m.pml,never_0,none,--threads 1,true,violated,violated,1000,1000,0.0100,0.0100,1.0000,1,2,0.5000,
        "#]].assert_eq(&(RESULTS.to_owned() + &lines));
    }

    #[test]
    fn all_lines_have_all_columns() {
        let columns = |text: &str| text.trim_end_matches('\n').split(',').count();
        assert_eq!(columns(&result(&example().rows[0])), columns(RESULTS));
    }
}
