//! What the compiler says of kernels, and what it makes of them. One program, since each would be linked with the whole compiler.

mod fragment;
mod of_order;
mod rendered;

mod answers;
mod blackwell;
mod blackwell_helps;
mod bounds;
mod by_index;
mod clusters;
mod conversions;
mod copies_in_flight;
mod documented;
mod facts;
mod fences;
mod gathers;
mod helps;
mod hopper_helps;
mod layouts;
mod maps;
mod matches;
mod neighbours;
mod operands;
mod optional;
mod pipelines;
mod redundant;
mod said;
mod specialize;
mod stamps;
mod store_corners;
mod targets;
mod tensor_copy_cases;
mod tensor_order;
mod variants;
mod wgmma_order;
mod written_out;
