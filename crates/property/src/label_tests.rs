//! Labels against the truth tables they stand for.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::automaton::{Cube, Label};
use crate::evaluate::{Lasso, holds};

const ATOMS: u32 = 5;

fn random_label(random: &mut impl Rng) -> Label {
    let count = random.next_u32() % 6;
    Label::of((0..count).map(|_| {
        let positive = u64::from(random.next_u32() & random.next_u32()) % (1 << ATOMS);
        let negative = u64::from(random.next_u32() & random.next_u32()) % (1 << ATOMS);
        Cube { positive, negative: negative & !positive }
    }))
}

/// The valuations in it, one bit each.
fn table(label: &Label) -> u32 {
    (0..1 << ATOMS).filter(|v| label.holds(*v)).fold(0, |table, v| table | 1 << v)
}

#[test]
fn labels_are_sets() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut implied = 0;
    for _ in 0..5000 {
        let (a, b) = (random_label(&mut random), random_label(&mut random));
        let (ta, tb) = (table(&a), table(&b));
        assert_eq!(table(&a.and(&b)), ta & tb, "{a:?} {b:?}");
        assert_eq!(table(&a.or(&b)), ta | tb, "{a:?} {b:?}");
        assert_eq!(table(&a.not()), !ta, "{a:?}");
        assert_eq!(a.implies(&b), ta & !tb == 0, "{a:?} {b:?}");
        assert_eq!(a.same(&b), ta == tb, "{a:?} {b:?}");
        assert_eq!(a.is_false(), ta == 0);
        assert_eq!(a.is_true(), ta == u32::MAX);
        assert_eq!(table(&a.beyond(b.cubes())) | tb, ta | tb);
        assert!(a.or(&a.not()).is_true());
        assert!(a.not().not().same(&a));
        implied += u32::from(a.implies(&b));
        let formula = a.formula();
        let valuation = u64::from(random.next_u32()) % (1 << ATOMS);
        let lasso = Lasso { prefix: Vec::new(), cycle: vec![valuation] };
        assert_eq!(holds(&formula, &lasso), a.holds(valuation));
    }
    assert!((500..4500).contains(&implied), "{implied}");
}

#[test]
fn cubes_are_joined() {
    let literal = Label::literal;
    let exclusive = literal(0, true).and(&literal(1, false)).or(&literal(0, false));
    assert_eq!(exclusive.cubes().len(), 2);
    assert_eq!(exclusive.or(&literal(1, true)), Label::truth());
    let both = literal(0, true).and(&literal(1, true));
    assert_eq!(both.or(&literal(0, true).and(&literal(1, false))), literal(0, true));
    assert_eq!(both.or(&literal(0, true)), literal(0, true));
}
