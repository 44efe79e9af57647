//! Which temporal properties a model states, read from what SPIN says and writes when it makes a
//! verifier: so includes and macros are seen as SPIN sees them.
//!
//! `spin -a` prints each `ltl` block as `ltl name: formula`, and calls one without a name `ltl_0` or the
//! like. The verifier has a proctype number for each claim, and a line for each state of it that accepts.

use std::collections::{BTreeMap, BTreeSet};

/// A temporal property of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name, by SPIN.
    pub name: String,
    /// What is asked for with our `--ltl`: the name; or the formula, if only SPIN gave it a name.
    pub asked: String,
    /// Whether the model has others, so that SPIN must be told which one is meant.
    pub one_of_many: bool,
}

/// The properties of a model in the order of the claims: all `ltl` blocks, and never claims that
/// accept. `said` is what `spin -a` printed, `header` is `pan.h` and `source` is `pan.c`.
pub fn stated(said: &str, header: &str, source: &str) -> Vec<Property> {
    let formulas = formulas(said);
    let accepting: BTreeSet<usize> = source.lines().filter_map(accepting_claim).collect();
    let claims = claims(header, source);
    let one_of_many = claims.len() > 1;
    let temporal = claims.into_iter().filter_map(|(number, name)| {
        let formula = formulas.get(name.as_str());
        if formula.is_none() && !accepting.contains(&number) {
            return None;
        }
        let asked = match formula {
            Some(formula) if is_given_by_spin(&name) => (*formula).to_owned(),
            _ => name.clone(),
        };
        Some(Property { name, asked, one_of_many })
    });
    temporal.collect()
}

/// The formulas of `ltl` blocks, by their names.
fn formulas(said: &str) -> BTreeMap<&str, &str> {
    let block = |line| str::strip_prefix(line, "ltl ")?.split_once(": ");
    said.lines().filter_map(block).map(|(name, formula)| (name, formula.trim())).collect()
}

/// Whether SPIN names a block without a name like this. If the model does, its formula is as good.
fn is_given_by_spin(name: &str) -> bool {
    let number = name.strip_prefix("ltl_");
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The claims by their proctype numbers.
fn claims(header: &str, source: &str) -> BTreeMap<usize, String> {
    let several: BTreeMap<_, _> = source.lines().filter_map(one_claim_of_many).collect();
    if !several.is_empty() {
        return several;
    }
    // A single one has no line of its own; SPIN's own claim, for non-progress cycles, is marked.
    let only = header.lines().find_map(|line| {
        let number = line.trim().strip_prefix("#define VERI\t")?;
        number.trim().parse::<usize>().ok()
    });
    let name = only.and_then(|number| proctype(source, number).map(|name| (number, name)));
    name.into_iter().collect()
}

/// Reads `spin_c_typ[0] = 2; /* no_starvation */`.
fn one_claim_of_many(line: &str) -> Option<(usize, String)> {
    let (_, rest) = line.trim().strip_prefix("spin_c_typ[")?.split_once("] = ")?;
    let (number, name) = rest.split_once("; /* ")?;
    Some((number.parse().ok()?, name.strip_suffix(" */")?.to_owned()))
}

/// Reads `accpstate[2][10] = 1;`: the number of the claim or proctype.
fn accepting_claim(line: &str) -> Option<usize> {
    let (number, rest) = line.trim().strip_prefix("accpstate[")?.split_once("][")?;
    rest.ends_with("] = 1;").then(|| number.parse().ok())?
}

/// The name of a proctype or claim.
fn proctype(source: &str, number: usize) -> Option<String> {
    let (_, names) = source.split_once("char *procname[] = {\n")?;
    let name = names.lines().nth(number)?.trim().strip_prefix('"')?;
    Some(name.strip_suffix("\",")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\t#define VERI\t4\t/* np_ */\n#ifndef NOCLAIM\n\t#define NCLAIMS\t3\n";
    const SAID: &str = "\
ltl ltl_0: <> ((x==5))
ltl q: [] ((x<3))
  the model contains 3 never claims: q, ltl_0, never_0
";
    const SOURCE: &str = "\
		spin_c_typ[0] = 3; /* q */
		spin_c_typ[1] = 2; /* ltl_0 */
		spin_c_typ[2] = 1; /* never_0 */
		accpstate[4][1] = 1;
	accpstate[3][9] = 1;
	accpstate[2][3] = 1;
		if (accpstate[ptr->_t][ptr->_p])
";

    fn told(properties: &[Property]) -> Vec<(&str, &str)> {
        properties.iter().map(|it| (it.name.as_str(), it.asked.as_str())).collect()
    }

    #[test]
    fn formulas_are_found_and_claims_that_accept() {
        let properties = stated(SAID, HEADER, SOURCE);
        assert_eq!(told(&properties), [("ltl_0", "<> ((x==5))"), ("q", "q")]);
        assert!(properties.iter().all(|it| it.one_of_many));
        let source = SOURCE.replace("accpstate[4][1]", "accpstate[1][1]");
        let properties = stated(SAID, HEADER, &source);
        assert_eq!(told(&properties)[0], ("never_0", "never_0"));
    }

    #[test]
    fn a_formula_counts_without_a_state_that_accepts() {
        let source = SOURCE.replace("accpstate[3][9] = 1;", "");
        assert_eq!(stated(SAID, HEADER, &source).len(), 2);
    }

    const ONE: &str = "\
	#define VERI	2	/* np_ */
#ifndef NOCLAIM
	#define NCLAIMS	1
	#ifndef NP
		#define VERI	1
";
    const NAMES: &str =
        "char *procname[] = {\n   \"P\",\n   \"never_0\",\n   \":np_:\",\n\t0\n};\n";

    #[test]
    fn a_single_claim_is_found_by_its_number() {
        let accepts = format!("{NAMES}\t\taccpstate[2][1] = 1;\n\taccpstate[1][10] = 1;\n");
        let properties = stated("", ONE, &accepts);
        assert_eq!(told(&properties), [("never_0", "never_0")]);
        assert!(!properties[0].one_of_many);
        // The claim for non-progress cycles alone accepts.
        let ends = accepts.replace("accpstate[1][10]", "accpstate[2][10]");
        assert_eq!(stated("", ONE, &ends), []);
    }

    #[test]
    fn a_model_without_a_claim_states_nothing() {
        let header = "\t#define VERI\t1\t/* np_ */\n#ifndef NCLAIMS\n\t#define NCLAIMS 1\n";
        let source = NAMES.replace("   \"never_0\",\n", "") + "\t\taccpstate[1][1] = 1;\n";
        assert_eq!(stated("", header, &source), []);
    }

    #[test]
    fn only_numbers_make_a_name_of_spin() {
        assert!(is_given_by_spin("ltl_12"));
        assert!(["ltl_", "ltl_a", "ltl_1b", "q"].iter().all(|name| !is_given_by_spin(name)));
    }
}
