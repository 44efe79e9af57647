//! The second search of nested depth-first searches: what can be reached from a state once more.
//!
//! Whoever makes one decides where it goes, and sees to it that no state is searched from too often; why that
//! loses nothing depends on the order in which second searches are made. All its states
//! were visited by the first search, which has met what is wrong there.
//!
//! *Cost*: where each state is searched from once, all second searches together expand it once more; four
//! bytes for each state that waits.

use spinward_machine::System;
use spinward_store::Store;

use super::graph::{Edge, Event, Graph};
use crate::chunked::Chunked;
use crate::limits::{Limit, Watch};

/// What to do with an edge of the second search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Leave it.
    Skip,
    /// Go on from where it leads.
    Go,
    /// It closes a cycle that is an error.
    Found,
}

/// Room for second searches, one after the other.
#[derive(Debug)]
pub(crate) struct Second {
    /// States that wait, the next on top.
    stack: Chunked<u32>,
}

impl Second {
    pub fn new() -> Self {
        Self { stack: Chunked::new() }
    }

    /// Searches from a state; `judge` is asked for each edge and the state from which it comes, and notes to
    /// which states the search goes. The state to which an edge leads that closes a cycle, if there is one.
    pub fn search<S: System, T: Store>(
        &mut self,
        graph: &mut Graph<'_, S, T>,
        start: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        judge: impl FnMut(&Graph<'_, S, T>, u32, Edge) -> Result<Next, Limit>,
    ) -> Result<Option<u32>, Limit> {
        let found = self.run(graph, start, scratch, watch, judge);
        // What is wrong there is known.
        graph.events.clear();
        found
    }

    fn run<S: System, T: Store>(
        &mut self,
        graph: &mut Graph<'_, S, T>,
        start: u32,
        scratch: &mut S::Scratch,
        watch: &mut Watch<'_>,
        mut judge: impl FnMut(&Graph<'_, S, T>, u32, Edge) -> Result<Next, Limit>,
    ) -> Result<Option<u32>, Limit> {
        self.stack.push(start, &graph.memory)?;
        while let Some(state) = self.stack.pop() {
            watch.tick(&graph.counts, 0, &graph.memory)?;
            graph.expand(state, scratch)?;
            let before = self.stack.len();
            for index in 0..graph.events.len() {
                let Event::Edge(edge) = graph.events[index] else { continue };
                graph.counts.transitions += 1;
                match judge(graph, state, edge)? {
                    Next::Skip => {}
                    Next::Go => self.stack.push(edge.to, &graph.memory)?,
                    Next::Found => {
                        self.stack.release(&graph.memory);
                        return Ok(Some(edge.to));
                    }
                }
            }
            self.reverse(before);
        }
        Ok(None)
    }

    /// Puts the first of those that were pushed last on top.
    fn reverse(&mut self, start: usize) {
        let (mut low, mut high) = (start, self.stack.len());
        while low + 1 < high {
            high -= 1;
            let (first, last) = (self.stack.get(low), self.stack.get(high));
            self.stack.set(low, last);
            self.stack.set(high, first);
            low += 1;
        }
    }
}
