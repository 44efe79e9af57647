//! Sizes of the automata of formulas of the literature, and what SPIN makes of them: `cargo run -p
//! spinward-property --example collections`. Each line: states of our never claim, states of SPIN's (`-`
//! if it has none: the formula has an `X`, or it took more than 60 seconds), the formula.
//!
//! SPIN gets the formula as it is written, not as our constructors keep it.

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::Command;

use spinward_property::print::never_claim;
use spinward_property::translate_to_buchi;
use support::collections::{DWYER, ETESSAMI_HOLZMANN, SOMENZI_BLOEM};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all = DWYER.into_iter().chain(ETESSAMI_HOLZMANN).chain(SOMENZI_BLOEM);
    let (mut ours, mut theirs, mut larger) = (0, 0, 0);
    for written in all {
        for text in [written.to_owned(), format!("!({written})")] {
            let automaton = translate_to_buchi(&support::parse(&text))?;
            let size = states(&never_claim(&automaton, &[], &text));
            let spin = if text.contains('X') { None } else { spin(&support::for_spin(&text))? };
            let column = spin.map_or("-".to_owned(), |spin| spin.to_string());
            println!("{size:4} {column:>5}  {text}");
            if let Some(spin) = spin {
                ours += size;
                theirs += spin;
                larger += u32::from(size > spin);
            }
        }
    }
    println!("{ours} states, SPIN's {theirs}; {larger} larger");
    Ok(())
}

/// The labels of a never claim, those that share a state counted once.
fn states(claim: &str) -> usize {
    let label = |line: &&str| line.ends_with(':');
    let lines: Vec<&str> = claim.lines().collect();
    (0..lines.len()).filter(|i| label(&lines[*i]) && (*i == 0 || !label(&lines[*i - 1]))).count()
}

fn spin(formula: &str) -> std::io::Result<Option<usize>> {
    let output = Command::new("timeout").args(["60", "spin", "-f", formula]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok((output.status.success() && text.contains("never")).then(|| states(&text)))
}
