fn main() {
    for hour in 0..24 {
        let lit = harbour_lantern::is_lit(hour);
        println!("{hour:02}:00  {}", if lit { "lit" } else { "dark" });
    }
}
