//! The messages about macros that kernels do not have.

/// Why a macro is not known, and what to write instead, if that repeats what the macro is given.
pub(super) fn macro_written(name: &str, mac: &syn::Macro) -> Option<(&'static str, String)> {
    let short =
        |text: String| (text.len() <= LONGEST_GIVEN && !text.contains('\n')).then_some(text);
    Some(match name {
        "dbg" => {
            let expr: syn::Expr = mac.parse_body().ok()?;
            let text = short(super::written(&expr))?;
            let what = text
                .replace('{', "{{")
                .replace('}', "}}")
                .replace('\\', "\\\\")
                .replace('"', "\\\"");
            (PRINTS, format!("{{ let value = {text}; println!(\"{what} = {{value:?}}\"); value }}"))
        }
        "eprint" | "eprintln" => {
            let text = short(super::written(&mac.tokens))?;
            (PRINTS, format!("{}!({text})", &name[1..]))
        }
        "matches" => {
            let (value, pattern) = mac
                .parse_body_with(|input: syn::parse::ParseStream<'_>| {
                    let value: syn::Expr = input.parse()?;
                    input.parse::<syn::Token![,]>()?;
                    Ok((value, input.parse::<proc_macro2::TokenStream>()?))
                })
                .ok()?;
            let text = short(super::written(&pattern))?;
            let text = text.trim_end_matches(',');
            (
                MACROS,
                format!(
                    "match {} {{ {text} => true, _ => false }}",
                    short(super::written(&value))?
                ),
            )
        }
        "vec" => {
            let repeated: syn::Expr = syn::parse2(
                proc_macro2::TokenTree::from(proc_macro2::Group::new(
                    proc_macro2::Delimiter::Bracket,
                    mac.tokens.clone(),
                ))
                .into(),
            )
            .ok()?;
            (NO_HEAP, short(super::written(&repeated)).filter(|text| text != "[]")?)
        }
        _ => return None,
    })
}

/// Characters of what a macro is given that a help repeats.
pub(super) const LONGEST_GIVEN: usize = 48;

const PRINTS: &str = "a kernel prints by `println!` and `print!`";
const NO_HEAP: &str = "the device has no heap; arrays have a length known at compile time";

/// Why a macro is not known, and what to write instead.
pub(super) fn macro_advice(name: &str) -> (&'static str, &'static str) {
    match name {
        "dbg" | "eprint" | "eprintln" => (PRINTS, ""),
        "write" | "writeln" | "format" | "format_args" => {
            ("the device has no texts: the host formats what `println!` and `print!` are given", "")
        }
        "asm" | "global_asm" => {
            ("write instructions as PTX", "ptx!(\"ex2.approx.ftz.f32 {out}, {x};\", x = v => f32)")
        }
        "vec" => (NO_HEAP, "array(4, |i| zeros::<f32>([64, 64]))"),
        "panic" | "unreachable" | "todo" | "unimplemented" => {
            ("a kernel cannot unwind; an assertion that fails stops it", "device_assert(false)")
        }
        _ => (MACROS, ""),
    }
}

pub(super) const MACROS: &str = "the macros are `println!`, `print!`, `assert!`, `assert_eq!`, `assert_ne!`, `stamp!`, `layout!` and `ptx!`";
