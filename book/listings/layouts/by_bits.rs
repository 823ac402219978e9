//! The layout `blocked([1, 2], [4, 8], [1, 1], [1, 0])` of a tile of 8 rows and 16 columns, by hand.
#![expect(clippy::unnecessary_wraps, reason = "a listing's `main` returns what launches return")]

// ANCHOR: program
/// The element that a bit of the register number, or of the lane number, moves to: rows down,
/// columns to the right.
const REGISTER: [[usize; 2]; 2] = [[0, 1], [4, 0]];
const LANE: [[usize; 2]; 5] = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]];

/// The XOR of the bases whose bits are set in `number`.
fn place<const N: usize>(bases: [[usize; 2]; N], number: usize) -> [usize; 2] {
    let set = (0..N).filter(|bit| number >> bit & 1 == 1);
    set.fold([0, 0], |[row, column], bit| [row ^ bases[bit][0], column ^ bases[bit][1]])
}

/// The element in a register of a lane.
fn element(register: usize, lane: usize) -> [usize; 2] {
    let (r, l) = (place(REGISTER, register), place(LANE, lane));
    [r[0] ^ l[0], r[1] ^ l[1]]
}

pub fn main() -> kiln::Result<()> {
    println!("register 3 of lane 13: {:?}", element(3, 13));
    let mut holder = [[None; 16]; 8];
    for lane in 0..32 {
        for register in 0..4 {
            let [row, column] = element(register, lane);
            let before = holder[row][column].replace((lane, register));
            assert_eq!(before, None, "each element has one place");
        }
    }
    for row in holder {
        let row = row.map(|place| place.expect("each element has a place"));
        println!("{}", row.map(|(lane, register)| format!("{lane:>2}:{register}")).join("  "));
    }
    Ok(())
}
// ANCHOR_END: program
