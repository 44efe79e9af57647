//! Searches that go by a guide.

use spinward_guide::{GUIDES, Subject};
use spinward_machine::{Machine, Step, System};
use spinward_search::directed::best_first::{Rank, best_first, best_first_of_less};
use spinward_search::directed::{Directed, Range};
use spinward_search::reduced::Reduced;
use spinward_search::{Outcome, Progress, Request};
use spinward_trail::replay;

use super::{Running, Systems};
use crate::Error;
use crate::options::Guide;

impl Running<'_> {
    /// Searches the best states first.
    pub(super) fn by_guide<S: System, W: System>(
        &mut self,
        rank: Rank,
        system: &S,
        scratch: &mut S::Scratch,
        Systems { whole, less, reduces, subject, whole_subject }: Systems<'_, W>,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Outcome, Error> {
        let wanted = match &self.check.guide {
            Some(guide) => guide.clone(),
            None => usual(rank, &subject)?,
        };
        self.guide = wanted.to_string();
        let sure: Guide = SURE.parse()?;
        let (guide, bound) = (wanted.build(&subject)?, sure.build(&subject)?);
        let directed = Directed { guide: &*guide, bound: Some(&*bound) };
        let (outcome, range) = if less {
            let (guide, bound) = (wanted.build(&whole_subject)?, sure.build(&whole_subject)?);
            let of_whole = (whole, Directed { guide: &*guide, bound: Some(&*bound) });
            if reduces {
                let of_less = (&Reduced(system), directed);
                best_first_of_less(of_less, of_whole, scratch, request, rank, progress)
            } else {
                best_first_of_less((system, directed), of_whole, scratch, request, rank, progress)
            }
        } else {
            best_first(system, scratch, request, rank, directed, progress)
        };
        self.note_range(range);
        Ok(outcome)
    }

    /// The state to come near to, if a run to it was given.
    pub(super) fn target(&self, machine: &Machine) -> Result<Option<Vec<u8>>, Error> {
        let Some(steps) = &self.check.target else {
            return Ok(None);
        };
        let steps: Vec<Step> = steps.iter().filter(|step| !step.is_claim()).copied().collect();
        match replay(machine, &steps, &mut |_| {}) {
            Ok(outcome) => Ok(Some(outcome.last.state)),
            Err(misfit) => Err(Error::Usage(format!("the trail does not fit the model: {misfit}"))),
        }
    }

    fn note_range(&mut self, range: Range) {
        let all = self.statistics.estimates.get_or_insert([range.least, range.most]);
        *all = [all[0].min(range.least), all[1].max(range.most)];
    }
}

/// A guide that may find an error soon.
pub(super) fn quick<'a>(subject: &Subject<'a>) -> Option<Box<dyn spinward_guide::Guide + 'a>> {
    usual(Rank::Estimate, subject).ok()?.build(subject).ok()
}

/// The guide that is always right, and knows all properties.
const SURE: &str = "formula";

/// Guides for a search by estimates alone, the first of which that fits is taken.
const USUAL: &[&str] = &["formula=sum", "active", "formula"];

/// The guide that is taken if none is asked for.
fn usual(rank: Rank, subject: &Subject<'_>) -> Result<Guide, Error> {
    let names = if rank == Rank::Estimate { USUAL } else { &[SURE] };
    let parsed = names.iter().filter_map(|name| name.parse::<Guide>().ok());
    let fits = |guide: &Guide| guide.build(subject).is_ok();
    parsed.into_iter().find(fits).ok_or_else(|| {
        let names: Vec<_> = GUIDES.iter().map(|it| it.name).collect();
        Error::Usage(format!("no guide fits; ask for one of: {}", names.join(", ")))
    })
}
