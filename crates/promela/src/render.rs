//! Diagnostics as text with carets.
//!
//! Only the lines a diagnostic points at are handed to the renderer, and of a very long line only
//! the part around the mark, so that the size of the file does not matter.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};

use crate::source::{ExpansionId, SourceFile};
use crate::{Diagnostic, Severity, SourceMap, Span};

/// Diagnostics shown at most by [`render_all`].
pub(crate) const MAX_SHOWN: usize = 50;
/// Levels shown of a chain of macro expansions or includes.
const MAX_LEVELS: usize = 5;
/// Other marks are shown with the main one if they are at most this many lines away.
const NEARBY_LINES: usize = 12;
/// A mark over more lines than this is cut to its first line.
const MAX_MARKED_LINES: usize = 6;
/// A line is cut this many bytes after its last mark, and before its first mark if that is further
/// from the start of the line. What is left the renderer fits to the width of a terminal.
const LINE_CONTEXT: usize = 2000;
/// Characters shown of a message, which may quote a very long word.
const MAX_MESSAGE: usize = 600;

/// One diagnostic as a terminal shows it; colours if asked for.
pub fn render(source: &SourceMap, diagnostic: &Diagnostic, color: bool) -> String {
    let title = level(diagnostic.severity).primary_title(shorten(&diagnostic.message));
    let main = Group::with_title(title.id(diagnostic.code.name()))
        .elements(places(source, diagnostic))
        .elements(included_from(source, diagnostic).map(|text| Level::NOTE.message(text)));
    let mut groups = vec![main];
    groups.extend(expansions(source, diagnostic));
    let last = groups.pop().map(|group| {
        let notes = diagnostic.notes.iter().map(|note| Level::NOTE.message(shorten(note)));
        let help = diagnostic.help.iter().map(|help| Level::HELP.message(shorten(help)));
        group.elements(notes).elements(help)
    });
    groups.extend(last);
    renderer(color).render(&groups)
}

fn renderer(color: bool) -> Renderer {
    if color { Renderer::styled() } else { Renderer::plain() }
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    }
}

/// All diagnostics and a line that sums them up; of very many the first ones, errors before
/// warnings. Nothing if there are none.
pub fn render_all(source: &SourceMap, diagnostics: &[Diagnostic], color: bool) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let mut shown: Vec<&Diagnostic> = diagnostics.iter().collect();
    if shown.len() > MAX_SHOWN {
        shown.sort_by_key(|diagnostic| !diagnostic.is_error());
        shown.truncate(MAX_SHOWN);
    }
    let mut text = String::new();
    for diagnostic in &shown {
        text += &render(source, diagnostic, color);
        text += "\n\n";
    }
    let hidden = diagnostics.len() - shown.len();
    if hidden > 0 {
        text += &format!("... and {hidden} more\n\n");
    }
    text += &summary(diagnostics, color);
    text.push('\n');
    text
}

/// A message fit to be shown: not too long, and without characters that command a terminal.
fn shorten(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && c != '\n';
    if text.char_indices().nth(MAX_MESSAGE).is_none() {
        return match text.contains(is_harmful) {
            false => Cow::Borrowed(text),
            true => Cow::Owned(text.replace(is_harmful, "\u{fffd}")),
        };
    }
    // What is long is a name, mostly; the words that matter may stand on both sides of it.
    let position = |(at, _)| at;
    let head = text.char_indices().nth(MAX_MESSAGE / 2).map_or(text.len(), position);
    let tail = text.char_indices().rev().nth(MAX_MESSAGE / 2).map_or(0, position);
    let shown = format!("{}...{}", &text[..head], &text[tail..]);
    Cow::Owned(shown.replace(is_harmful, "\u{fffd}"))
}

fn summary(diagnostics: &[Diagnostic], color: bool) -> String {
    let count = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.len() - errors;
    let (severity, summary) = match (errors, warnings) {
        (0, warnings) => {
            (Severity::Warning, format!("the model has {}", count(warnings, "warning")))
        }
        (errors, 0) => {
            (Severity::Error, format!("could not read the model: {}", count(errors, "error")))
        }
        (errors, warnings) => {
            let (errors, warnings) = (count(errors, "error"), count(warnings, "warning"));
            (Severity::Error, format!("could not read the model: {errors}, {warnings}"))
        }
    };
    let title = level(severity).primary_title(summary);
    renderer(color).render(&[Group::with_title(title)])
}

/// The place of a diagnostic and the places related to it.
fn places<'a>(source: &'a SourceMap, diagnostic: &'a Diagnostic) -> Vec<Element<'a>> {
    let mut elements = Vec::new();
    let mut far = Vec::new();
    let mut near = Vec::new();
    for (span, label) in &diagnostic.related {
        let mark = Mark { span: *span, label, kind: AnnotationKind::Context };
        match diagnostic.span {
            Some(main) if is_near(source, main, *span) => near.push(mark),
            _ => far.push(mark),
        }
    }
    if let Some(span) = diagnostic.span {
        near.insert(0, Mark { span, label: &diagnostic.label, kind: AnnotationKind::Primary });
        elements.extend(excerpt(source, &near));
    }
    for mark in far {
        elements.extend(excerpt(source, &[mark]));
    }
    elements
}

/// For text inserted by macros: the uses, from the inside out.
fn expansions<'a>(source: &'a SourceMap, diagnostic: &Diagnostic) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    let mut id = diagnostic.span.map_or(ExpansionId::NONE, |span| span.expansion);
    let mut hidden = 0;
    while let Some(expansion) = source.expansion(id) {
        if groups.len() < MAX_LEVELS {
            let title = format!("in this expansion of `{}`", shorten(&expansion.name));
            let mark = Mark { span: expansion.call, label: "", kind: AnnotationKind::Primary };
            groups.push(
                Group::with_title(Level::NOTE.secondary_title(title))
                    .elements(excerpt(source, &[mark])),
            );
        } else {
            hidden += 1;
        }
        let outer = expansion.call.expansion;
        if outer.0 >= id.0 {
            break;
        }
        id = outer;
    }
    if hidden > 0
        && let Some(last) = groups.pop()
    {
        let text = format!("and {hidden} more levels of expansion");
        groups.push(last.element(Level::NOTE.message(text)));
    }
    groups
}

/// For text of an included file: the `#include`s that brought it in, from the inside out.
fn included_from(source: &SourceMap, diagnostic: &Diagnostic) -> impl Iterator<Item = String> {
    let mut lines = Vec::new();
    let mut hidden = 0;
    let mut file = diagnostic.span.map(|span| span.file);
    while let Some(span) = file.and_then(|file| source.file(file).included_from) {
        if lines.len() < MAX_LEVELS {
            let path = source.path(span).display();
            lines.push(format!("included from {path}:{}", source.line(span)));
        } else {
            hidden += 1;
        }
        file = Some(span.file).filter(|&outer| Some(outer) < file);
    }
    if hidden > 0 {
        lines.push(format!("and from {hidden} more files"));
    }
    lines.into_iter()
}

/// A place in the text with a note.
struct Mark<'a> {
    span: Span,
    label: &'a str,
    kind: AnnotationKind,
}

fn is_near(source: &SourceMap, main: Span, other: Span) -> bool {
    let lines = |span| source.line(span) as usize;
    main.file == other.file && lines(main).abs_diff(lines(other)) <= NEARBY_LINES
}

/// The position of the first of some marks in one file, and the lines of all of them.
fn excerpt<'a>(source: &'a SourceMap, marks: &[Mark<'a>]) -> Vec<Element<'a>> {
    let Some(first) = marks.first() else {
        return Vec::new();
    };
    let file = source.file(first.span.file);
    let ranges: Vec<Range<usize>> = marks.iter().map(|mark| marked(file, mark.span)).collect();
    let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let window = line_start(file, start)..line_end(file, end);
    let position = source.position(first.span);
    let lines_above = file.text[window.start..ranges[0].start].matches('\n').count();

    let path = file.path.display().to_string();
    // Of an empty snippet nothing would be shown, not even where it is.
    if file.text.is_empty() {
        return vec![Origin::path(path).into()];
    }
    let excerpt = Excerpt::new(&file.text, window, &ranges);
    let annotations = marks.iter().zip(ranges).map(|(mark, range)| {
        let range = excerpt.position(range.start)..excerpt.position(range.end);
        annotation(mark, range)
    });
    let annotations: Vec<_> = annotations.collect();
    let snippet = Snippet::source(excerpt.text)
        .line_start(position.line as usize - lines_above)
        .annotations(annotations);
    if excerpt.columns_kept {
        vec![snippet.path(path).into()]
    } else {
        let origin =
            Origin::path(path).line(position.line as usize).char_column(position.column as usize);
        vec![origin.into(), snippet.into()]
    }
}

fn annotation<'a>(mark: &Mark<'a>, range: Range<usize>) -> Annotation<'a> {
    let label = Some(shorten(mark.label)).filter(|label| !label.is_empty());
    mark.kind.span(range).label(label)
}

/// The bytes to be marked for a span, whatever the span says.
fn marked(file: &SourceFile, span: Span) -> Range<usize> {
    let start = char_boundary(&file.text, span.start as usize);
    let end = char_boundary(&file.text, span.end as usize).max(start);
    let too_long = file.text[start..end].matches('\n').count() >= MAX_MARKED_LINES;
    start..if too_long { line_end(file, start) } else { end }
}

fn char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn line_start(file: &SourceFile, at: usize) -> usize {
    file.text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(file: &SourceFile, at: usize) -> usize {
    let line = file.text[at..].split('\n').next().unwrap_or("");
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// Lines of a file without the parts of very long lines that are far from every mark.
struct Excerpt {
    text: String,
    /// Where parts of the file start in the excerpt: position in the file and in the excerpt.
    parts: Vec<(usize, usize)>,
    /// No line lost its start.
    columns_kept: bool,
}

impl Excerpt {
    fn new(text: &str, window: Range<usize>, marks: &[Range<usize>]) -> Self {
        let mut excerpt = Self { text: String::new(), parts: Vec::new(), columns_kept: true };
        let mut at = window.start;
        for line in text[window].split_inclusive('\n') {
            let line = at..at + line.len();
            at = line.end;
            excerpt.copy_line(text, line, marks);
        }
        excerpt
    }

    fn copy_line(&mut self, text: &str, line: Range<usize>, marks: &[Range<usize>]) {
        let on_line = marks.iter().filter(|mark| mark.start < line.end && line.start <= mark.end);
        let (first, last) = on_line.fold((line.end, line.start), |(first, last), mark| {
            (first.min(mark.start), last.max(mark.end))
        });
        let first = first.max(line.start);
        let last = last.clamp(line.start, first.saturating_add(LINE_CONTEXT));
        let start = char_boundary(text, first.saturating_sub(LINE_CONTEXT)).max(line.start);
        let end = char_boundary(text, last + LINE_CONTEXT).clamp(start, line.end);
        self.columns_kept &= start == line.start;
        self.parts.push((start, self.text.len()));
        self.text.push_str(&text[start..end]);
        if end < line.end {
            self.text.push('\n');
        }
    }

    /// Where a position in the file is in the excerpt; one that is left out, at the end of the part
    /// before it.
    fn position(&self, at: usize) -> usize {
        let part = self.parts.partition_point(|&(start, _)| start <= at);
        let Some(&(start, in_excerpt)) = part.checked_sub(1).and_then(|i| self.parts.get(i)) else {
            return 0;
        };
        let next = self.parts.get(part).map_or(self.text.len(), |next| next.1);
        char_boundary(&self.text, (in_excerpt + at - start).min(next))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::Code;
    use crate::source::{Expansion, ExpansionKind, FileId};

    fn source(text: &str) -> (SourceMap, FileId) {
        let mut source = SourceMap::default();
        let file = source.add_file(PathBuf::from("model.pml"), text.to_owned(), None);
        (source, file)
    }

    #[test]
    fn places_near_and_far() {
        let text = format!("byte x;\nbyte x;\n{}\tx = 1;\t\tx = 2\n", "\n".repeat(40));
        let (source, file) = source(&text);
        let at = |needle: &str| {
            let start = text.find(needle).unwrap() as u32;
            Span::new(file, start, start + 1)
        };
        let problem = Diagnostic::new(Code::Unexpected, at("x = 2"), "message")
            .label("label")
            .related(at("x = 1"), "near")
            .related(at("x;\nbyte"), "far")
            .note("a note")
            .help("a help");
        expect![[r#"
            error[E0201]: message
              --> model.pml:43:10
               |
            43 |     x = 1;        x = 2
               |     - near        ^ label
               |
              ::: model.pml:1:6
               |
             1 | byte x;
               |      - far
               |
               = note: a note
               = help: a help"#]]
        .assert_eq(&render(&source, &problem, false));
    }

    #[test]
    fn a_long_line_is_cut_but_its_column_is_right() {
        for length in [500, 100_000] {
            let text = format!("{}!{}", "é ".repeat(length), " y".repeat(length));
            let (source, file) = source(&text);
            let start = text.find('!').unwrap() as u32;
            let span = Span::new(file, start, start + 1);
            let shown = render(&source, &Diagnostic::new(Code::Unexpected, span, "here"), false);
            assert!(shown.contains(&format!("model.pml:1:{}\n", 2 * length + 1)));
            assert!(shown.lines().all(|line| line.chars().count() <= 160));
            assert!(shown.lines().count() < 8);
        }
    }

    #[test]
    fn a_mark_over_many_lines_shows_the_first() {
        let text = "a {\n".to_owned() + &"b\n".repeat(1000) + "}\n";
        let (source, file) = source(&text);
        let span = Span::new(file, 2, text.len() as u32 - 1);
        let problem = Diagnostic::new(Code::Unexpected, span, "too long").label("this");
        expect![[r#"
            error[E0201]: too long
             --> model.pml:1:3
              |
            1 | a {
              |   ^ this"#]]
        .assert_eq(&render(&source, &problem, false));
    }

    #[test]
    fn a_long_chain_of_expansions_is_cut() {
        let (mut source, file) = source("a b");
        let mut span = Span::new(file, 0, 1);
        for i in 0..8 {
            let expansion = source.add_expansion(Expansion {
                kind: ExpansionKind::Macro,
                name: format!("m{i}"),
                call: span,
            });
            span = Span { expansion, ..Span::new(file, 2, 3) };
        }
        let shown = render(&source, &Diagnostic::new(Code::Unexpected, span, "deep"), false);
        assert_eq!(shown.matches("in this expansion of").count(), MAX_LEVELS);
        assert!(shown.ends_with("and 3 more levels of expansion"));
    }

    #[test]
    fn all_diagnostics_end_with_a_summary() {
        let (source, file) = source("x\n");
        let span = Span::new(file, 0, 1);
        let error = || Diagnostic::new(Code::Unexpected, span, "wrong");
        let warning = || Diagnostic::new(Code::StrayElse, span, "odd");
        assert_eq!(render_all(&source, &[], false), "");
        expect![[r#"
            warning[W0203]: odd
             --> model.pml:1:1
              |
            1 | x
              | ^

            error[E0201]: wrong
             --> model.pml:1:1
              |
            1 | x
              | ^

            error[E0201]: wrong
             --> model.pml:1:1
              |
            1 | x
              | ^

            error: could not read the model: 2 errors, 1 warning
        "#]]
        .assert_eq(&render_all(&source, &[warning(), error(), error()], false));
        expect![[r#"
            warning[W0203]: odd
             --> model.pml:1:1
              |
            1 | x
              | ^

            warning: the model has 1 warning
        "#]]
        .assert_eq(&render_all(&source, &[warning()], false));

        let mut many: Vec<_> = (0..60).map(|_| warning()).collect();
        many.push(error());
        let shown = render_all(&source, &many, false);
        assert!(shown.starts_with("error[E0201]: wrong"));
        let end = "... and 11 more\n\nerror: could not read the model: 1 error, 60 warnings\n";
        assert!(shown.ends_with(end));
    }

    #[test]
    fn messages_are_fit_to_be_shown() {
        let (source, _) = source("");
        let long = Diagnostic::of_model(Code::Unexpected, "x".repeat(10_000)).note("\x1b[31m");
        let shown = render(&source, &long, false);
        assert!(shown.len() < 1000 && !shown.contains('\x1b'));
    }

    #[test]
    fn colours_only_if_asked_for() {
        let (source, file) = source("x\n");
        let problem = Diagnostic::new(Code::Unexpected, Span::new(file, 0, 1), "wrong");
        assert!(!render(&source, &problem, false).contains('\x1b'));
        assert!(render(&source, &problem, true).contains('\x1b'));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// A span that is wrong must not make things worse.
        #[test]
        fn any_span_is_shown(
            text in "(\\PC|[\r\n\té]){0,40}",
            spans in proptest::collection::vec((0..60u32, 0..60u32), 1..4),
        ) {
            let (source, file) = source(&text);
            let mut spans = spans.into_iter().map(|(start, end)| Span::new(file, start, end));
            let first = spans.next().unwrap();
            let problem = spans.fold(Diagnostic::new(Code::Unexpected, first, "wrong"), |problem, span| {
                problem.related(span, "too")
            });
            render(&source, &problem, false);
        }
    }
}
