/** A line of a chart. */
export type Line = { name: string; points: readonly (readonly [x: number, y: number])[] };

/** A chart: shares of 0 to 1 over something, or numbers up to the last of `levels`. */
export type Chart = { title: string; x: string; y: string; lines: readonly Line[]; levels?: readonly number[] };

/** Marks of shares, and their greatest number at the top of the chart. */
const SHARES: readonly number[] = [0, 0.25, 0.5, 0.75, 1];

const WIDTH = 640;
const HEIGHT = 340;
const LEFT = 60;
const TOP = 36;
const RIGHT = 170;
const BOTTOM = 46;
/** Colours that differ for the colour-blind too (Okabe and Ito). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

/** A chart as a picture, SVG. */
export function svgOf({ title, x, y, lines, levels }: Chart): string {
  const xs = lines.flatMap(({ points }) => points.map(([at]) => at));
  const [min, max] = [Math.min(...xs), Math.max(...xs)];
  const marks = levels ?? SHARES;
  const [width, height] = [WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
  const place = (at: number): number => Math.round(LEFT + ((at - min) / (max - min)) * width);
  const level = (at: number): number => Math.round(TOP + (1 - at / marks.at(-1)!) * height);
  const text = (px: number, py: number, words: string, anchor = "middle"): string =>
    `<text x="${px}" y="${py}" text-anchor="${anchor}">${words}</text>`;
  const ticks = [...new Set(xs)].sort((a, b) => a - b).filter((_, k, all) => k % Math.ceil(all.length / 10) === 0);
  const parts = [
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(LEFT, 20, title, "start"),
    ...marks.map(
      (at) =>
        `<path d="M${LEFT} ${level(at)}H${LEFT + width}" stroke="#ddd"/>` +
        text(LEFT - 8, level(at) + 4, levels === undefined ? `${100 * at} %` : String(at), "end"),
    ),
    ...ticks.map((at) => text(place(at), TOP + height + 18, String(at))),
    text(LEFT + width / 2, HEIGHT - 8, x),
    ...lines.flatMap(({ name, points }, k) => {
      const colour = COLOURS[k % COLOURS.length]!;
      const path = points.map(([px, py], i) => `${i === 0 ? "M" : "L"}${place(px)} ${level(py)}`).join("");
      const line = TOP + 20 + 20 * k;
      return [
        `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        `<path d="M${WIDTH - RIGHT + 12} ${line}h18" stroke="${colour}" stroke-width="2"/>`,
        text(WIDTH - RIGHT + 36, line + 4, name, "start"),
      ];
    }),
  ];
  const label = `<title>${title}: ${y} over ${x}</title>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}"` +
    ` font-family="sans-serif" font-size="12">` +
    `\n${label}\n${parts.join("\n")}\n</svg>\n`
  );
}
