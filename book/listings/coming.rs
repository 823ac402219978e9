//! Idioms of other languages, as Kiln has them: a listing a page.

crate::listings! { "coming": triton, gluon, cuda, cute, tilus, tirx }
