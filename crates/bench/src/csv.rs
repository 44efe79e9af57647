//! Results and jobs as comma-separated values (RFC 4180), for other programs.

use crate::results::Row;
use crate::run::Job;

/// The names of the columns of [`result`].
pub const RESULTS: &str = "model,rival,spinward,rival_states,states,\
rival_seconds,seconds,seconds_ratio,\
rival_states_per_cpu_second,states_per_cpu_second,states_per_cpu_second_ratio,\
rival_bytes_per_state,bytes_per_state,bytes_per_state_ratio,difference\n";

/// A comparison as a line.
pub fn result(row: &Row) -> String {
    let (theirs, ours, ratio) = (&row.rival_figures, &row.our_figures, row.ratios());
    let mut fields = vec![row.model.clone(), row.rival.clone(), row.ours.clone()];
    fields.extend(row.states.map(|states| states.to_string()));
    for figures in [
        [theirs.seconds, ours.seconds, ratio.seconds],
        [theirs.rate, ours.rate, ratio.rate],
        [theirs.bytes, ours.bytes, ratio.bytes],
    ] {
        fields.extend(figures.map(number));
    }
    fields.push(row.difference.clone().unwrap_or_default());
    line(&fields)
}

/// The names of the columns of [`job`].
pub const JOBS: &str = "round,model,program,seconds,cpu_seconds,states,transitions,\
visited_bytes,peak_bytes,skipped\n";

/// A job as a line.
pub fn job(job: &Job) -> String {
    let mut fields = vec![job.round.to_string(), job.model.clone(), job.program.clone()];
    match &job.outcome {
        Ok(measured) => fields.extend([
            number(measured.seconds),
            number(Some(measured.cpu)),
            measured.states.to_string(),
            measured.transitions.map_or_else(String::new, |count| count.to_string()),
            number(measured.bytes),
            measured.peak.to_string(),
            String::new(),
        ]),
        Err(reason) => {
            fields.extend(std::iter::repeat_n(String::new(), 6));
            fields.push(reason.clone());
        }
    }
    line(&fields)
}

/// A figure as a field.
pub fn number(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |value| {
        let digits = if value < 100.0 { 4 } else { 0 };
        format!("{value:.digits$}")
    })
}

/// Fields as a line.
pub fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|field| quoted(field)).collect();
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::measure::Measured;
    use crate::results::tests::example;

    #[test]
    fn results_as_lines() {
        let lines: String = example().rows.iter().map(result).collect();
        expect![[r#"
            model,rival,spinward,rival_states,states,rival_seconds,seconds,seconds_ratio,rival_states_per_cpu_second,states_per_cpu_second,states_per_cpu_second_ratio,rival_bytes_per_state,bytes_per_state,bytes_per_state_ratio,difference
            a/large.pml,SPIN safety,--search bfs,2000000,2000000,4.0000,1.0000,4.0000,1000000,4000000,4.0000,40.0000,20.0000,2.0000,
            wrong<2>.pml,SPIN safety,--search bfs,100000,100001,1.6000,0.1000,16.0000,1000000,1000010,1.0000,60.0000,15.0000,4.0000,states: 100000 and ours 100001
            small.pml,SPIN safety,--search bfs,10,10,1.0000,0.0040,250,,,,,,,
        "#]].assert_eq(&(RESULTS.to_owned() + &lines));
    }

    #[test]
    fn jobs_as_lines() {
        let outcome = Ok(Measured {
            seconds: None,
            cpu: 1.5,
            states: 7,
            transitions: Some(9),
            bytes: Some(70.0),
            peak: 4096,
            plain: true,
        });
        let good =
            Job { round: 1, model: "a,\"b\".pml".into(), program: "SPIN safety".into(), outcome };
        let bad = Job { round: 2, outcome: Err("pan: time limit".into()), ..good.clone() };
        expect![[r#"
            round,model,program,seconds,cpu_seconds,states,transitions,visited_bytes,peak_bytes,skipped
            1,"a,""b"".pml",SPIN safety,,1.5000,7,9,70.0000,4096,
            2,"a,""b"".pml",SPIN safety,,,,,,,pan: time limit
        "#]].assert_eq(&(JOBS.to_owned() + &job(&good) + &job(&bad)));
    }

    #[test]
    fn all_lines_have_all_columns() {
        let columns = |text: &str| text.trim_end().split(',').count();
        let row = &example().rows[0];
        assert_eq!(columns(&result(row)), columns(RESULTS));
    }
}
