// TypeScript to JavaScript, file by file, without comments, white space and long local names, so that the package is
// small.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import ts from "typescript";

/** What the command line and the package's entries consist of. */
const FOLDERS = ["src", "watcher", "ignition"];
/** What runs from its sources only: `npm start` on Hardhat; the game without a chain, of the web page and of tests. */
const LEFT_OUT = [
  ...["main.ts", "localChain.ts"].map((name) => join("src", "deploy", "demo", name)),
  join("src", "dispute", "memoryGame.ts"),
];

/** Imports of sources in what was written: the built files import built files. */
const SOURCES = /((?:from|import) ?\(?)"(\.[^"]+)\.ts"/g;

/** @returns The text of a built file that imports built files. Its length is the same, so that source maps fit. */
export const importingBuilt = (text) => text.replaceAll(SOURCES, '$1"$2.js"');

/** Columns of an operator's row that only docs/operators.md shows. */
const TEXTS = new Set(["computes", "sets"]);

/** Returns the source of rows without the texts of the documentation. Lines keep their numbers, for source maps. */
function withoutTexts(path) {
  let text = readFileSync(path, "utf8");
  const found = [];
  const visit = (node) => {
    if (ts.isPropertyAssignment(node) && TEXTS.has(node.name.getText())) found.push(node.initializer);
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  for (const value of found.reverse()) {
    const lines = "\n".repeat(value.getText().split("\n").length - 1);
    text = `${text.slice(0, value.getStart())}""${lines}${text.slice(value.getEnd())}`;
  }
  return text;
}

const rowsWithoutTexts = {
  name: "rows without texts",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]compiler[\\/]table[\\/][^\\/]+\.ts$/ }, ({ path }) => ({
      contents: withoutTexts(path),
      loader: "ts",
    }));
  },
};

/** Writes a built file and its source map for each source. Types are not looked at. */
export async function transpile(outdir) {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  ).filter((path) => !LEFT_OUT.some((left) => path.startsWith(left)) && !path.endsWith(".d.ts"));
  await build({
    entryPoints: sources.sort(),
    outdir,
    outbase: ".",
    format: "esm",
    platform: "node",
    target: "node22",
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: true,
    // Errors are told by the names of their classes.
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
    plugins: [rowsWithoutTexts],
  });
}
