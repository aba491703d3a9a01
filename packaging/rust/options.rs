
/// Options that High Performance SQLite's `sqlite3.c` has besides those above.
fn hpsqlite_options(cfg: &mut cc::Build) {
    if lib_name() != "sqlite3" {
        println!("cargo:warning=this build compiles SQLCipher, which is not hpsqlite");
        return;
    }
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    // A multiplication and an addition are never fused, or sums of reals would
    // differ from one processor to the next.
    cfg.flag_if_supported("-ffp-contract=off");
    // Else it would add those of the system's library, which change answers.
    cfg.flag("-DHP_NO_DEFAULT_OPTIONS");
    for (option, everywhere) in HPSQLITE_OPTIONS {
        if *everywhere || linux {
            cfg.flag(format!("-D{option}"));
        }
    }
    // The executor has threads and calls functions of the mathematical library.
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family.contains("unix")) {
        println!("cargo:rustc-link-lib=m");
        if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "android") {
            println!("cargo:rustc-link-lib=pthread");
        }
    }
}

fn hpsqlite_left_out() {
    println!(
        "cargo:warning=hpsqlite is not compiled in: LIBSQLITE3_SYS_USE_PKG_CONFIG or the \
         feature loadable_extension or sqlcipher asks for a SQLite from outside"
    );
}

/// From engine/OPTIONS: the option, and whether systems other than Linux have it.
const HPSQLITE_OPTIONS: &[(&str, bool)] = &[
@OPTIONS@
];
