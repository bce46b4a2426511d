// The SDK for browsers as one file, without comments and white space: it imports viem and nothing else.
import { resolve } from "node:path";
import { build } from "esbuild";

/** What is put in the place of files that need Node. */
const REPLACED = new Map(
  ["bytes", "hashKernel"].map((name) => [
    resolve(`src/program/merkle/${name}.ts`),
    resolve(`src/program/merkle/browser/${name}.ts`),
  ]),
);

const replacements = {
  name: "replacements",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const replaced = REPLACED.get(resolve(resolveDir, path));
      // The files that are put in the place import each other and no other file that is replaced.
      return replaced === undefined ? undefined : { path: replaced };
    });
  },
};

/** Writes the bundle. It fails where something of Node is imported. */
export async function bundleForBrowsers(outfile) {
  await build({
    entryPoints: ["src/package/browser.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minifyWhitespace: true,
    external: ["viem", "viem/*"],
    logLevel: "warning",
    plugins: [replacements],
  });
}
