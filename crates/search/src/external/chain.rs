//! From a state back to the first one.
//!
//! *Idea* (Jabbar and Edelkamp 2005, section 3): a state that was reached by a run of some length follows from one
//! that a shorter run leads to; that is looked for among these. Nothing on disk says which it is;
//! but a byte of the record of each state has some bits of the hash of the one before, so that only one in 256
//! states is expanded again.
//!
//! Runs on disk have states of many layers. They are taken apart first, layer by layer, so that each is read twice,
//! not once for each step. If there is no room on disk for that they are read for each step: a run to an error is worth
//! that time.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use spinward_disk::{Cursor, Error, Folder, Record, Run, RunWriter};
use spinward_machine::{Flow, Sink, Step, System, Violation, system::length as steps_in};
use spinward_store::trim;

use super::form::Written;
use super::pool::{Address, Entry, hash_of, mark};
use super::shelf::{length, number};
use super::{Origin, Search};

/// Layers are taken apart some bytes at a time, if there is so much memory.
const BYTES: usize = 1 << 26;

/// A run that layers are taken apart into has about so many states at least.
const FEW: usize = 1 << 10;

/// The keys of the states on a run, from the first one on, each with the length of the run to it.
type Path = Vec<(Vec<u8>, u32)>;

/// What is known of a state.
struct Known {
    state: Vec<u8>,
    length: u32,
    mark: u8,
}

/// The states that are known, by the length of the run to them. Those that wait are among them: their successors may be
/// known, as they wait again when a shorter run was found, or when there was no room for all that came of them.
struct Layers {
    in_memory: BTreeMap<u32, Vec<Address>>,
    /// Each with the layers that it is of.
    on_disk: Vec<(RangeInclusive<u32>, Run)>,
    /// Those that could not be taken apart.
    mixed: Vec<Arc<Run>>,
    /// The files that were written for that.
    files: Vec<u64>,
    folder: Arc<Folder>,
}

impl Drop for Layers {
    fn drop(&mut self) {
        for &number in &self.files {
            // No manifest has it: the next search removes it.
            let _ = self.folder.remove(number);
        }
    }
}

/// States of several layers.
#[derive(Default)]
struct Pile {
    bytes: Vec<u8>,
    /// By state: the length of the run to it, where it is in the bytes, and its mark.
    states: Vec<(u32, usize, usize, u8)>,
}

impl Pile {
    fn push(&mut self, Record { state, number, mark }: Record<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        self.states.push((length(number), start, self.bytes.len(), mark));
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.states.len() * size_of::<(u32, usize, usize, u8)>()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.states.clear();
    }
}

impl<S: System> Search<'_, S> {
    /// Runs to where something is wrong, as far as what they need can be read.
    pub(super) fn paths_to<'o>(
        &mut self,
        origins: impl ExactSizeIterator<Item = &'o Origin>,
        scratch: &mut S::Scratch,
    ) -> Vec<Result<Option<Path>, Error>> {
        if origins.len() == 0 {
            return Vec::new();
        }
        // What follows needs room too, and none of this.
        self.pool.forget_old();
        self.shelf.forget_filters();
        trim();
        let layers = self.layers();
        origins.map(|origin| self.path_to(&layers, origin, scratch)).collect()
    }

    /// A run to a state. None if there is none, which is a mistake of ours.
    fn path_to(
        &self,
        layers: &Layers,
        origin: &Origin,
        scratch: &mut S::Scratch,
    ) -> Result<Option<Path>, Error> {
        let Origin { ref state, bucket, mark, .. } = *origin;
        let mut at = Known { state: state.clone(), length: bucket.length, mark };
        let mut steps = Vec::new();
        // Where a claim moves alone an edge has no steps, and leads to a state of the same layer, perhaps in a circle.
        let mut seen = HashSet::new();
        while self.key(&at.state) != self.key(&self.initial) {
            seen.insert(self.key(&at.state).to_vec());
            let Some((before, by)) = self.before(layers, &at, &seen, scratch)? else {
                return Ok(None);
            };
            steps.push((self.key(&at.state).to_vec(), by));
            at = before;
        }
        let mut length = 0;
        let mut path = vec![(self.key(&self.initial).to_vec(), 0)];
        for (key, by) in steps.into_iter().rev() {
            length += by;
            path.push((key, length));
        }
        Ok(Some(path))
    }

    fn key<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[self.skip..]
    }

    /// A state that a shorter run leads to, and that leads to this one; and by how many steps.
    fn before(
        &self,
        layers: &Layers,
        at: &Known,
        seen: &HashSet<Vec<u8>>,
        scratch: &mut S::Scratch,
    ) -> Result<Option<(Known, u32)>, Error> {
        let heaviest = self.notes().heaviest;
        let near = at.length.saturating_sub(heaviest)..=at.length;
        // If its record was changed since, it is nearer, and so are all that come after it.
        let ways = [(near, Some(at.mark)), (0..=at.length, None)];
        for (lengths, wanted) in ways {
            for layer in lengths {
                let found = self.find(layers, layer, |known| {
                    let key = self.key(known.state);
                    if wanted.is_some_and(|wanted| mark(hash_of(key)) != wanted)
                        || seen.contains(key)
                    {
                        return None;
                    }
                    let target = self.key(&at.state);
                    let most = at.length - layer;
                    let mut leads = Leads { skip: self.skip, target, most, by: None };
                    let _ = self.system.expand(known.state, scratch, &mut leads);
                    leads.by
                })?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// The first state of a layer of which something is told.
    fn find(
        &self,
        layers: &Layers,
        layer: u32,
        mut tell: impl FnMut(Record<'_>) -> Option<u32>,
    ) -> Result<Option<(Known, u32)>, Error> {
        let mut written = Written::default();
        let mut told = |Record { state, mark, number }: Record<'_>| {
            let state = self.form.decode(state, &mut written);
            let by = tell(Record { state, mark, number })?;
            Some((Known { state: state.to_vec(), length: layer, mark }, by))
        };
        for &at in layers.in_memory.get(&layer).into_iter().flatten() {
            let (state, mark) = self.pool.with(at, |it| (it.state.to_vec(), it.mark));
            let found = told(Record { state: &state, number: 0, mark });
            if found.is_some() {
                return Ok(found);
            }
        }
        let on_disk = layers.on_disk.iter().filter(|(layers, _)| layers.contains(&layer));
        let on_disk = on_disk.map(|(_, run)| run);
        for run in on_disk.chain(layers.mixed.iter().map(|run| &**run)) {
            let mut cursor = Cursor::new(&self.shelf.folder, run, self.shelf.ahead);
            cursor.advance()?;
            while let Some(record) = cursor.record() {
                let found = if length(record.number) == layer { told(record) } else { None };
                if found.is_some() {
                    return Ok(found);
                }
                cursor.advance()?;
            }
        }
        Ok(None)
    }

    /// The states that are known, by the length of the run to them.
    fn layers(&mut self) -> Layers {
        let mut layers = Layers {
            in_memory: BTreeMap::new(),
            on_disk: Vec::new(),
            mixed: Vec::new(),
            files: Vec::new(),
            folder: self.shelf.folder.clone(),
        };
        let group = |entry: &Entry<'_>| Some(entry.bucket.length);
        for it in self.pool.sorted(self.request.threads, group) {
            layers.in_memory.entry(it.group).or_default().push(it.at);
        }
        let mut runs: Vec<_> = self.shelf.all_runs().cloned().collect();
        let mut pile = Pile::default();
        while let Some(run) = runs.last() {
            if self.take_apart(run, &mut pile, &mut layers).is_err() {
                break;
            }
            runs.pop();
        }
        layers.mixed = runs;
        layers
    }

    /// Writes the states of a run layer by layer.
    fn take_apart(&mut self, run: &Run, pile: &mut Pile, layers: &mut Layers) -> Result<(), Error> {
        let room = self.request.limits.memory.map_or(BYTES, |bytes| BYTES.min(bytes as usize / 8));
        let folder = self.shelf.folder.clone();
        let mut cursor = Cursor::new(&folder, run, self.shelf.ahead);
        pile.clear();
        cursor.advance()?;
        while let Some(record) = cursor.record() {
            pile.push(record);
            if pile.size() > room {
                self.write_layers(pile, layers)?;
            }
            cursor.advance()?;
        }
        self.write_layers(pile, layers)
    }

    /// Writes all of a pile, in the order of the layers, and clears it.
    fn write_layers(&mut self, pile: &mut Pile, layers: &mut Layers) -> Result<(), Error> {
        let Pile { bytes, states } = pile;
        states.sort_by_key(|&(length, start, ..)| (length, start));
        let skip = self.skip;
        let (runs, file, _) = self.shelf.write_extra(|file| {
            let mut runs = Vec::new();
            let mut rest = &states[..];
            while let Some(&(first, ..)) = rest.first() {
                // Thin layers share a run: what is known of each run takes memory too.
                let last = rest[rest.len().min(FEW) - 1].0;
                let (some, others) = rest.split_at(rest.partition_point(|it| it.0 <= last));
                rest = others;
                let mut writer = RunWriter::new(file, skip);
                for &(length, start, end, mark) in some {
                    let number = number(length, true);
                    writer.push(Record { state: &bytes[start..end], number, mark })?;
                }
                runs.push((first..=last, writer.finish()?));
            }
            Ok(runs)
        })?;
        layers.files.push(file);
        let runs = runs.into_iter().filter_map(|(layers, run)| Some((layers, run?)));
        layers.on_disk.extend(runs);
        pile.clear();
        Ok(())
    }
}

/// Finds out whether a state leads to another one, and by how many steps, of at most so many.
struct Leads<'t> {
    skip: usize,
    target: &'t [u8],
    most: u32,
    by: Option<u32>,
}

impl Sink for Leads<'_> {
    fn successor(&mut self, state: &[u8], steps: &[Step]) -> Flow {
        let by = steps_in(steps) as u32;
        if by <= self.most && &state[self.skip..] == self.target {
            self.by = Some(self.by.map_or(by, |known| known.min(by)));
        }
        Flow::Continue(())
    }

    fn violation(&mut self, _violation: Violation, _steps: &[Step]) -> Flow {
        Flow::Continue(())
    }
}
