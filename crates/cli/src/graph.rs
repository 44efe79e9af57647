//! `spinward graph`: draws the automata of a model.
