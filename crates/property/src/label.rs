//! Sets of valuations, as they stand on the edges of automata.
//!
//! A label is a disjunction of *cubes*, and a cube a conjunction of atoms and negated atoms, as two
//! words of bits. Labels are kept small by absorption and by joining cubes that differ in one sign;
//! they are sorted, so that equal work gives equal text, but two labels with the same meaning may have
//! different cubes: [`Label::same`] compares meanings.

use std::fmt;

use crate::formula::Formula;

/// A conjunction of atoms and negated atoms. No atom is in both sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The atoms that are true.
    pub positive: u64,
    /// The atoms that are false.
    pub negative: u64,
}

impl Cube {
    /// The cube with nothing in it: true.
    pub const TRUE: Self = Self { positive: 0, negative: 0 };

    /// Both, unless they contradict each other.
    pub fn and(self, other: Self) -> Option<Self> {
        let positive = self.positive | other.positive;
        let negative = self.negative | other.negative;
        (positive & negative == 0).then_some(Self { positive, negative })
    }

    /// Does it say all that `other` says?
    pub fn implies(self, other: Self) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }

    /// Is it true of a valuation?
    pub fn holds(self, valuation: u64) -> bool {
        self.positive & !valuation == 0 && self.negative & valuation == 0
    }

    /// The atoms in it.
    pub fn atoms(self) -> u64 {
        self.positive | self.negative
    }

    /// With one more atom, which must not be in it.
    fn with(self, atom: u64, sign: bool) -> Self {
        if sign {
            Self { positive: self.positive | atom, ..self }
        } else {
            Self { negative: self.negative | atom, ..self }
        }
    }

    /// Is each valuation of which it is true in one of these cubes?
    ///
    /// By cases over an atom of the first cube that has something to do with it; each case is decided
    /// when one cube says no more than is known.
    fn covered(self, by: &[Self]) -> bool {
        let near: Vec<Self> = by.iter().copied().filter(|c| self.and(*c).is_some()).collect();
        let Some(first) = near.first() else { return false };
        if near.iter().any(|c| self.implies(*c)) {
            return true;
        }
        let open = first.atoms() & !self.atoms();
        let atom = open & open.wrapping_neg();
        self.with(atom, true).covered(&near) && self.with(atom, false).covered(&near)
    }
}

/// A set of valuations: a disjunction of cubes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Vec<Cube>);

impl Label {
    /// Of all valuations.
    pub fn truth() -> Self {
        Self(vec![Cube::TRUE])
    }

    /// Of none.
    pub fn falsehood() -> Self {
        Self(Vec::new())
    }

    /// One atom, or its negation.
    pub fn literal(atom: u32, sign: bool) -> Self {
        Self(vec![Cube::TRUE.with(1 << atom, sign)])
    }

    /// Of the valuations in any of the cubes.
    pub fn of(cubes: impl IntoIterator<Item = Cube>) -> Self {
        let mut label = Self(cubes.into_iter().collect());
        label.reduce();
        label
    }

    /// The cubes, sorted.
    pub fn cubes(&self) -> &[Cube] {
        &self.0
    }

    /// Both hold.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().filter_map(|b| a.and(*b)));
        Self::of(pairs)
    }

    /// One holds.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied())
    }

    /// It does not hold.
    #[must_use]
    pub fn not(&self) -> Self {
        self.not_above(usize::MAX).expect("no label is as large as that")
    }

    /// It does not hold; unless that takes more than so many cubes, which may be exponentially many.
    pub(crate) fn not_above(&self, most: usize) -> Option<Self> {
        let mut result = Self::truth();
        for cube in &self.0 {
            let literals = (0..64).filter(|atom| cube.atoms() >> atom & 1 == 1);
            let negated =
                literals.map(|atom| Cube::TRUE.with(1 << atom, cube.negative >> atom & 1 == 1));
            result = result.and(&Self::of(negated));
            if result.0.len() > most {
                return None;
            }
        }
        Some(result)
    }

    /// Is it false of all valuations?
    pub fn is_false(&self) -> bool {
        self.0.is_empty()
    }

    /// Is it true of all valuations?
    pub fn is_true(&self) -> bool {
        Cube::TRUE.covered(&self.0)
    }

    /// Is it true of a valuation?
    pub fn holds(&self, valuation: u64) -> bool {
        self.0.iter().any(|cube| cube.holds(valuation))
    }

    /// Is `other` true where this is?
    pub fn implies(&self, other: &Self) -> bool {
        self.covered(&other.0)
    }

    /// Is each of its valuations in one of the cubes?
    pub fn covered(&self, by: &[Cube]) -> bool {
        self.0.iter().all(|cube| cube.covered(by))
    }

    /// Without those of its cubes that the given cubes cover.
    #[must_use]
    pub fn beyond(&self, cubes: &[Cube]) -> Self {
        Self(self.0.iter().copied().filter(|cube| !cube.covered(cubes)).collect())
    }

    /// Is it true of the same valuations?
    pub fn same(&self, other: &Self) -> bool {
        self == other || (self.implies(other) && other.implies(self))
    }

    /// The atoms in it.
    pub fn atoms(&self) -> u64 {
        self.0.iter().fold(0, |atoms, cube| atoms | cube.atoms())
    }

    /// The same as a formula.
    pub fn formula(&self) -> Formula {
        let literals = |cube: &Cube| {
            let cube = *cube;
            (0..64).filter(move |atom| cube.atoms() >> atom & 1 == 1).map(move |atom| {
                let formula = Formula::atom(atom);
                if cube.positive >> atom & 1 == 1 { formula } else { formula.not() }
            })
        };
        Formula::or(self.0.iter().map(|cube| Formula::and(literals(cube))))
    }

    /// As a condition of Promela, C or Spot, with the given signs for and, or.
    pub(crate) fn write(
        &self,
        out: &mut impl fmt::Write,
        atom_text: &dyn Fn(u32) -> String,
        [truth, falsehood, and, or]: [&str; 4],
    ) -> fmt::Result {
        if self.is_false() {
            return write!(out, "{falsehood}");
        }
        for (i, cube) in self.0.iter().enumerate() {
            if i > 0 {
                write!(out, "{or}")?;
            }
            if *cube == Cube::TRUE {
                write!(out, "{truth}")?;
                continue;
            }
            let many = self.0.len() > 1 && cube.atoms().count_ones() > 1;
            write!(out, "{}", if many { "(" } else { "" })?;
            let mut first = true;
            for atom in (0..64).filter(|atom| cube.atoms() >> atom & 1 == 1) {
                let before = if first { "" } else { and };
                let sign = if cube.positive >> atom & 1 == 1 { "" } else { "!" };
                write!(out, "{before}{sign}{}", atom_text(atom))?;
                first = false;
            }
            write!(out, "{}", if many { ")" } else { "" })?;
        }
        Ok(())
    }

    /// Joins cubes as long as two differ in one sign only or one covers the other, then drops those
    /// that the others cover together.
    fn reduce(&mut self) {
        let cubes = &mut self.0;
        cubes.sort_unstable();
        cubes.dedup();
        'again: loop {
            for i in 0..cubes.len() {
                for j in 0..cubes.len() {
                    if i == j {
                        continue;
                    }
                    let (a, b) = (cubes[i], cubes[j]);
                    if a.implies(b) {
                        cubes.remove(i);
                        continue 'again;
                    }
                    // a = x && r, b = !x && s with r => s: then a || b = r || b.
                    let clash = a.positive & b.negative | a.negative & b.positive;
                    if clash.count_ones() == 1 {
                        let rest =
                            Cube { positive: a.positive & !clash, negative: a.negative & !clash };
                        let other =
                            Cube { positive: b.positive & !clash, negative: b.negative & !clash };
                        if rest.implies(other) {
                            cubes[i] = rest;
                            continue 'again;
                        }
                    }
                }
            }
            break;
        }
        let mut i = 0;
        while i < cubes.len() && cubes.len() > 2 {
            let cube = cubes.remove(i);
            if !cube.covered(cubes) {
                cubes.insert(i, cube);
                i += 1;
            }
        }
        cubes.sort_unstable();
    }
}
