/** Pixels between pictures, and greys from black to white. */
const [GAP, GREYS] = [2, 16];

/** Returns an SVG with rows of square grey pictures, a unit a pixel; -1 means white, 1 black. */
export function picturesSvg(title: string, side: number, rows: readonly (readonly Float32Array[])[]): string {
  const place = (k: number): number => GAP + k * (side + GAP);
  const paths = Array.from({ length: GREYS }, () => "");
  rows.forEach((row, r) =>
    row.forEach((picture, c) =>
      picture.forEach((value, k) => {
        const grey = Math.round(((GREYS - 1) * (1 - Math.min(Math.max(value, -1), 1))) / 2);
        paths[grey] += `M${place(c) + (k % side)} ${place(r) + Math.floor(k / side)}h1`;
      }),
    ),
  );
  const [width, height] = [place(Math.max(...rows.map(({ length }) => length))), place(rows.length)];
  const lines = paths
    .slice(0, -1)
    .flatMap((d, grey) => (d === "" ? [] : [`<path stroke="#${grey.toString(16).repeat(3)}" d="${d}"/>`]));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" shape-rendering="crispEdges">\n` +
    `<title>${title}</title>\n<rect width="${width}" height="${height}" fill="white"/>\n` +
    `<g transform="translate(0 0.5)">\n${lines.join("\n")}\n</g>\n</svg>\n`
  );
}
