//! The same run with fewer changes between processes.
//!
//! Of all orders in which the units of a run can stand ([`mod@crate::dependence`]), one is looked for in which
//! processes go on as long as they can. Which is the best is hard to tell (it is NP-hard, as it is to find the best
//! order of jobs on one machine with set-up times): all ways are tried, by the number of switches, as long as there
//! are few; else of the ways with as many switches only those that have come furthest are followed, which is done first
//! since it often shows that nothing better can be. Two things make the exact search small. Segments follow one after the other, and only who moves last in one matters to the next.
//! And a process that can go on at no cost does: whatever the best order is, to have its next unit right now is as
//! good, since taking it out of a later place saves as much as it costs there.

use std::collections::HashSet;
use std::ops::Range;

use spinward_machine::{Machine, Step, System as _};

use crate::dependence::{Dependence, dependence};
use crate::replay::{Misfit, confirm, replay, same_place};

/// So many places of the exact search are looked at before it is given up.
const MAX_PLACES: usize = 200_000;
/// So many numbers are kept for them.
const MAX_NUMBERS: usize = 8_000_000;
/// If not all ways can be tried, so many are followed; fewer if the run is long.
const WAYS: usize = 64;
/// About so many times a unit is looked at then.
const EFFORT: usize = 20_000_000;

/// A run with few changes between processes.
#[derive(Clone, Debug)]
pub struct Rearranged {
    /// Its steps.
    pub steps: Vec<Step>,
    /// How often another process than the one before moved in the run as it was.
    pub before: usize,
    /// And in this one.
    pub switches: usize,
    /// Whether no order of the same steps that keeps what depends on each other has fewer.
    pub fewest: bool,
}

/// How often another process than the one before moves.
pub fn switches(steps: &[Step]) -> usize {
    let mut movers = steps.iter().filter(|step| !step.is_claim()).map(|step| step.process);
    let Some(mut last) = movers.next() else { return 0 };
    movers.filter(|&mover| std::mem::replace(&mut last, mover) != mover).count()
}

/// The run with its steps in another order that leads to the same, in which processes change less often. The cycle,
/// if there is one, starts after as many steps as before. `watched` are the conditions of the program whose values
/// along the run matter.
pub fn fewest_switches(
    machine: &Machine,
    steps: &[Step],
    cycle_start: Option<usize>,
    watched: &[u32],
) -> Result<Rearranged, Misfit> {
    let parts = dependence(machine, steps, cycle_start, watched)?;
    let (order, mut fewest) = best_order(&parts, MAX_PLACES);
    let mut found = parts.reordered(steps, &order);
    let before = switches(steps);
    if switches(&found) >= before {
        // As good as it was: better left alone.
        fewest &= switches(&found) == before;
        found = steps.to_vec();
    } else if !is_as_good(machine, steps, &found, cycle_start, &parts)? {
        fewest = false;
        found = steps.to_vec();
    }
    Ok(Rearranged { before, switches: switches(&found), steps: found, fewest })
}

/// Whether a run in another order leads to the same place, with the same wrong, and is as fair to all if it goes on
/// for ever.
fn is_as_good(
    machine: &Machine,
    steps: &[Step],
    found: &[Step],
    cycle_start: Option<usize>,
    parts: &Dependence,
) -> Result<bool, Misfit> {
    let Ok(outcome) = replay(machine, found, &mut |_| {}) else { return Ok(false) };
    let same = same_place(machine, &outcome.last, &parts.outcome.last)
        && outcome.violations == parts.outcome.violations;
    let Some(start) = cycle_start.filter(|_| same) else { return Ok(same) };
    let closes = |steps| confirm(machine, steps, None, cycle_start).is_ok();
    Ok(closes(steps) == closes(found)
        && who_waits(machine, steps, start)? == who_waits(machine, found, start)?)
}

/// Of those who do not move in a cycle: who cannot move in some state of it, and who in none.
fn who_waits(machine: &Machine, steps: &[Step], start: usize) -> Result<Vec<(bool, bool)>, Misfit> {
    let mut waits: Vec<(bool, bool)> = Vec::new();
    let mut scratch = machine.scratch();
    replay(machine, steps, &mut |event| {
        let at_rest = event.before.exclusive.is_none() && !event.steps[0].is_claim();
        if event.index < start || !at_rest {
            return;
        }
        let (moves, _) = machine.moves(event.before, &mut scratch);
        let processes = machine.view(&event.before.state).processes.len();
        waits.resize(waits.len().max(processes), (false, true));
        for (process, waits) in waits.iter_mut().enumerate() {
            let mut steps = moves.iter().flat_map(|it| &it.steps);
            let moves = steps.any(|step| usize::from(step.process) == process);
            *waits = (waits.0 || !moves, waits.1 && !moves);
        }
    })?;
    for step in steps[start..].iter().filter(|step| !step.is_claim()) {
        if let Some(waits) = waits.get_mut(usize::from(step.process)) {
            *waits = (false, false);
        }
    }
    Ok(waits)
}

/// An order of the units with few switches, and whether no order has fewer. The exact search looks at so many places.
pub fn best_order(parts: &Dependence, max_places: usize) -> (Vec<u32>, bool) {
    let (quick, exact) = some_order(parts, 0);
    if exact || cost(parts, &quick) == lower_bound(parts) {
        return (quick, true);
    }
    let (order, exact) = some_order(parts, max_places);
    if exact || cost(parts, &order) < cost(parts, &quick) { (order, exact) } else { (quick, false) }
}

/// The switches of an order, but for those inside of units, which all orders have.
fn cost(parts: &Dependence, order: &[u32]) -> usize {
    let units = order.iter().map(|&unit| &parts.units[unit as usize]);
    let movers: Vec<u16> = units.flat_map(|unit| [unit.first, unit.last]).collect();
    movers.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

/// No order has fewer switches: who moves in a segment comes to move there, if not with the last of the segment before.
fn lower_bound(parts: &Dependence) -> usize {
    let mut before: Vec<u16> = Vec::new();
    let mut turns = 0;
    for segment in parts.units.chunk_by(|one, other| one.segment == other.segment) {
        let mut movers: Vec<u16> =
            segment.iter().flat_map(|unit| [unit.first, unit.last]).collect();
        movers.sort_unstable();
        movers.dedup();
        let goes_on = movers.iter().any(|mover| before.binary_search(mover).is_ok());
        turns += movers.len() - usize::from(goes_on);
        before = movers;
    }
    turns.saturating_sub(1)
}

/// An order of the units with few switches, and whether it is known to be best.
fn some_order(parts: &Dependence, max_places: usize) -> (Vec<u32>, bool) {
    let mut order = Vec::with_capacity(parts.units.len());
    let mut entries = vec![Entry { last: None, order: Vec::new() }];
    let mut exact = true;
    let mut places = max_places;
    let mut start = 0;
    for segment in parts.units.chunk_by(|one, other| one.segment == other.segment) {
        let length = segment.len();
        let chains = Chains::new(parts, start..start + length);
        entries = chains.search(&entries, &mut places, None).unwrap_or_else(|| {
            exact = false;
            let ways = (EFFORT / (length * chains.chains.len()).max(1)).clamp(1, WAYS);
            chains.search(&entries, &mut 0, Some(ways)).expect("some way is followed to its end")
        });
        // If they agree up to here, that need not be carried along.
        if let [only] = entries.as_mut_slice() {
            order.append(&mut only.order);
        }
        start += length;
    }
    if let Some(best) = entries.into_iter().next() {
        order.extend(best.order);
    }
    (order, exact)
}

/// A way through some segments.
struct Entry {
    /// Who moved last.
    last: Option<u16>,
    order: Vec<u32>,
}

/// The units of a segment, by who moves first: these come one after the other.
struct Chains<'a> {
    parts: &'a Dependence,
    start: usize,
    processes: Vec<u16>,
    chains: Vec<Vec<u32>>,
    /// By unit of the segment: its chain, and its place there.
    place: Vec<(usize, u32)>,
}

/// How far a way has come.
struct Place {
    /// By chain: how many of its units are done.
    done: Vec<u32>,
    total: usize,
    last: Option<u16>,
    way: Way,
}

/// What was done on the way from another place.
#[derive(Clone, Default)]
struct Way {
    /// In the list of ways that were followed.
    from: Option<usize>,
    /// For the first of a way: which entry it goes on from.
    entry: usize,
    units: Vec<u32>,
}

impl<'a> Chains<'a> {
    fn new(parts: &'a Dependence, segment: Range<usize>) -> Self {
        let mut processes: Vec<u16> = segment.clone().map(|unit| parts.units[unit].first).collect();
        processes.sort_unstable();
        processes.dedup();
        let mut chains = vec![Vec::new(); processes.len()];
        let mut place = Vec::with_capacity(segment.len());
        for unit in segment.clone() {
            let first = parts.units[unit].first;
            let chain = processes.binary_search(&first).expect("collected above");
            place.push((chain, chains[chain].len() as u32));
            chains[chain].push(unit as u32);
        }
        Self { parts, start: segment.start, processes, chains, place }
    }

    /// The next unit of a chain, if it can come now.
    fn next(&self, done: &[u32], chain: usize) -> Option<u32> {
        let unit = *self.chains[chain].get(done[chain] as usize)?;
        let mut before = self.parts.units[unit as usize].after.iter();
        before
            .all(|&other| {
                let (chain, place) = self.place[other as usize - self.start];
                done[chain] > place
            })
            .then_some(unit)
    }

    fn take(&self, place: &mut Place, unit: u32) {
        place.done[self.place[unit as usize - self.start].0] += 1;
        place.total += 1;
        place.last = Some(self.parts.units[unit as usize].last);
        place.way.units.push(unit);
    }

    /// Whoever moved last goes on as long as it can and stays the last.
    fn go_on(&self, place: &mut Place) {
        let chain = |process| self.processes.binary_search(&process).ok();
        while let Some(chain) = place.last.and_then(chain)
            && let Some(unit) = self.next(&place.done, chain)
            && Some(self.parts.units[unit as usize].last) == place.last
        {
            self.take(place, unit);
        }
    }

    /// The ways through the segment with fewest switches, one for each who may be last; none if there are too many
    /// places to look at. With `ways` only so many are followed, and there is always one.
    fn search(
        &self,
        entries: &[Entry],
        places: &mut usize,
        ways: Option<usize>,
    ) -> Option<Vec<Entry>> {
        let all: usize = self.chains.iter().map(Vec::len).sum();
        let mut known: Vec<Way> = Vec::new();
        let mut seen: HashSet<(Box<[u32]>, Option<u16>)> = HashSet::new();
        let mut level: Vec<Place> = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let done = vec![0; self.chains.len()];
            let way = Way { entry: number, ..Way::default() };
            let mut place = Place { done, total: 0, last: entry.last, way };
            self.go_on(&mut place);
            level.push(place);
        }
        loop {
            let mut next: Vec<Place> = Vec::new();
            let mut ends: Vec<Place> = Vec::new();
            while let Some(place) = level.pop() {
                if place.total == all {
                    if !ends.iter().any(|end| end.last == place.last) {
                        ends.push(place);
                    }
                    continue;
                }
                if ways.is_none() {
                    let key = (place.done.clone().into_boxed_slice(), place.last);
                    if !seen.insert(key) {
                        continue;
                    }
                    *places = places.checked_sub(1)?;
                    if seen.len() * self.chains.len() > MAX_NUMBERS {
                        return None;
                    }
                }
                known.push(place.way);
                for chain in 0..self.chains.len() {
                    let Some(unit) = self.next(&place.done, chain) else { continue };
                    let done = place.done.clone();
                    let way = Way { from: Some(known.len() - 1), ..Way::default() };
                    let mut new = Place { done, total: place.total, last: place.last, way };
                    self.take(&mut new, unit);
                    self.go_on(&mut new);
                    // The first of all costs nothing, nor does a rendezvous that the last one begins.
                    let first = self.processes[chain];
                    let free = place.last.is_none_or(|last| last == first);
                    if free { level.push(new) } else { next.push(new) }
                }
            }
            if !ends.is_empty() {
                return Some(ends.iter().map(|end| self.way_to(end, &known, entries)).collect());
            }
            if let Some(ways) = ways {
                // Those that have come furthest; of equal ones the first found.
                next.sort_by_key(|place| std::cmp::Reverse(place.total));
                next.dedup_by(|one, other| one.last == other.last && one.done == other.done);
                next.truncate(ways);
            }
            level = next;
        }
    }

    fn way_to(&self, end: &Place, known: &[Way], entries: &[Entry]) -> Entry {
        let mut parts = Vec::new();
        let mut way = &end.way;
        loop {
            parts.push(&way.units);
            match way.from {
                Some(from) => way = &known[from],
                None => break,
            }
        }
        let mut order = entries[way.entry].order.clone();
        order.extend(parts.into_iter().rev().flatten());
        Entry { last: end.last, order }
    }
}
