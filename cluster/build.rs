//! The program finds the library of the folder it lies in: bin/ and lib/ beside each other.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib");
    println!("cargo::rerun-if-changed=build.rs");
}
