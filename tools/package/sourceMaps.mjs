// Source maps that say lines only, so that the package is small.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of a segment: five bits a digit, the least first; the first bit of a number is its sign. */
function decoded(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return numbers;
}

function encoded(numbers) {
  let text = "";
  for (const number of numbers) {
    let rest = number < 0 ? (-number << 1) | 1 : number << 1;
    for (; rest > 31; rest >>= 5) text += DIGITS[(rest & 31) | 32];
    text += DIGITS[rest];
  }
  return text;
}

/**
 * The mappings without those that name the same line of the same source as the one before them: a place is a line.
 * @param mappings As esbuild writes them: each segment has a source. Indexes of names are left out.
 */
export function lineMappings(mappings) {
  let [source, line] = [0, 0];
  let written = [0, 0];
  const lines = mappings.split(";").map((segments) => {
    let [at, writtenAt] = [0, 0];
    let kept = [-1, -1];
    const thinned = [];
    for (const segment of segments === "" ? [] : segments.split(",")) {
      const [inLine, inSource = 0, lines = 0] = decoded(segment);
      at += inLine;
      source += inSource;
      line += lines;
      if (kept[0] === source && kept[1] === line) continue;
      thinned.push(encoded([at - writtenAt, source - written[0], line - written[1], 0]));
      writtenAt = at;
      written = [source, line];
      kept = [source, line];
    }
    return thinned.join();
  });
  return lines.join(";");
}

/**
 * Files that hold tables, read options, compute numbers, identify machines, or read and compile models (their errors
 * name the node), and extras that no job needs: their stack traces need no lines of the sources.
 */
const WITHOUT_MAPS = [
  ...["attestation", "chain/abi", "circuits", "cli", "compiler", "examine", "model", "native", "numerics"],
  ...["blocks", "gpu", "loops", "plan", "product", "threads"].map((folder) => `executor/${folder}`),
  ...["deploy/demo", "deploy/devnet", "parties/gateway"],
];

/**
 * Rewrites all source maps of a folder without names, and removes some. A source has the name of its file
 * alone: the package has no sources, and the code lies in the same folders.
 */
export function thinSourceMaps(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".js.map")) continue;
    const path = join(folder, name);
    if (WITHOUT_MAPS.some((each) => name.replaceAll("\\", "/").startsWith(`src/${each}/`))) {
      const code = path.slice(0, -".map".length);
      writeFileSync(code, readFileSync(code, "utf8").replace(/\/\/# sourceMappingURL=.*\n?$/, ""));
      rmSync(path);
      continue;
    }
    const { version, sources, mappings } = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(
      path,
      JSON.stringify({ version, sources: sources.map((each) => basename(each)), mappings: lineMappings(mappings) }),
    );
  }
}
