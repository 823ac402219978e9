//! The part about order: what runs at the same time, and what says which comes first.

crate::listings! { "order": no_sync, copied_by_threads, phases, multicast, chain, through_tma, ring, exchanged, last_block, relaxed_flag, deadlock, in_flight, few_rows, handed_over, relaxed_arrivals }
