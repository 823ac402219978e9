use kernel_core::{Options, compile_function};
#[test]
fn bombs() {
    for body in [
        "let mut a = zeros::<f32>([1024]); for i in unroll(0..4096) { a += 1.0; }",
        "let mut a = zeros::<f32>([131072]); for i in unroll(0..512) { a += 1.0; a = a.exp(); }",
        "let mut a = zeros::<f32>([131072]); for i in unroll(0..4096) { a += 1.0; a = a.exp(); } x.tile([0],[131072]).store(a);",
    ] {
        let text = format!("pub fn f(x: TensorMut<f32,1>) {{ {body} }}");
        let f: syn::ItemFn = syn::parse_str(&text).unwrap();
        let t = std::time::Instant::now();
        let out = compile_function("target = sm_80, warps = 4".parse().unwrap(), &f, Options::default());
        let s = std::fs::read_to_string("/proc/self/status").unwrap();
        let m = s.lines().find(|l| l.starts_with("VmHWM")).unwrap();
        eprintln!("{body}: {:?} {} bytes {m}", t.elapsed(), out.tokens.to_string().len());
    }
}
