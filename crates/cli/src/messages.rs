//! `spinward explain`: what a message about a model means, and how to mend it.
//!
//! The pages are the chapter of the book about messages, one section for each code.

use std::fmt::Write as _;

use spinward_promela::suggest::nearest;

use crate::terminal::{Color, Failure, print};

const CHAPTER: &str = include_str!("../../../docs/src/messages.md");

const EXAMPLES: &str = "\
Examples:
  spinward explain E0301      what it means, a wrong model, and the same mended
  spinward explain            all codes";

/// Explain a message by its code, such as E0301.
///
/// Every error and warning about the text of a model has a code. Its page has a model that gives the message,
/// says why, and shows the model mended. Without a code, all are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The code, as it stands in the message
    #[arg(value_name = "CODE")]
    code: Option<String>,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    color: Color,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let text = match &args.code {
        None => list(),
        Some(asked) => {
            // As it is copied out of a message: `error[E0301]`.
            let code = asked.trim_start_matches(|c: char| c != 'E' && c != 'W');
            let code = if code.is_empty() { asked } else { code };
            let code = code.trim_end_matches([']', ':']).to_uppercase();
            let page = page(&code).ok_or_else(|| unknown(asked, &code))?;
            shown(page, args.color.stdout())
        }
    };
    print(&text)?;
    Ok(0)
}

fn unknown(asked: &str, code: &str) -> Failure {
    let meant = nearest(code, pages().map(|(code, ..)| code));
    let meant = meant.map_or(String::new(), |meant| format!("; did you mean {meant}?"));
    Failure::usage(format!("there is no code '{asked}'{meant} (`spinward explain` lists them)"))
}

/// The pages: code, title, and text with the heading.
fn pages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    CHAPTER.split("\n### ").skip(1).filter_map(|section| {
        // The last page of a group ends where the next group begins.
        let page = section.split("\n## ").next().unwrap_or(section).trim_end();
        let (code, title) = page.lines().next()?.split_once(": ")?;
        Some((code, title, page))
    })
}

/// The page of a code, in Markdown.
pub fn page(code: &str) -> Option<&'static str> {
    pages().find(|(known, ..)| *known == code).map(|(.., page)| page)
}

/// What a code is about, in a few words.
pub fn title(code: &str) -> Option<&'static str> {
    pages().find(|(known, ..)| *known == code).map(|(_, title, _)| title)
}

fn list() -> String {
    let mut text = String::new();
    for (code, title, _) in pages() {
        let _ = writeln!(text, "{code}  {title}");
    }
    text
}

/// A page as a terminal shows it: code is indented, and says what it is.
pub fn shown(page: &str, color: bool) -> String {
    let bold = |text: &str| if color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    let mut text = String::new();
    let mut in_code = false;
    for (number, line) in page.lines().enumerate() {
        let told = match line.strip_prefix("```") {
            _ if number == 0 => bold(line),
            Some(_) if in_code => {
                in_code = false;
                continue;
            }
            Some(kind) => {
                in_code = true;
                match kind {
                    "promela wrong" => bold("Wrong:"),
                    "promela mended" => bold("Mended:"),
                    _ => bold("For example:"),
                }
            }
            None if in_code => format!("    {line}"),
            None => line.to_owned(),
        };
        text.push_str(told.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use spinward_promela::Code;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        let pages: Vec<&str> = pages().map(|(code, ..)| code).collect();
        assert_eq!(pages, codes);
    }

    #[test]
    fn a_page_says_what_is_wrong_and_what_is_mended() {
        let page = shown(page("E0301").unwrap(), false);
        assert!(
            page.starts_with("E0301: a name that is not declared\n\nWrong:\n    byte count;\n")
        );
        assert!(page.contains("\nMended:\n    byte count;\n"));
        assert!(!page.contains("```"));
    }
}
