pub fn main() -> kiln::Result<()> {
    // ANCHOR: in_flight
    let bytes_a_second = 4259e9;
    let seconds_to_arrive = 1.5e-6;
    let multiprocessors = 132.0;
    // As many bytes have to be asked for before the first of them arrive.
    let in_flight: f64 = bytes_a_second * seconds_to_arrive;
    // ANCHOR_END: in_flight
    println!("{} bytes on the device", in_flight.floor());
    println!("{} bytes on each multiprocessor", (in_flight / multiprocessors).floor());
    Ok(())
}
