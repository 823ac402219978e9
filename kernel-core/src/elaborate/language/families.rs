//! Functions that go by the name of their family: `tma::load`, `wgmma::wait`.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::Builder,
    loc::Loc,
    syntax::Segment,
};

impl Builder<'_> {
    /// Reports a function that a family does not have; `functions` are those that it has.
    pub(crate) fn no_such_function(&mut self, family: &str, name: &Segment, functions: &[&str]) {
        let headline = format!("`{family}` has no function `{}`", name.name);
        let diagnostic = Diagnostic::new(Code::UnknownName, name.loc, headline);
        self.report(match crate::diag::nearest(&name.name, functions.iter().copied()) {
            Some(near) => diagnostic.help(format!("{family}::{near}")),
            None => diagnostic.why(format!("it has {}", functions.join(", "))),
        });
    }

    /// Whether a function has as many arguments as it takes, or a report; `call` is how it is called, such as `tma::prefetch(map, [i, j])`.
    pub(crate) fn takes(
        &mut self,
        required: usize,
        actual: usize,
        call: &str,
        loc: Loc,
    ) -> Option<()> {
        if actual == required {
            return Some(());
        }
        let function = call.split('(').next().unwrap_or(call);
        let headline = format!("`{function}` takes another number of arguments");
        self.report(
            Diagnostic::new(Code::ArgumentCount, loc, headline)
                .compare("arguments", required.to_string(), actual.to_string())
                .help(call),
        );
        None
    }
}
