//! What it costs to make a launch: one allocation, however many arguments there are and whatever holds their memory.
#![cfg(feature = "emulator")]
#![expect(unsafe_code, reason = "allocations are counted by an allocator")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use kernel_runtime::{
    __launch, Device, Grid, Image, IntoArgument, ParamInfo, ParamKind, Result, Target,
    TensorArgument, TensorArgumentMut,
};

thread_local! {
    /// Allocations of this thread: a test runs in one of its own.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let result = work();
    (COUNT.get() - before, result)
}

const fn tensor(name: &'static str, rank: usize, mutable: bool) -> ParamInfo {
    ParamInfo { name, kind: ParamKind::Tensor { dtype: "f32", rank, mutable } }
}

static IMAGES: [Image; 1] = [Image {
    kernel: "three",
    instance: "",
    target: Target::Sm80,
    threads: 32,
    cluster: [1; 3],
    programmatic: false,
    params: &[tensor("a", 2, false), tensor("b", 5, false), tensor("c", 1, true)],
    declared: &[],
    reports: None,
    stamps: None,
    variants: &[],
}];

#[test]
fn making_a_launch_allocates_once() -> Result<()> {
    let stream = Device::emulator(Target::Sm80)?.stream()?;
    let a = stream.zeros::<f32, 2>([3, 4])?;
    let b = stream.zeros::<f32, 5>([1, 2, 3, 4, 5])?;
    let mut c = stream.zeros::<f32, 1>([6])?;
    let grid = || Some(Ok(Grid::Blocks([1; 3])));
    let (borrowed, launch) = allocations(|| {
        let arguments = vec![(&a).into_argument(), (&b).into_argument(), (&mut c).into_argument()];
        __launch(&IMAGES, arguments, grid())
    });
    assert_eq!(borrowed, 1, "the list of arguments");
    drop(launch);
    // As the fields of `Args` give them, and views that the launch keeps.
    let (fields, launch) = allocations(|| -> Result<_> {
        let (a, b): (&dyn TensorArgument<f32, 2>, &dyn TensorArgument<f32, 5>) = (&a, &b);
        let c: &mut dyn TensorArgumentMut<f32, 1> = &mut c;
        let arguments = vec![
            a.tensor()?.into_argument(),
            b.tensor()?.into_argument(),
            c.tensor_mut()?.into_argument(),
        ];
        Ok(__launch(&IMAGES, arguments, grid()))
    });
    assert_eq!(fields, 1, "the list of arguments");
    drop(launch?);
    let (views, launch) = allocations(|| -> Result<_> {
        let arguments = vec![
            a.slice(0, 1..3)?.into_argument(),
            b.slice(1, 0..1)?.into_argument(),
            c.slice_mut(0, 2..4)?.into_argument(),
        ];
        Ok(__launch(&IMAGES, arguments, grid()))
    });
    assert_eq!(views, 1, "the list of arguments");
    drop(launch?);
    Ok(())
}
