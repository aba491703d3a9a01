//! A chart, or another picture of ours, as a PNG file.

use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result, anyhow};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::chart::Svg;

/// Pixels for each unit of the SVG.
const SCALE: f32 = 2.0;

/// The fonts that pictures are drawn with, the same on every machine.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// The chart on light paper.
pub fn png(svg: &Svg) -> Result<Vec<u8>> {
    png_of(&svg.light())
}

/// A picture that the tool made as SVG.
pub fn png_of(svg: &str) -> Result<Vec<u8>> {
    let options = Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).context("cannot read the picture's own SVG")?;
    let size = tree
        .size()
        .to_int_size()
        .scale_by(SCALE)
        .context("the picture has no size")?;
    let mut picture = Pixmap::new(size.width(), size.height()).ok_or_else(|| {
        anyhow!(
            "no memory for a picture of {} x {}",
            size.width(),
            size.height()
        )
    })?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut picture.as_mut(),
    );
    picture.encode_png().context("cannot encode the picture")
}
