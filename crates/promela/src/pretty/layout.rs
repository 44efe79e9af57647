//! White space in a text that a person wrote.
//!
//! Words, comments, lines of the preprocessor and embedded C stay as they are, and every line stays a
//! line, since its end may separate statements. What changes is how far lines are indented
//! (`levels`), and the blanks between words: as in the rest of [`crate::pretty`]. Two blanks or
//! more are taken to be meant, as in columns; a comment behind a statement stays in its column if it
//! can.

use super::levels::Levels;
use super::tokens::space_between;
use crate::parser::is_temporal;
use crate::preprocess::{Word, WordKind, words};
use crate::source::{FileId, Span};
use crate::token::{Punct, Token, TokenKind};

/// How lines are indented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indent {
    /// Columns of one level, and of a tab.
    pub width: usize,
    /// Whether tabs are used.
    pub tabs: bool,
}

impl Default for Indent {
    fn default() -> Self {
        Self { width: 4, tabs: false }
    }
}

/// The text with its white space in order. It has as many lines, and the same words in each; a text
/// whose lines editors count in another way than we do is left as it is.
pub fn layout(text: &str, indent: Indent) -> String {
    let bytes = text.as_bytes();
    let stray_return = |i: usize| bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    if (0..bytes.len()).any(stray_return) {
        return text.to_owned();
    }
    let words = words(text);
    let made = Layout::new(text, &words, indent).run();
    // White space may be more than that in ways not thought of; then it is not ours to change.
    if same_words(text, &words, &made) { made } else { text.to_owned() }
}

/// Whether a text has these words, with line breaks and, for the preprocessor, blanks where they were.
fn same_words(text: &str, before: &[Word], made: &str) -> bool {
    let after = words(made);
    let same = |(a, b): (&Word, &Word)| {
        a.kind == b.kind
            && a.after_newline == b.after_newline
            && (a.directive, a.directive && a.space_before)
                == (b.directive, b.directive && b.space_before)
            && text[a.range.clone()] == made[b.range.clone()]
    };
    before.len() == after.len() && before.iter().zip(&after).all(same)
}

struct Layout<'t> {
    text: &'t str,
    words: &'t [Word],
    /// The words that are neither in directives nor ends of lines, for the rules of spacing.
    tokens: Vec<Token>,
    /// By word: its place among the tokens.
    token_of: Vec<Option<usize>>,
    indent: Indent,
    levels: Levels,
    made: String,
    /// How much of the text was passed.
    position: usize,
    /// Nothing was written on the line yet.
    at_line_start: bool,
    /// Some C text does not end; no more is looked for.
    endless_c: bool,
}

impl<'t> Layout<'t> {
    fn new(text: &'t str, words: &'t [Word], indent: Indent) -> Self {
        let mut tokens = Vec::new();
        let mut token_of = Vec::with_capacity(words.len());
        for word in words {
            let code = !word.directive && word.kind != WordKind::Newline;
            token_of.push(code.then_some(tokens.len()));
            if code {
                tokens.push(token(word, text));
            }
        }
        Self {
            text,
            words,
            tokens,
            token_of,
            indent: Indent { width: indent.width.clamp(1, 16), ..indent },
            levels: Levels::default(),
            made: String::with_capacity(text.len()),
            position: 0,
            at_line_start: true,
            endless_c: false,
        }
    }

    fn run(mut self) -> String {
        let mut next = 0;
        while let Some(word) = self.words.get(next) {
            if word.directive && word.kind != WordKind::Newline {
                next = self.directive(next);
                continue;
            }
            self.between(next);
            if word.kind == WordKind::Newline {
                self.new_line(word);
                next += 1;
                continue;
            }
            let end = self.embedded_c(next);
            self.code(next, end);
            next = end;
        }
        self.between(next);
        self.made
    }

    /// A word, or embedded C up to word `end`.
    fn code(&mut self, index: usize, end: usize) {
        let (text, words) = (self.text, self.words);
        let word = &words[index];
        if self.at_line_start {
            let level = self.levels.of_line(word, text);
            self.levels.begin_line(word, level);
            self.margin(level * self.indent.width);
        } else {
            let blanks = self.blanks_before(index);
            self.made.extend(std::iter::repeat_n(' ', blanks));
        }
        self.levels.pass(word, text);
        let stop = words[end - 1].range.end;
        self.made.push_str(&text[word.range.start..stop]);
        self.position = stop;
        self.at_line_start = false;
    }

    /// The word behind the one at `index`, or behind the C text that it begins.
    fn embedded_c(&mut self, index: usize) -> usize {
        let word = &self.words[index];
        let keyword = word.kind == WordKind::Ident
            && matches!(&self.text[word.range.clone()], "c_code" | "c_decl" | "c_expr");
        if !keyword || self.endless_c {
            return index + 1;
        }
        let mut depth = 0usize;
        for (at, word) in self.words.iter().enumerate().skip(index + 1) {
            match word.kind {
                WordKind::Punct(Punct::LBrace) => depth += 1,
                WordKind::Punct(Punct::RBrace) if depth <= 1 => return at + 1,
                WordKind::Punct(Punct::RBrace) => depth -= 1,
                // There is no C text.
                WordKind::Punct(Punct::Semi) if depth == 0 => return index + 1,
                _ => {}
            }
        }
        self.endless_c = true;
        index + 1
    }

    /// A line of the preprocessor as it is, without blanks at its end.
    fn directive(&mut self, first: usize) -> usize {
        let words = self.words;
        let length = words[first..].iter().position(|word| word.kind == WordKind::Newline);
        let end = length.map_or(words.len(), |length| first + length);
        let stop = words.get(end).map_or(self.text.len(), |word| word.range.start);
        if let Some(name) = words.get(first + 1).filter(|_| first + 1 < end) {
            let name = &self.text[name.range.clone()];
            self.levels.directive(name);
        }
        let line = self.text[self.position..stop].trim_end_matches([' ', '\t', '\r']);
        self.made.push_str(line);
        self.position = stop;
        if let Some(newline) = words.get(end) {
            self.new_line(newline);
            return end + 1;
        }
        end
    }

    /// The end of a line.
    fn new_line(&mut self, word: &Word) {
        if self.text[..word.range.start].ends_with('\r') {
            self.made.push('\r');
        }
        self.made.push('\n');
        self.position = word.range.end;
        self.at_line_start = true;
    }

    /// What stands before word `next`: comments, and backslashes at ends of lines.
    fn between(&mut self, next: usize) {
        let end = self.words.get(next).map_or(self.text.len(), |word| word.range.start);
        let gap = &self.text[self.position..end];
        let mut rest = gap.trim_start();
        // A backslash at the end of a line makes it no end of a line. Rare, so all stays as it is.
        let mut lines = gap.split('\n');
        lines.next_back();
        if lines.any(|line| line.trim_end().ends_with('\\')) {
            self.made.push_str(gap);
            self.position = end;
            self.at_line_start = false;
            return;
        }
        while !rest.is_empty() {
            let start = end - rest.len();
            let length = match rest.strip_prefix("/*") {
                Some(inside) => inside.find("*/").map_or(rest.len(), |end| end + 4),
                None => rest.trim_end().len(),
            };
            let behind = self.words.get(next).is_none_or(|word| word.kind == WordKind::Newline);
            let last = behind && rest[length..].trim().is_empty();
            self.comment(start, &rest[..length], next, last);
            self.position = start + length;
            rest = rest[length..].trim_start();
        }
    }

    /// A comment before word `next`; `last` of its line, perhaps.
    fn comment(&mut self, start: usize, comment: &str, next: usize, last: bool) {
        if !self.at_line_start && !last && !comment.contains('\n') {
            self.made.push_str(&self.text[self.position..start]);
            self.made.push_str(comment);
            return;
        }
        let old_column = self.column_before(self.text, start);
        if self.at_line_start {
            let following = self.words[next..].iter().find(|word| word.kind != WordKind::Newline);
            // Before a word of its own line it is the beginning of that line.
            let level = match following.filter(|word| !word.directive) {
                Some(word) if !last => self.levels.of_line(word, self.text),
                following => self.levels.of_comment(following, self.text),
            };
            if let Some(word) = following.filter(|_| !last) {
                self.levels.begin_line(word, level);
            }
            self.margin(level * self.indent.width);
        } else {
            let column = self.column_before(&self.made, self.made.len());
            let blanks = if old_column > column { old_column - column } else { 2 };
            self.made.extend(std::iter::repeat_n(' ', blanks));
        }
        let column = self.column_before(&self.made, self.made.len());
        self.at_line_start = false;
        let mut lines = comment.split('\n');
        self.made.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.made.push('\n');
            let text = line.trim_start_matches([' ', '\t']);
            if column == old_column || text.trim().is_empty() {
                self.made.push_str(line);
                continue;
            }
            let own = self.column_before(line, line.len() - text.len());
            self.margin((own + column).saturating_sub(old_column));
            self.made.push_str(text);
        }
    }

    /// Begins a line with white space up to a column.
    fn margin(&mut self, column: usize) {
        let tabs = if self.indent.tabs { column / self.indent.width } else { 0 };
        self.made.extend(std::iter::repeat_n('\t', tabs));
        self.made.extend(std::iter::repeat_n(' ', column - tabs * self.indent.width));
    }

    /// The column of a place in its line.
    fn column_before(&self, text: &str, at: usize) -> usize {
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        text[start..at].chars().fold(0, |column, c| match c {
            '\t' => column - column % self.indent.width + self.indent.width,
            _ => column + 1,
        })
    }

    /// How many blanks belong before a word that is not the first of its line.
    fn blanks_before(&self, index: usize) -> usize {
        let gap = &self.text[self.position..self.words[index].range.start];
        let written = gap.chars().filter(|c| matches!(c, ' ' | '\t')).count();
        let (Some(at), false) = (self.token_of[index], gap.contains('\n')) else {
            return written;
        };
        let Some(before) = at.checked_sub(1) else {
            return written;
        };
        // Behind a backslash at the end of a line.
        if self.made.ends_with('\n') || self.made.ends_with(' ') {
            return written;
        }
        if gap.len() > 1 || self.as_written(before, at) {
            return written;
        }
        usize::from(space_between(&self.tokens, at))
    }

    /// Whether the blank between two words, or that there is none, is the writer's choice.
    fn as_written(&self, before: usize, at: usize) -> bool {
        use Punct::*;
        let sign = |at: usize| match self.tokens.get(at)?.kind {
            TokenKind::Punct(punct) => Some(punct),
            _ => None,
        };
        let earlier = before.checked_sub(1).and_then(sign);
        let unknown = |at: usize| self.tokens[at].kind == TokenKind::Eof;
        let temporal = matches!(&self.tokens[before].kind, TokenKind::Ident(w) if is_temporal(w));
        unknown(before)
            || unknown(at)
            || temporal
            || match (sign(before), sign(at)) {
                // Labels, ranges, remote references, kinds of names.
                (Some(Colon), _) | (_, Some(Colon)) => true,
                (Some(LBrace), Some(RBrace)) => true,
                // `[]` of a formula is followed by an operand, an index by a sign.
                (Some(RBracket), _) => earlier == Some(LBracket),
                // `c?<x>`
                (Some(Lt), _) => matches!(earlier, Some(Question | QuestionQuestion)),
                (_, Some(Gt)) => self.in_receive(before),
                _ => false,
            }
    }

    /// Whether the nearest `<` before, on the same line, belongs to a receive.
    fn in_receive(&self, from: usize) -> bool {
        let is = |at: usize, signs: &[Punct]| matches!(self.tokens[at].kind, TokenKind::Punct(p) if signs.contains(&p));
        let line = (1..=from).rev().take_while(|&at| !self.tokens[at].after_newline);
        line.take(1000)
            .find(|&at| is(at, &[Punct::Lt]))
            .is_some_and(|at| is(at - 1, &[Punct::Question, Punct::QuestionQuestion]))
    }
}

/// A word as the rules of spacing want it; what belongs to no word is an end of the text to them.
fn token(word: &Word, text: &str) -> Token {
    let written = &text[word.range.clone()];
    let kind = match word.kind {
        WordKind::Ident => TokenKind::Ident(written.to_owned()),
        WordKind::Number => TokenKind::Number(0),
        WordKind::Quoted => TokenKind::String(written.to_owned()),
        WordKind::Punct(punct) => TokenKind::Punct(punct),
        WordKind::Hash | WordKind::Other | WordKind::Newline => TokenKind::Eof,
    };
    let span = Span::new(FileId(0), word.range.start as u32, word.range.end as u32);
    Token { kind, span, after_newline: word.after_newline }
}
