//! How far what a kernel computed is from what is required.

/// The norm of the differences over the norm of what is required, of pairs of a required and an actual value. NaN stays NaN.
pub fn relative_error(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut difference, mut norm) = (0.0, 0.0);
    for (required, actual) in pairs {
        difference += (actual - required).powi(2);
        norm += required.powi(2);
    }
    f64::sqrt(difference / norm)
}
