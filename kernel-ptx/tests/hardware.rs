//! The rows of the targets, against what is known of them from elsewhere.

use kernel_ptx::{Capability, Hardware, Target, parse};

fn target(name: &str) -> Target {
    Target::parse(name).unwrap_or_else(|| panic!("{name} is a target"))
}

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": shared memory of a multiprocessor and of a block in
/// KiB, threads and blocks of a multiprocessor.
const FIGURES: [(&str, [u32; 4]); 7] = [
    ("sm_80", [164, 163, 2048, 32]),
    ("sm_89", [100, 99, 1536, 24]),
    ("sm_90a", [228, 227, 2048, 32]),
    ("sm_100f", [228, 227, 2048, 32]),
    ("sm_100a", [228, 227, 2048, 32]),
    ("sm_103a", [228, 227, 2048, 32]),
    ("sm_120a", [100, 99, 1536, 24]),
];

#[test]
fn figures_are_those_of_the_guide() {
    let names: Vec<&str> = Hardware::ROWS.iter().map(|row| row.name).collect();
    assert_eq!(FIGURES.map(|(name, _)| name).to_vec(), names);
    for ((name, figures), row) in FIGURES.iter().zip(Hardware::ROWS) {
        let actual = [
            row.shared_bytes_per_multiprocessor / 1024,
            row.shared_bytes_per_block / 1024,
            row.threads_per_multiprocessor,
            row.blocks_per_multiprocessor,
        ];
        assert_eq!(actual, *figures, "{name}");
        assert_eq!(row.registers_per_multiprocessor, 65_536, "{name}");
    }
}

#[test]
fn rows_are_named_by_their_targets_from_old_to_new() {
    for row in Hardware::ROWS {
        assert_eq!(row.target.to_string(), row.name);
        assert!(row.target.is_known(), "{}", row.name);
        assert_eq!(Hardware::named(row.name).map(|row| row.target), Some(row.target));
        assert_eq!(
            row.blocks_per_cluster > 1,
            row.target.has(Capability::Clusters),
            "{}",
            row.name
        );
    }
    assert!(Hardware::ROWS.is_sorted_by_key(|row| row.target));
    assert!(Hardware::of(target("sm_75")).is_none());
}

/// The needs of the instruction table, which the assembler has judged, say the same as the rows.
#[test]
fn capabilities_are_those_of_the_instruction_table() {
    for row in Hardware::ROWS {
        for capability in Capability::ALL {
            let text = format!(
                ".version 9.0\n.target {}\n.address_size 64\n.entry k() {{ .reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<8>; \
                 .reg .b64 %rd<2>; .reg .f32 %f<4>;\n{}\n}}",
                row.name,
                capability.example()
            );
            let module = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let (has, found) = (row.target.has(capability), module.validate());
            assert_eq!(has, found.is_ok(), "{} and {capability:?}: {found:?}", row.name);
        }
    }
}

/// PTX ISA, "`.target`"; that `sm_100f` goes to 100 and 103 and to no other, ptxas 13.5 says.
#[test]
fn ptx_runs_where_its_features_are() {
    for (name, runs, refuses) in [
        ("sm_80", &[(8, 0), (8, 6), (9, 0), (12, 0)][..], &[(7, 5)][..]),
        ("sm_89", &[(8, 9), (9, 0), (10, 3), (12, 1)], &[(8, 0), (8, 6)]),
        ("sm_90a", &[(9, 0)], &[(8, 9), (10, 0), (12, 0)]),
        ("sm_100f", &[(10, 0), (10, 3)], &[(9, 0), (11, 0), (12, 0)]),
        ("sm_103f", &[(10, 3)], &[(10, 0), (11, 0)]),
        ("sm_100a", &[(10, 0)], &[(10, 3), (12, 0)]),
        ("sm_103a", &[(10, 3)], &[(10, 0)]),
        ("sm_120a", &[(12, 0)], &[(10, 0), (12, 1)]),
        ("sm_120f", &[(12, 0), (12, 1)], &[(10, 0), (13, 0)]),
    ] {
        assert!(runs.iter().all(|gpu| target(name).runs_on_capability(*gpu)), "{name}");
        assert!(!refuses.iter().any(|gpu| target(name).runs_on_capability(*gpu)), "{name}");
    }
    for (ptx, device, runs) in [
        ("sm_80", "sm_120a", true),
        ("sm_100a", "sm_100a", true),
        ("sm_100a", "sm_100f", false),
        ("sm_100f", "sm_100a", true),
        ("sm_100f", "sm_103a", true),
        ("sm_100f", "sm_110a", false),
        ("sm_103a", "sm_100a", false),
    ] {
        assert_eq!(target(ptx).runs_on(target(device)), runs, "{ptx} on {device}");
    }
}

/// What has no row of its own is run with the figures of the closest one.
#[test]
fn other_targets_have_the_figures_of_their_relatives() {
    for (name, model) in
        [("sm_90", "H200"), ("sm_100", "B200"), ("sm_75", "A100"), ("sm_86", "RTX 4090")]
    {
        assert_eq!(target(name).hardware().model, model, "{name}");
        assert!(!target(name).has(Capability::Clusters), "{name} has no row");
    }
}
