//! The words of the language, and what they are for.

/// Words of Promela in alphabetical order, each with what it is for.
#[rustfmt::skip]
pub const KEYWORDS: &[(&str, &str)] = &[
    ("D_proctype", "A process type of which two steps possible at once are an error."),
    ("active", "Processes of this type start by themselves: `active [n] proctype`."),
    ("assert", "`assert(e)`: it is an error if `e` is 0."),
    ("atomic", "No other process moves in between, unless a statement has to wait."),
    ("bit", "0 or 1."),
    ("bool", "`false` or `true`."),
    ("break", "Leaves the innermost `do` or `for`."),
    ("byte", "0 to 255."),
    ("c_code", "Embedded C, which is not run."),
    ("c_decl", "Embedded C, which is not run."),
    ("c_expr", "Embedded C, which is not run."),
    ("c_state", "Embedded C, which is not run."),
    ("c_track", "Embedded C, which is not run."),
    ("chan", "A channel: `chan c = [n] of { byte, mtype }`; with `[0]` sender and receiver meet."),
    ("d_step", "One step without choices; nothing in it may wait but its first statement."),
    ("do", "Repeats one of the options that can move, until `break` or `goto`."),
    ("else", "The option to take if no other one can move."),
    ("empty", "`empty(c)`: whether the channel has no message."),
    ("enabled", "`enabled(p)`: whether process `p` can move."),
    ("eval", "`eval(e)` in a receive: the value must be that of `e`."),
    ("false", "0."),
    ("fi", "Ends an `if`."),
    ("for", "`for (i : 1 .. n) { ... }`, `for (i in array) { ... }`."),
    ("full", "`full(c)`: whether the channel has no room."),
    ("get_priority", "`get_priority(p)`: the priority of process `p`."),
    ("goto", "Goes on at a label."),
    ("hidden", "The variable is no part of the state."),
    ("if", "Takes one of the options that can move; waits if none can."),
    ("init", "The process that starts first."),
    ("inline", "Statements with a name; they stand for each call."),
    ("int", "32 bits with a sign."),
    ("len", "`len(c)`: how many messages the channel holds."),
    ("local", "The variable is used by one process only."),
    ("ltl", "A temporal property: `ltl p { [] (request -> <> answer) }`."),
    ("mtype", "Names for values: `mtype = { a, b }`; and variables that hold them."),
    ("nempty", "`nempty(c)`: whether the channel has a message."),
    ("never", "A claim: runs that it follows to their end, or accepts, are errors."),
    ("nfull", "`nfull(c)`: whether the channel has room."),
    ("notrace", "Sequences of messages that must not be seen."),
    ("np_", "Whether no process is at a label that begins with `progress`."),
    ("od", "Ends a `do`."),
    ("of", "`[n] of { ... }`: the fields of a channel's messages."),
    ("pc_value", "`pc_value(p)`: where process `p` is, as a number."),
    ("pid", "The number of a process: 0 to 255."),
    ("printf", "Prints in simulation and replay."),
    ("printm", "Prints the name of an mtype value."),
    ("priority", "A process waits while one with a higher priority can move."),
    ("proctype", "A process type."),
    ("provided", "Processes of this type move only while this is true."),
    ("return", "Ends an inline with a value: `x = f(1)`."),
    ("run", "Starts a process; its value is the number of the process."),
    ("select", "`select (i : 1 .. n)`: sets `i` to any of the values."),
    ("set_priority", "`set_priority(p, n)`: sets the priority of process `p`."),
    ("short", "16 bits with a sign."),
    ("show", "Has no effect."),
    ("skip", "Does nothing, in one step."),
    ("timeout", "True if no process can move otherwise."),
    ("trace", "Sequences of messages that must be seen."),
    ("true", "1."),
    ("typedef", "A record type."),
    ("unless", "`s unless t`: goes on with `t` as soon as that can move."),
    ("unsigned", "`unsigned x : n`: n bits without a sign."),
    ("xr", "`xr c`: only this process receives from the channel."),
    ("xs", "`xs c`: only this process sends to the channel."),
];

/// Variables that every model has.
pub const PREDEFINED: &[(&str, &str)] = &[
    ("_", "Takes a value that nobody wants."),
    ("_last", "The number of the process that moved last."),
    ("_nr_pr", "How many processes there are."),
    ("_pid", "The number of this process."),
    ("_priority", "The priority of this process."),
];

/// What a word of the language is for.
pub fn meaning(word: &str) -> Option<&'static str> {
    let found = KEYWORDS.iter().chain(PREDEFINED).find(|(name, _)| *name == word);
    found.map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use spinward_promela::parser::is_keyword;

    use super::*;

    #[test]
    fn the_words_are_those_of_the_parser() {
        assert!(KEYWORDS.iter().all(|(word, _)| is_keyword(word)));
        assert!(KEYWORDS.is_sorted());
        assert!(PREDEFINED.iter().all(|(word, _)| !is_keyword(word)));
        let parser = include_str!("../../promela/src/parser/keywords.rs");
        for word in parser.split('"').filter(|word| is_keyword(word)) {
            assert!(KEYWORDS.iter().any(|(known, _)| *known == word), "{word}");
        }
    }

    /// Editors colour the words by lists of their own.
    #[test]
    fn the_words_are_coloured_everywhere() {
        let grammar = include_str!("../../../editors/vscode/syntaxes/promela.tmLanguage.json");
        let workbench = include_str!("../../web/page/highlight.js");
        for (name, text) in [("grammar", grammar), ("workbench", workbench)] {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            // A `\\b` of the grammar may stand before a word.
            let text = text.replace("\\\\b", " ");
            let words: Vec<&str> = text.split(|c| !is_part(c)).collect();
            for (word, _) in KEYWORDS {
                assert!(words.contains(word), "the {name} lacks `{word}`");
            }
        }
    }
}
