//! Lines over two axes, as SVG.

use std::fmt;

/// What is drawn. Both axes begin at 0.
#[derive(Clone, Debug)]
pub struct Plot {
    pub title: String,
    /// What the axes are.
    pub x: String,
    pub y: String,
    pub series: Vec<Series>,
}

/// A line, by its points from left to right.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 52.0;

/// Ticks of an axis, at most.
const TICKS: f64 = 10.0;

/// Lines differ in colour and in dashes, so that they can be told apart in print.
const STYLES: [(&str, &str); 3] = [("#0b6", "none"), ("#c33", "6 3"), ("#36c", "2 3")];

/// From 0 to the last tick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    step: f64,
    count: u32,
}

impl Axis {
    /// With room for the greatest value, and steps of 1, 2 or 5 and zeros.
    fn to(greatest: f64) -> Self {
        let greatest = if greatest > 0.0 { greatest } else { 1.0 };
        let power = 10_f64.powf((greatest / TICKS).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|it| it * power);
        let enough = |it: &f64| greatest / it <= TICKS + 1e-9;
        let step = steps.into_iter().find(enough).unwrap_or(10.0 * power);
        Self { step, count: (greatest / step - 1e-9).ceil() as u32 }
    }

    /// Where a value is, of 1.
    fn share(self, value: f64) -> f64 {
        value / (self.step * f64::from(self.count))
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (0..=self.count).map(move |it| f64::from(it) * self.step)
    }

    /// A tick in words, with the digits that its step needs.
    fn label(self, tick: f64) -> String {
        let digits = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{tick:.digits$}")
    }
}

impl Plot {
    fn axes(&self) -> (Axis, Axis) {
        let points = || self.series.iter().flat_map(|it| &it.points);
        let greatest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let x = greatest(&mut points().map(|it| it.0));
        let y = greatest(&mut points().map(|it| it.1));
        (Axis::to(x), Axis::to(y))
    }

    fn write_frame(&self, f: &mut fmt::Formatter<'_>, x: Axis, y: Axis) -> fmt::Result {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in x.ticks() {
            let at = across(x, tick);
            writeln!(f, "<path d=\"M{at:.1} {bottom}v5\" stroke=\"#333\"/>")?;
            let text = x.label(tick);
            writeln!(
                f,
                "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{text}</text>",
                bottom + 19.0
            )?;
        }
        for tick in y.ticks() {
            let at = up(y, tick);
            writeln!(f, "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>")?;
            let text = y.label(tick);
            writeln!(
                f,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
                LEFT - 6.0,
                at + 4.0
            )?;
        }
        writeln!(f, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#333\"/>")?;
        let middle = (LEFT + right) / 2.0;
        let (title, x, y) = (escape(&self.title), escape(&self.x), escape(&self.y));
        writeln!(
            f,
            "<text x=\"{middle}\" y=\"22\" text-anchor=\"middle\" font-size=\"14\">{title}</text>"
        )?;
        let under = HEIGHT - 12.0;
        writeln!(f, "<text x=\"{middle}\" y=\"{under}\" text-anchor=\"middle\">{x}</text>")?;
        let beside = (TOP + bottom) / 2.0;
        writeln!(
            f,
            "<text transform=\"translate(16 {beside}) rotate(-90)\" text-anchor=\"middle\">{y}</text>"
        )
    }

    /// What a line stands for, above all lines, where none is in the way.
    fn write_legend(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, it) in self.series.iter().enumerate() {
            let (colour, dashes) = STYLES[n % STYLES.len()];
            let (left, at) = (LEFT + 190.0 * n as f64, TOP - 18.0);
            writeln!(
                f,
                "<path d=\"M{left} {at}h28\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>"
            )?;
            let name = escape(&it.name);
            writeln!(f, "<text x=\"{}\" y=\"{}\">{name}</text>", left + 34.0, at + 4.0)?;
        }
        Ok(())
    }
}

impl fmt::Display for Plot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.axes();
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
        )?;
        // Pages may be dark.
        writeln!(f, "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>")?;
        self.write_frame(f, x, y)?;
        for (n, it) in self.series.iter().enumerate() {
            let (colour, dashes) = STYLES[n % STYLES.len()];
            let points = it.points.iter();
            let points: Vec<_> = points
                .map(|point| format!("{:.1},{:.1}", across(x, point.0), up(y, point.1)))
                .collect();
            writeln!(
                f,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dashes}\"/>",
                points.join(" ")
            )?;
        }
        self.write_legend(f)?;
        writeln!(f, "</svg>")
    }
}

fn across(axis: Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * (WIDTH - LEFT - RIGHT)
}

fn up(axis: Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - TOP - BOTTOM)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |greatest| {
            let axis = Axis::to(greatest);
            (axis.label(axis.step), axis.count)
        };
        assert_eq!(ticks(200.0), ("20".into(), 10));
        assert_eq!(ticks(57.0), ("10".into(), 6));
        assert_eq!(ticks(0.3), ("0.05".into(), 6));
        assert_eq!(ticks(9.0), ("1".into(), 9));
        assert_eq!(ticks(0.0), ("0.1".into(), 10));
    }

    #[test]
    fn points_are_where_they_belong() {
        let line = |name: &str, points: &[(f64, f64)]| Series {
            name: name.into(),
            points: points.to_vec(),
        };
        let series = vec![
            line("up", &[(0.0, 0.0), (5.0, 10.0), (10.0, 100.0)]),
            line("a < b", &[(0.0, 50.0)]),
        ];
        let plot = Plot { title: "title".into(), x: "across".into(), y: "up".into(), series };
        let text = plot.to_string();
        assert!(text.contains("points=\"64.0,348.0 344.0,319.2 624.0,60.0\""), "{text}");
        assert!(text.contains("points=\"64.0,204.0\""), "{text}");
        assert!(text.contains(">a &lt; b</text>"), "{text}");
        assert_eq!(text.matches("<polyline").count(), 2);
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
    }
}
