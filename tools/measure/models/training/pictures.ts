/** Pixels between pictures, and greys from black to white. */
const [GAP, GREYS] = [2, 16];

/** Returns an SVG with rows of square grey pictures, a unit a pixel; -1 means white, 1 black. */
export function picturesSvg(title: string, side: number, rows: readonly (readonly Float32Array[])[]): string {
  const place = (k: number): number => GAP + k * (side + GAP);
  const paths = Array.from({ length: GREYS }, () => new Path());
  rows.forEach((row, r) =>
    row.forEach((picture, c) =>
      picture.forEach((value, k) => {
        const grey = Math.round(((GREYS - 1) * (1 - Math.min(Math.max(value, -1), 1))) / 2);
        paths[grey]!.add(place(c) + (k % side), place(r) + Math.floor(k / side));
      }),
    ),
  );
  const [width, height] = [place(Math.max(...rows.map(({ length }) => length))), place(rows.length)];
  const lines = paths
    .slice(0, -1)
    .map(({ text }, grey) => (text === "" ? "" : `<path stroke="#${grey.toString(16).repeat(3)}" d="${text}"/>`))
    .filter((line) => line !== "");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" shape-rendering="crispEdges">\n` +
    `<title>${title}</title>\n<rect width="${width}" height="${height}" fill="white"/>\n` +
    `<g transform="translate(0 0.5)">\n${lines.join("\n")}\n</g>\n</svg>\n`
  );
}

/** Points as short lines: neighbours are one line; each line begins at a distance from the former line's end. */
class Path {
  #text = "";
  #run = 0;
  #end = [0, 0];

  add(x: number, y: number): void {
    const [endX, endY] = this.#end as [number, number];
    if (this.#run > 0 && x === endX && y === endY) this.#run++;
    else {
      this.#text = `${this.text}m${x - endX} ${y - endY}`;
      this.#run = 1;
    }
    this.#end = [x + 1, y];
  }

  get text(): string {
    return this.#run === 0 ? "" : `${this.#text}h${this.#run}`;
  }
}
