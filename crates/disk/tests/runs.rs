//! Runs against sets in memory: what is written comes back, whichever way it is gone through; and what is changed on
//! disk is noticed.

use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use spinward_disk::{Cursor, Error, Faults, Folder, Lock, Merge, Record, Run, RunWriter};
use tempfile::TempDir;

/// What is hidden of a state, its number and its mark.
type Values = (u8, u32, u8);

type States = BTreeMap<Vec<u8>, Values>;

/// Keys with few different bytes, so that some are the same, of several lengths.
fn states(most: usize) -> impl Strategy<Value = States> {
    let key = prop::collection::vec(0..4_u8, 1..8).prop_flat_map(|key| {
        (Just(key), 0..3_usize).prop_map(|(key, times)| key.repeat(1 + 20 * times))
    });
    prop::collection::btree_map(key, (any::<u8>(), 0..1000_u32, any::<u8>()), 0..most)
}

fn write(folder: &Folder, file: u64, sets: &[States]) -> Vec<Option<Run>> {
    let mut file = folder.create(file).unwrap();
    let runs = sets.iter().map(|states| {
        let mut writer = RunWriter::new(&mut file, 1);
        for (key, &(hidden, number, mark)) in states {
            let state = [&[hidden][..], key].concat();
            writer.push(Record { state: &state, number, mark }).unwrap();
        }
        writer.finish().unwrap()
    });
    let runs = runs.collect();
    file.finish().unwrap();
    runs
}

fn check(cursor: &Cursor<'_>, expected: Option<(&Vec<u8>, &Values)>) {
    assert_eq!(cursor.key(), expected.map(|(key, _)| &key[..]));
    let record = cursor.record().map(|it| (it.state[0], it.number, it.mark));
    assert_eq!(record.as_ref(), expected.map(|(_, values)| values));
}

proptest! {
    #[test]
    fn what_is_written_comes_back(states in states(3_000), keys in states(40), ahead in 0..100_000_usize) {
        let path = TempDir::new().unwrap();
        let folder = Folder::new(path.path(), Faults::default()).unwrap();
        let Some(run) = write(&folder, 7, std::slice::from_ref(&states)).pop().flatten() else {
            prop_assert!(states.is_empty());
            return Ok(());
        };
        let again = Run::open(&folder, run.section().clone(), 1).unwrap();
        prop_assert_eq!(run.len(), states.len() as u64);
        for run in [&run, &again] {
            let mut cursor = Cursor::new(&folder, run, ahead);
            for expected in &states {
                cursor.advance().unwrap();
                check(&cursor, Some(expected));
            }
            cursor.advance().unwrap();
            check(&cursor, None);
            let mut cursor = Cursor::new(&folder, run, ahead);
            for key in keys.keys() {
                cursor.seek(key).unwrap();
                check(&cursor, states.range(key.clone()..).next());
            }
        }
    }

    #[test]
    fn of_several_the_lowest_comes(sets in prop::collection::vec(states(200), 0..6), from in states(2)) {
        let path = TempDir::new().unwrap();
        let folder = Folder::new(path.path(), Faults::default()).unwrap();
        let runs = write(&folder, 0, &sets);
        let cursors = runs.iter().flatten().map(|run| Cursor::new(&folder, run, 0)).collect();
        let from = from.into_keys().next().unwrap_or_default();
        let mut merge = Merge::new(cursors, &from).unwrap();
        let mut all = BTreeMap::new();
        for (key, &(_, number, _)) in sets.iter().flatten().filter(|(key, _)| **key >= from) {
            let known = all.entry(key.clone()).or_insert(number);
            *known = number.min(*known);
        }
        let mut buffer = Vec::new();
        for (key, number) in all {
            prop_assert_eq!(merge.key(), Some(&key[..]));
            prop_assert_eq!(merge.record().map(|it| it.number), Some(number));
            merge.advance(&mut buffer).unwrap();
        }
        prop_assert!(merge.record().is_none());
    }
}

#[test]
fn every_changed_bit_is_noticed() {
    let path = TempDir::new().unwrap();
    let folder = Folder::new(path.path(), Faults::default()).unwrap();
    let states: States = (0..5_000_u32)
        .map(|number| (number.to_be_bytes().to_vec(), (0, number, number as u8)))
        .collect();
    let run = write(&folder, 0, &[states]).pop().flatten().unwrap();
    let file = folder.file_path(0);
    let bytes = fs::read(&file).unwrap();
    for at in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&file, &changed).unwrap();
        folder.remove(99).unwrap();
        let fresh = Folder::new(path.path(), Faults::default()).unwrap();
        let read = || -> Result<(), Error> {
            let run = Run::open(&fresh, run.section().clone(), 1)?;
            let mut cursor = Cursor::new(&fresh, &run, 1 << 16);
            cursor.advance()?;
            while cursor.record().is_some() {
                cursor.advance()?;
            }
            Ok(())
        };
        let problem = read().expect_err("it was changed");
        assert!(matches!(&problem, Error::Damaged { path, .. } if *path == file), "{problem}");
    }
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let problem = Run::open(&folder, run.section().clone(), 1).unwrap_err();
    assert!(problem.to_string().ends_with("is damaged: its end is missing"), "{problem}");
}

#[test]
fn a_manifest_is_there_as_a_whole_or_not_at_all() {
    let path = TempDir::new().unwrap();
    let folder = Folder::new(path.path(), Faults::default()).unwrap();
    assert_eq!(folder.load::<Vec<u32>>("it").unwrap(), None);
    folder.save("it", &[1, 2, 3]).unwrap();
    let full = Folder::new(path.path(), Faults::full_after(3)).unwrap();
    let problem = full.save("it", &[4, 5, 6]).unwrap_err();
    assert!(matches!(problem, Error::Full { .. }), "{problem}");
    assert_eq!(folder.load("it").unwrap(), Some(vec![1, 2, 3]));
    let text = fs::read(path.path().join("it")).unwrap();
    for at in 0..text.len() {
        let mut changed = text.clone();
        changed[at] ^= 1;
        fs::write(path.path().join("it"), changed).unwrap();
        assert!(folder.load::<Vec<u32>>("it").is_err(), "byte {at}");
    }
}

#[test]
fn a_folder_is_for_one_at_a_time() {
    let path = TempDir::new().unwrap();
    let lock = Lock::take(path.path()).unwrap();
    assert!(matches!(Lock::take(path.path()), Err(Error::InUse { .. })));
    drop(lock);
    Lock::take(path.path()).unwrap();
}
