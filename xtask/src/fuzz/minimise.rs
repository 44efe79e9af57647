//! Makes a failing text smaller: takes parts away as long as it still fails.

use super::mutate::pieces;

/// The smallest text found that still fails; `fails` may give up by saying no.
pub fn minimise(text: &str, fails: &mut dyn FnMut(&str) -> bool) -> String {
    let lines = text.split_inclusive('\n').map(str::to_owned).collect();
    let text = without_parts(lines, fails).concat();
    without_parts(pieces(&text), fails).concat()
}

/// Takes away ever smaller runs of parts.
fn without_parts(mut parts: Vec<String>, fails: &mut dyn FnMut(&str) -> bool) -> Vec<String> {
    let mut size = parts.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let mut smaller = false;
        while at < parts.len() {
            let end = (at + size).min(parts.len());
            let rest = [&parts[..at], &parts[end..]].concat();
            if fails(&rest.concat()) {
                parts = rest;
                smaller = true;
            } else {
                at = end;
            }
        }
        // After a success another round with small parts may succeed again.
        if size > 1 || !smaller {
            size /= 2;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_matters() {
        let text = "one two\nthree (four) five\n".repeat(20) + "six bad seven good\n";
        let mut fails = |text: &str| text.contains("bad") && text.contains("good");
        assert_eq!(minimise(&text, &mut fails), "badgood");
    }
}
