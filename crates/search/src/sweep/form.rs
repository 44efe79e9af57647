//! In which form states wait, travel between threads and are known.

use spinward_store::{Density, Full, Parts, Worker};

/// The form of states: strings of bytes, equal for equal states only.
pub(super) trait Form: Sync {
    /// Room to work in, one for each thread.
    type Room: Default + Send;

    /// How full the tables of known states become.
    const DENSITY: Density;

    /// The form of a state.
    fn encode<'a>(&self, state: &'a [u8], room: &'a mut Self::Room) -> Result<&'a [u8], Full>;

    /// The state in a form, perhaps in `out`.
    fn decode<'a>(&self, form: &'a [u8], out: &'a mut Vec<u8>, room: &mut Self::Room) -> &'a [u8];
}

/// States as they are.
pub(super) struct Plain;

impl Form for Plain {
    type Room = ();

    const DENSITY: Density = Density::Fast;

    #[inline]
    fn encode<'a>(&self, state: &'a [u8], _: &'a mut ()) -> Result<&'a [u8], Full> {
        Ok(state)
    }

    #[inline]
    fn decode<'a>(&self, form: &'a [u8], _: &'a mut Vec<u8>, _: &mut ()) -> &'a [u8] {
        form
    }
}

/// The root of a state's tree: all the rest is shared.
#[derive(Default)]
pub(super) struct Root {
    worker: Worker,
    bytes: [u8; 8],
}

impl Form for Parts {
    type Room = Root;

    const DENSITY: Density = Density::Small;

    fn encode<'a>(&self, state: &'a [u8], room: &'a mut Root) -> Result<&'a [u8], Full> {
        let root = self.fold(state, &mut room.worker)?;
        room.bytes = root.to_le_bytes();
        // The lengths that the table packs best; one root always has the same.
        let length = match u64::BITS - root.leading_zeros() {
            0..=40 => 5,
            41..=56 => 7,
            _ => 8,
        };
        Ok(&room.bytes[..length])
    }

    fn decode<'a>(&self, form: &'a [u8], out: &'a mut Vec<u8>, room: &mut Root) -> &'a [u8] {
        let mut root = [0; 8];
        root[..form.len()].copy_from_slice(form);
        self.unfold(u64::from_le_bytes(root), out, &mut room.worker);
        out
    }
}
