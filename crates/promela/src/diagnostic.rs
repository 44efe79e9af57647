//! What is wrong with a model, or dubious in it, and where.

use crate::Code;
use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The model means something, but perhaps not what was meant.
    Warning,
    /// The model means nothing.
    Error,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which rule it is about.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; none for a mistake of the whole model (an unreadable file).
    pub span: Option<Span>,
    /// What stands under the caret.
    pub label: String,
    /// Other places that matter, with what they are.
    pub related: Vec<(Span, String)>,
    /// Why it is wrong, in more words.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), ..Self::of_model(code, message) }
    }

    /// A mistake of the model as a whole.
    pub fn of_model(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            span: None,
            label: String::new(),
            related: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Puts text under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Says more.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Whether the model means nothing because of this.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
