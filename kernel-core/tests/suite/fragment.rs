//! Compiling kernels that are fragments: nothing is said of their order as a whole.

use crate::{of_order::is_of_order, rendered::said};
use kernel_core::{Options, compile::compile_unit, diag::Problems, loc::Locations, syntax};
use proc_macro2::TokenStream;

/// What the compiler makes of a fragment.
pub(crate) struct Fragment {
    /// The messages that are not about its order, as text.
    pub(crate) said: Vec<String>,
    dumps: Vec<(String, String)>,
}

impl Fragment {
    /// Compiles a kernel function with these arguments of `#[kernel]`.
    pub(crate) fn of(attr: TokenStream, function: &syn::ItemFn) -> Self {
        let locations = Locations::new(function.sig.ident.span());
        let mut problems = Problems::new();
        let unit = syntax::parse_function(attr, function, &locations, &mut problems);
        let (options, mut dumps) = (Options { dump: true, ..Options::default() }, Vec::new());
        compile_unit(&unit, &locations, &mut problems, options, &mut dumps);
        let all = problems.iter().filter(|problem| !is_of_order(problem));
        Fragment { said: all.map(|problem| said(problem, &locations)).collect(), dumps }
    }

    /// The text of the first variant whose stage has a name that ends so.
    #[track_caller]
    pub(crate) fn stage(&self, ending: &str) -> &str {
        assert!(self.said.is_empty(), "{}", self.said.join("\n"));
        let found = self.dumps.iter().find(|(name, _)| name.ends_with(ending));
        let (_, text) = found.expect("a kernel that compiles has this stage");
        text
    }
}
