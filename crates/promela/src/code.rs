//! The codes of diagnostics: short names that stay, however the words of a message change.
//!
//! Scripts and editors know a diagnostic by its code, and `spinward explain` has a page for each. A code
//! stands for one rule of the language, and so for all messages about breaking it. Codes are never given to another
//! rule: one that is no longer used is left out.

use std::fmt;

use crate::Severity;

macro_rules! codes {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)+) => {
        /// Which rule a diagnostic is about. `E...` are errors, `W...` warnings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$meta])* $variant,)+ }

        impl Code {
            /// All of them, in the order of the book.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// As it is shown: `E0301`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

codes! {
    // Files and the preprocessor.
    /// A file that cannot be read, or not as text.
    UnreadableFile = "E0101",
    /// An included file that is not found.
    NoIncludedFile = "E0102",
    /// An `#include` that names no file.
    BadInclude = "E0103",
    /// Files that include each other without end.
    EndlessInclude = "E0104",
    /// A `#` that begins no directive.
    NoDirective = "E0105",
    /// A macro that is not defined as it must be.
    BadMacroDefinition = "E0106",
    /// A macro that is not used as it is defined.
    BadMacroCall = "E0107",
    /// A `##` that makes no word.
    BadPaste = "E0108",
    /// `#if` and `#endif` that do not match.
    UnbalancedConditional = "E0109",
    /// A condition of `#if` without a meaning.
    BadCondition = "E0110",
    /// `#error`
    ErrorDirective = "E0111",
    /// A comment, string, character or piece of C without an end.
    UnclosedText = "E0112",
    /// A character that means nothing in Promela.
    StrayCharacter = "E0113",
    /// A number that Promela cannot read.
    BadNumber = "E0114",
    /// A character constant that is none.
    BadCharacter = "E0115",
    /// `#warning`
    WarningDirective = "W0101",
    /// A macro that is defined as two things.
    MacroRedefined = "W0102",
    /// Text that the preprocessor ignores.
    TextAfterDirective = "W0103",
    /// An escape in a character constant that stands for itself.
    UnknownEscape = "W0104",

    // The form of a model.
    /// A word that does not fit.
    Unexpected = "E0201",
    /// Two statements with nothing between them.
    MissingSeparator = "E0202",
    /// Something where a statement must stand.
    NotAStatement = "E0203",
    /// Something outside of processes that does not belong there.
    NotAUnit = "E0204",
    /// A block, choice or loop without its end.
    NotClosed = "E0205",
    /// An end without a beginning.
    ClosesNothing = "E0206",
    /// A keyword as a name.
    KeywordAsName = "E0207",
    /// A type that is not there.
    NoType = "E0208",
    /// A block or option without a statement.
    NothingToDo = "E0209",
    /// `a unless b unless c`
    ChainedUnless = "E0210",
    /// A `break` without a loop.
    BreakOutsideLoop = "E0211",
    /// A statement of C.
    NotInPromela = "E0212",
    /// Two `else` in one choice.
    SecondElse = "E0213",
    /// A `return` where no value is wanted.
    StrayReturn = "E0214",
    /// A range that has nothing in it.
    EmptyRange = "E0215",
    /// A declaration of mtype names that is none.
    BadMtypeDeclaration = "E0216",
    /// An array of arrays.
    TwoDimensions = "E0217",
    /// A question about a channel as part of a calculation.
    ProbeInExpression = "E0218",
    /// A calculation with a temporal formula.
    TemporalOperand = "E0219",
    /// A message with an `unsigned` field.
    UnsignedField = "E0220",
    /// A record without fields.
    EmptyRecord = "E0221",
    /// An inline called with too few or too many arguments.
    InlineArguments = "E0222",
    /// An inline that would be replaced without end.
    InlineCallsItself = "E0223",
    /// A call of an inline that is not there.
    NoInline = "E0224",
    /// A label that cannot stand where it stands.
    MisplacedLabel = "E0225",
    /// A line that begins with `-` and is a statement of its own.
    LineEndsStatement = "W0201",
    /// `&` or `|` between formulas.
    BitOperatorInFormula = "W0202",
    /// An `else` that begins no option.
    StrayElse = "W0203",
    /// A label at the first statement of an option.
    LabelAtOption = "W0204",

    // Names and types.
    /// A name that nothing is declared by.
    NotDeclared = "E0301",
    /// A name for two things.
    Redeclared = "E0302",
    /// A label in two places.
    LabelTwice = "E0303",
    /// A name for two claims.
    ClaimNamedTwice = "E0304",
    /// A label that is not there.
    NoLabel = "E0305",
    /// A process type that is not there.
    NoProctype = "E0306",
    /// A field that is not there.
    NoField = "E0307",
    /// A look into another process that finds nothing, or too much.
    BadRemote = "E0308",
    /// The name of something else for a variable.
    NotAVariable = "E0309",
    /// An index for what is no array.
    NotAnArray = "E0310",
    /// An array without an index.
    NeedsIndex = "E0311",
    /// A record as one value.
    RecordAsValue = "E0312",
    /// A message to or from what is no channel.
    NotAChannel = "E0313",
    /// A calculation with a channel.
    ChannelAsNumber = "E0314",
    /// Names of one mtype for another.
    MixedMtypes = "E0315",
    /// A constant is wanted.
    NotConstant = "E0316",
    /// An array without elements.
    BadBound = "E0317",
    /// A width that cannot be.
    BadWidth = "E0318",
    /// A variable that cannot be `hidden`.
    BadHidden = "E0319",
    /// What cannot be a parameter or in a message.
    BadParameter = "E0320",
    /// A channel that cannot be made.
    BadChannel = "E0321",
    /// A list of initial values that cannot be given.
    BadInitialList = "E0322",
    /// A `run` that is part of something else.
    RunInExpression = "E0323",
    /// A `run` with too few or too many arguments.
    RunArguments = "E0324",
    /// A message with more fields than any channel has.
    FieldCount = "E0325",
    /// One variable for two fields of a message.
    ReceivedTwice = "E0326",
    /// A loop over what has no elements.
    BadLoopRange = "E0327",
    /// A loop counted by what cannot count.
    BadLoopVariable = "E0328",
    /// `_` as a value.
    NoValue = "E0329",
    /// A priority that cannot be.
    BadPriority = "E0330",
    /// More processes than there can be.
    TooManyProcesses = "E0331",
    /// An array indexed by an element of itself.
    IndexedByItself = "E0332",
    /// A claim on a channel (`xr`, `xs`) that cannot be made.
    BadExclusive = "E0333",
    /// A `provided` clause that looks at more than global variables.
    BadProvided = "E0334",
    /// An assignment to a constant.
    AssignedConstant = "E0335",
    /// A model without a process.
    NothingStarts = "E0336",
    /// Two `init`.
    SecondInit = "W0301",
    /// A variable as the bound of an array.
    VariableAsBound = "W0302",
    /// An initial value for a record.
    RecordInitialized = "W0303",
    /// More initial values than elements.
    TooManyValues = "W0304",
    /// A value that does not fit its variable.
    ValueTruncated = "W0305",
    /// A set of mtype names without names.
    UndeclaredSet = "W0306",
    /// An index that is out of bounds.
    NoSuchElement = "W0307",
    /// An array for its first element.
    FirstElementMeant = "W0308",
    /// The index 0 for what is no array.
    ElementOfScalar = "W0309",
    /// A format of `printf` that does not fit.
    BadFormat = "W0310",
    /// A question about what may be no channel.
    MaybeNotAChannel = "W0311",
    /// A message with another number of fields than its channel's.
    MaybeFieldCount = "W0312",

    // Steps, claims and traces.
    /// A `d_step` that is entered or left half-way.
    DStepIsOneStep = "E0401",
    /// A `run` in a `d_step`.
    RunInDStep = "E0402",
    /// A `d_step` that looks into another process.
    LookedIntoFromDStep = "E0403",
    /// A never claim that sends or receives.
    ClaimCommunicates = "E0404",
    /// A never claim with variables.
    ClaimHasVariables = "E0405",
    /// A trace with something that is no event.
    NotAnEvent = "E0406",
    /// Two traces.
    SecondTrace = "E0407",
    /// A word for claims outside of them.
    ClaimsOnly = "E0408",
    /// `enabled` beside a rendezvous channel.
    EnabledWithRendezvous = "E0409",
    /// A condition on what no state has.
    NotKnownInAState = "E0410",
    /// Temporal logic outside of a formula.
    TemporalOutsideFormula = "E0411",
    /// Jumps that lead to jumps for ever.
    EndlessJumps = "E0412",
    /// A file that is no automaton in the HOA format, or not one that we read.
    BadAutomaton = "E0413",
    /// `timeout` in a `d_step`.
    TimeoutInDStep = "W0401",
    /// A word for claims in a process.
    MeantForClaims = "W0402",
    /// An `else` beside a statement that waits for a channel.
    ElseBesideChannel = "W0403",
    /// A never claim that changes something.
    ClaimHasEffect = "W0404",
    /// A rendezvous in a `d_step`.
    RendezvousInDStep = "W0405",
    /// A label that is never seen.
    LabelWithoutEffect = "W0406",
    /// An escape of one option.
    EscapeOfGuard = "W0407",
    /// A loop that does nothing.
    IdleLoop = "W0408",

    // What cannot be done, and limits.
    /// Embedded C.
    EmbeddedC = "E0901",
    /// Macros or inlines that make too much text.
    ExpansionTooLarge = "E0902",
    /// Blocks, parentheses or records inside each other, too many.
    NestedTooDeeply = "E0903",
    /// A model that is too large.
    ModelTooLarge = "E0904",
    /// A formula that is too large.
    FormulaTooLarge = "E0905",
    /// So many errors that the rest of the model was not read.
    TooManyErrors = "E0906",
}

impl Code {
    /// How bad it is.
    pub fn severity(self) -> Severity {
        if self.name().starts_with('E') { Severity::Error } else { Severity::Warning }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice_and_all_are_sorted_by_chapter() {
        let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        assert!(names.is_sorted_by_key(|name| &name[1..3]), "chapters are mixed up");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
