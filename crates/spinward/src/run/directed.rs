//! Searches that go by a guide.

use std::sync::OnceLock;
use std::time::Instant;

use spinward_guide::{Begin, GUIDES, Misfit, Patience, Room, Subject, Target, Unguided, Way};
use spinward_machine::{Machine, Step, System};
use spinward_search::directed::beam::beam;
use spinward_search::directed::best_first::{Rank, best_first, best_first_of_less};
use spinward_search::directed::hill::hill;
use spinward_search::directed::ida::{ida, ida_of_less, partial_ida};
use spinward_search::directed::random::random;
use spinward_search::directed::{Directed, Range};
use spinward_search::external::{external, external_of_less};
use spinward_search::reduced::Reduced;
use spinward_search::{Limits, Outcome, Progress, Request};
use spinward_trail::replay;

use super::{Lost, Running, Systems};
use crate::Error;
use crate::disk::Disk;
use crate::memory::own_memory;
use crate::options::Guide;
use crate::plan::{Algorithm, Emptiness};
use crate::words::counted;

impl Running<'_> {
    /// Searches first where an error seems near.
    pub(super) fn by_guide<S: System, W: System>(
        &mut self,
        system: &S,
        scratch: &mut S::Scratch,
        systems: Systems<'_, W>,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(Outcome, Option<Lost>), Error> {
        let subject = systems.subject;
        let wanted = self.wanted_guide(&subject)?;
        let (started, before) = (Instant::now(), own_memory());
        let less = |taken: u64| {
            let limits = Limits {
                time: request.limits.time.map(|time| time.saturating_sub(started.elapsed())),
                memory: request.limits.memory.map(|bytes| bytes.saturating_sub(taken)),
                ..request.limits.clone()
            };
            Request { limits, ..request.clone() }
        };
        let taken = || own_memory().saturating_sub(before);
        if wanted.grows() && may_grow(self.method.algorithm) {
            let most = request.limits.memory.map_or(u64::MAX, |bytes| GROWTH_BYTES.min(bytes / 8));
            return wanted.grow(&subject, Begin::Now, most, |guide| {
                // One that is there needs no more, but another one, for the whole system, does.
                let keeps = guide.goes_on() || systems.less;
                let request = &less(taken() + if keeps { most } else { 0 });
                let by = (guide as &dyn spinward_guide::Guide, most);
                let found = self.follow(&wanted, by, system, scratch, systems, request, progress);
                self.statistics.seconds.guide += guide.elapsed().as_secs_f64();
                found
            })?;
        }
        let guide = wanted.build(&subject)?;
        self.statistics.seconds.guide += started.elapsed().as_secs_f64();
        let request = &less(taken());
        self.follow(&wanted, (&*guide, 0), system, scratch, systems, request, progress)
    }

    #[expect(clippy::too_many_arguments, reason = "what is searched, by what, and with what")]
    /// Searches by a guide, beside which so many bytes are kept for another one.
    fn follow<S: System, W: System>(
        &mut self,
        wanted: &Guide,
        (guide, kept): (&dyn spinward_guide::Guide, u64),
        system: &S,
        scratch: &mut S::Scratch,
        systems: Systems<'_, W>,
        request: &Request,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(Outcome, Option<Lost>), Error> {
        let algorithm = self.method.algorithm;
        if guide.remembers() && matches!(algorithm, Algorithm::Ida(_) | Algorithm::PartialIda(..)) {
            return Err(Error::Usage(format!(
                "by the guide '{wanted}' the search 'ida' would never end: what was seen before seems farther each time; \
                 use it with --search astar or greedy"
            )));
        }
        let directed = Directed { guide, bound: None };
        let reduced = &Reduced(system);
        let (mut lost, mut another) = (None, Another::default());
        let (outcome, range) = match algorithm {
            Algorithm::Beam(width) => beam(reduced, scratch, request, width, directed, progress),
            Algorithm::Hill => hill(reduced, scratch, request, directed, progress),
            Algorithm::Random(seed) => random(reduced, scratch, request, seed, directed, progress),
            Algorithm::PartialIda(weight, asked) => {
                let table = self.table(asked, request, 1)?;
                let (outcome, range, omissions) =
                    partial_ida(reduced, scratch, request, weight, table, directed, progress);
                lost = Some((asked, table, omissions));
                (outcome, range)
            }
            _ => by_length(
                algorithm,
                (wanted, guide, kept),
                system,
                scratch,
                systems,
                request,
                self.disk.as_mut(),
                &mut another,
                progress,
            )?,
        };
        self.statistics.seconds.guide += another.seconds;
        let outcome = self.check_disk(outcome)?;
        self.note_range(range);
        guide.notes().iter().chain(&another.notes).for_each(|note| self.note(note.clone()));
        let left = outcome.counts.states.saturating_sub(outcome.counts.expanded);
        if guide.rules_out() && outcome.is_complete() && left > 0 {
            self.ruled_out = true;
            let states = counted(left, "state");
            self.note(format!(
                "the guide {wanted} shows that nothing can go wrong from {states}, not expanded therefore"
            ));
        }
        Ok((outcome, lost))
    }

    /// The guide to go by: that asked for, or the usual one.
    fn wanted_guide(&mut self, subject: &Subject<'_>) -> Result<Guide, Error> {
        let wanted = match &self.check.guide {
            Some(guide) => guide.clone(),
            None => usual(self.method.algorithm, subject)?,
        };
        self.guide = wanted.to_string();
        Ok(wanted)
    }

    /// A guide to where infinite runs may be errors, if the search goes by one.
    pub(super) fn guide_to_cycles<'s>(
        &mut self,
        subject: &Subject<'s>,
    ) -> Result<Option<Box<dyn spinward_guide::Guide + 's>>, Error> {
        if self.method.emptiness != Emptiness::GuidedNested {
            return Ok(None);
        }
        let guide = self.wanted_guide(subject)?.build(subject)?;
        if guide.asks_the_way() {
            return Err(Error::Usage(format!(
                "the guide '{}' goes by the steps to a state, which the search '{}' does not know; use --guide \
                 formula",
                self.guide, self.check.search
            )));
        }
        Ok(Some(guide))
    }

    /// The state to come near to, if a run to it was given.
    pub(super) fn target(&self, machine: &Machine) -> Result<Option<Target>, Error> {
        let Some(steps) = &self.check.target else {
            return Ok(None);
        };
        let steps: Vec<Step> = steps.iter().filter(|step| !step.is_claim()).copied().collect();
        match replay(machine, &steps, &mut |_| {}) {
            Ok(outcome) => Ok(Some(Target::new(machine, outcome.last.state))),
            Err(misfit) => Err(Error::Usage(format!("the trail does not fit the model: {misfit}"))),
        }
    }

    pub(super) fn note_range(&mut self, range: Range) {
        if range.least > range.most {
            // All that was met is ruled out.
            return;
        }
        let all = self.statistics.estimates.get_or_insert([range.least, range.most]);
        *all = [all[0].min(range.least), all[1].max(range.most)];
    }
}

/// What may be spent on a guide: all of the time, and half of the memory.
pub(super) fn patience(limits: &Limits) -> Patience<'_> {
    let until = limits.time.and_then(|time| Instant::now().checked_add(time));
    let memory = limits.memory.map(|bytes| (own_memory as fn() -> u64, own_memory() + bytes / 2));
    Patience { stop: Some(&limits.stop), until, memory, meter: None }
}

/// What a guide cost and told that was made for the whole of a system.
#[derive(Default)]
struct Another {
    seconds: f64,
    notes: Vec<String>,
}

#[expect(clippy::too_many_arguments, reason = "what is searched, by what, and with what")]
/// Searches in a way that can see to it that runs are shortest ones, if need be among all moves and states.
fn by_length<S: System, W: System>(
    algorithm: Algorithm,
    (wanted, guide, kept): (&Guide, &dyn spinward_guide::Guide, u64),
    system: &S,
    scratch: &mut S::Scratch,
    Systems { whole, less, reduces, subject, whole_subject }: Systems<'_, W>,
    request: &Request,
    disk: Option<&mut Disk>,
    another: &mut Another,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Outcome, Range), Error> {
    let sure: Guide = SURE.parse()?;
    let bound = sure.build(&subject)?;
    let directed = Directed { guide, bound: Some(&*bound) };
    if !less {
        return Ok(match algorithm {
            _ if let Some(disk) = disk => {
                let (request, stages) = (&disk.request(request)?, &mut disk.stages);
                external(system, scratch, request, directed, stages, progress)
            }
            Algorithm::Ida(weight) => ida(system, scratch, request, weight, directed, progress),
            _ => best_first(system, scratch, request, rank(algorithm), directed, progress),
        });
    }
    let whole_bound = sure.build(&whole_subject)?;
    let (of_less, of_reduced) = ((system, directed), (&Reduced(system), directed));
    let search = |whole_guide: &dyn spinward_guide::Guide| {
        let of_whole = (whole, Directed { guide: whole_guide, bound: Some(&*whole_bound) });
        Ok(match algorithm {
            _ if let Some(disk) = disk => {
                let (request, stages) = (&disk.request(request)?, &mut disk.stages);
                match reduces {
                    true => {
                        external_of_less(of_reduced, of_whole, scratch, request, stages, progress)
                    }
                    false => {
                        external_of_less(of_less, of_whole, scratch, request, stages, progress)
                    }
                }
            }
            Algorithm::Ida(weight) if reduces => {
                ida_of_less(of_reduced, of_whole, scratch, request, weight, progress)
            }
            Algorithm::Ida(weight) => {
                ida_of_less(of_less, of_whole, scratch, request, weight, progress)
            }
            _ if reduces => {
                let rank = rank(algorithm);
                best_first_of_less(of_reduced, of_whole, scratch, request, rank, progress)
            }
            _ => {
                let rank = rank(algorithm);
                best_first_of_less(of_less, of_whole, scratch, request, rank, progress)
            }
        })
    };
    if wanted.grows() && may_grow(algorithm) {
        return wanted.grow(&whole_subject, Begin::WhenAsked, kept, |guide| {
            let found = search(guide);
            let notes = spinward_guide::Guide::notes(guide).to_vec();
            *another = Another { seconds: guide.elapsed().as_secs_f64(), notes };
            found
        })?;
    }
    let later = Later::new(|| wanted.build(&whole_subject).or_else(|_| sure.build(&whole_subject)));
    let found = search(&later);
    if let Some((guide, seconds)) = later.made.get() {
        *another = Another { seconds: *seconds, notes: guide.notes().to_vec() };
    }
    found
}

/// Whether a search gets by without its guide at first. One that goes by estimates more than by lengths would be led astray.
fn may_grow(algorithm: Algorithm) -> bool {
    match algorithm {
        Algorithm::BestFirst(_, rank) => rank == Rank::Length(1.0),
        Algorithm::Ida(_) | Algorithm::PartialIda(..) => true,
        _ => false,
    }
}

/// Bytes that a guide may take, at most, that is made while the search goes on.
const GROWTH_BYTES: u64 = 128 << 20;

/// A guide that is made when it is needed.
struct Later<'s, F> {
    make: F,
    /// How many seconds that took, too.
    made: OnceLock<(Box<dyn spinward_guide::Guide + 's>, f64)>,
}

impl<'s, F> Later<'s, F>
where
    F: Fn() -> Result<Box<dyn spinward_guide::Guide + 's>, Misfit> + Send + Sync,
{
    fn new(make: F) -> Self {
        Self { make, made: OnceLock::new() }
    }

    fn guide(&self) -> &dyn spinward_guide::Guide {
        let make = || {
            let begun = Instant::now();
            let guide = (self.make)().unwrap_or_else(|_| Box::new(Unguided));
            (guide, begun.elapsed().as_secs_f64())
        };
        &*self.made.get_or_init(make).0
    }
}

impl<'s, F> spinward_guide::Guide for Later<'s, F>
where
    F: Fn() -> Result<Box<dyn spinward_guide::Guide + 's>, Misfit> + Send + Sync,
{
    fn estimate(&self, state: &[u8], way: Way<'_>, room: &mut Room) -> u32 {
        self.guide().estimate(state, way, room)
    }

    fn is_admissible(&self) -> bool {
        self.guide().is_admissible()
    }

    fn is_consistent(&self) -> bool {
        self.guide().is_consistent()
    }

    fn rules_out(&self) -> bool {
        self.guide().rules_out()
    }

    fn asks_the_way(&self) -> bool {
        self.guide().asks_the_way()
    }

    fn remembers(&self) -> bool {
        self.guide().remembers()
    }
}

/// What makes a state better than others.
fn rank(algorithm: Algorithm) -> Rank {
    match algorithm {
        Algorithm::BestFirst(_, rank) => rank,
        Algorithm::ExternalAstar => Rank::Length(1.0),
        Algorithm::Ida(weight) | Algorithm::PartialIda(weight, _) => Rank::Length(weight),
        _ => Rank::Estimate,
    }
}

/// The guide that is always right, and knows all properties.
pub(super) const SURE: &str = "formula";

/// Guides for a search by estimates alone, the first of which that fits is taken.
const USUAL: &[&str] = &["formula=sum", "active", "formula"];

/// The guide that is taken if none is asked for.
fn usual(algorithm: Algorithm, subject: &Subject<'_>) -> Result<Guide, Error> {
    let names = if rank(algorithm) == Rank::Estimate { USUAL } else { &[SURE] };
    let parsed = names.iter().filter_map(|name| name.parse::<Guide>().ok());
    let fits = |guide: &Guide| guide.build(subject).is_ok();
    parsed.into_iter().find(fits).ok_or_else(|| {
        let names: Vec<_> = GUIDES.iter().map(|it| it.name).collect();
        Error::Usage(format!("no guide fits; ask for one of: {}", names.join(", ")))
    })
}
