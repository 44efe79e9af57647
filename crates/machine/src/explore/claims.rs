//! What processes claim to use alone, and who breaks that; see [`spinward_program::exclusive`] for why it is
//! enough to look at states in which all processes are asked.

use spinward_program::independence::End;

use crate::Machine;
use crate::eval::{Context, Mistakes};
use crate::shape::Shape;
use crate::violation::Violation;

impl Machine {
    /// Whether it is looked at what processes claim to use alone.
    pub(crate) fn minds_claims(&self) -> bool {
        self.options.exclusive
            && self.header.claim.is_none()
            && !self.program.exclusive.claims().is_empty()
    }

    /// The claims that are broken in a state between moves.
    pub(crate) fn broken_claims(&self, state: &[u8], shape: &Shape) -> Vec<Violation> {
        let mut broken = Vec::new();
        if !self.minds_claims() || self.options.reduce.is_some_and(|conditions| !conditions.claims)
        {
            return broken;
        }
        let exclusive = &self.program.exclusive;
        for user in 0..shape.processes.len() {
            let context = self.context_of(state, shape, user);
            for attempt in exclusive.attempts(shape.processes[user].kind, context.control(user)) {
                // What has no value goes wrong by itself when it is tried.
                let number = context.eval(&attempt.channel, &mut Mistakes::new()).unwrap_or(0);
                if number == 0 {
                    continue;
                }
                for (index, claim) in exclusive.claims().iter().enumerate() {
                    if !attempt.what.breaks(claim.end) {
                        continue;
                    }
                    let owners = shape.processes.iter().enumerate().filter(|&(owner, process)| {
                        owner != user
                            && process.kind == claim.body
                            && self.number_of(&context, owner, &claim.channel) == Some(number)
                    });
                    broken.extend(owners.map(|(owner, _)| Violation::NotExclusive {
                        claim: index as u16,
                        owner: owner as u8,
                        user: user as u8,
                        transition: attempt.transition,
                    }));
                }
            }
        }
        broken
    }

    /// Whether a process claims an end of a channel.
    pub(super) fn claims(
        &self,
        context: &Context<'_>,
        process: usize,
        end: End,
        number: i32,
    ) -> bool {
        let mut claims = self.program.exclusive.of(context.shape.processes[process].kind);
        self.minds_claims()
            && claims.any(|claim| {
                claim.end == end && self.number_of(context, process, &claim.channel) == Some(number)
            })
    }
}
