//! The programs that are needed beside ours.

use std::env;

/// Those of the programs that are not installed.
pub fn missing_tools(programs: &[&'static str]) -> Vec<&'static str> {
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = |program: &str| env::split_paths(&path).any(|dir| dir.join(program).is_file());
    programs.iter().copied().filter(|program| !installed(program)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_in_the_path() {
        assert_eq!(missing_tools(&["sh", "no-such-program-at-all"]), ["no-such-program-at-all"]);
    }
}
