//! Formatting, as edits of lines.

use std::path::Path;

use lsp_types::{FormattingOptions, TextEdit};
use spinward_promela::preprocess::preprocess;
use spinward_promela::pretty::{Indent, layout};
use spinward_promela::token::TokenKind;
use spinward_promela::{Options, SourceMap};

use crate::documents::Document;
use crate::text::Encoding;

/// The edits that put the white space of a text in order, one for each line that changes; or why there
/// are none.
pub fn format(
    document: &Document,
    style: &FormattingOptions,
    options: &Options,
    encoding: Encoding,
) -> Result<Vec<TextEdit>, String> {
    let indent = Indent { width: style.tab_size as usize, tabs: !style.insert_spaces };
    let made = layout(&document.text, indent);
    // A macro may make a string of its argument, with its blanks.
    if tokens(&document.path, &document.text, options) != tokens(&document.path, &made, options) {
        return Err("white space means something to a macro here: nothing is changed".to_owned());
    }
    let mut edits = Vec::new();
    let mut start = 0;
    for (old, new) in document.text.split('\n').zip(made.split('\n')) {
        let (old_text, new_text) = (old.trim_end_matches('\r'), new.trim_end_matches('\r'));
        if old_text != new_text {
            let bytes = start..start + old_text.len();
            let range = document.lines.range(&document.text, bytes, encoding);
            edits.push(TextEdit { range, new_text: new_text.to_owned() });
        }
        start += old.len() + 1;
    }
    Ok(edits)
}

/// The words that a text comes to.
fn tokens(path: &Path, text: &str, options: &Options) -> Vec<(TokenKind, bool)> {
    let mut source = SourceMap::default();
    let file = source.add_file(path.to_owned(), text.to_owned(), None);
    let (tokens, _) = preprocess(&mut source, file, options);
    tokens.into_iter().map(|token| (token.kind, token.after_newline)).collect()
}
