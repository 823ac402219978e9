//! Text: Nothing but a text accesses memory.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn only_written_ptx() {
    ptx!("{{ .reg .b32 a; mov.b32 a, 0; st.shared.b32 [a], a; }}");
}
