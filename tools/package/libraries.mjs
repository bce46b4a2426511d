// The libraries that the package brings along, so that its users install nothing beside its peers.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { build } from "esbuild";
import { packageOf } from "./licences.mjs";
import { importingBuilt } from "./transpile.mjs";

const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
/** A statement that takes names or the default export of a library, as `transpile` writes it: without white space. */
const IMPORT = /(?<=^|;)(import|export)(\{[^}]*\}| [\w$]+ )from"([^".][^"]*)"(?=;)/gm;
/** Any statement or call that names a library. */
const LIBRARY = /(?<=^|;)(?:(?:import|export)[^;"'`]*"([^".][^"]*)")(?=;)|\bimport\("([^".][^"]*)"\)/gm;
/** CommonJS libraries call `require` for what Node has built in. */
const REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** A peer whose objects the SDK takes by their shape. The command line reads keystores with a copy of its own. */
const COPIED = "ethers";
const isPeer = (name) => name !== COPIED && name in peerDependencies;
const isBundled = (name) => !name.startsWith("node:") && !isPeer(packageOf(name));
const fileOf = (name) => `${name.replaceAll("@", "").replaceAll("/", "-")}.js`;

/**
 * Bundles what the built files import of libraries into files of `vendor`, and lets them import these.
 * @param folder Of the built files.
 * @returns The files that were bundled.
 */
export async function bundleLibraries(folder) {
  const files = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".js"))
    .map((name) => name.replaceAll("\\", "/"))
    .sort();
  const wanted = new Map();
  for (const file of files) {
    const text = importingBuilt(readFileSync(join(folder, file), "utf8"));
    const up = posix.relative(posix.dirname(file), "vendor");
    const rewritten = text.replaceAll(IMPORT, (line, keyword, names, library) => {
      if (!isBundled(library)) return line;
      for (const name of exportsNamed(names)) wanted.set(library, (wanted.get(library) ?? new Set()).add(name));
      return `${keyword}${names}from"${up}/${fileOf(library)}"`;
    });
    requireRewritten(file, rewritten);
    writeFileSync(join(folder, file), rewritten);
  }
  const { metafile } = await build({
    entryPoints: [...wanted.keys()]
      .sort()
      .map((library) => ({ in: `refute:${library}`, out: fileOf(library).slice(0, -3) })),
    outdir: join(folder, "vendor"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22",
    minify: true,
    legalComments: "none",
    banner: { js: REQUIRE },
    metafile: true,
    logLevel: "warning",
    plugins: [namesOf(wanted), WITHOUT_TRANSLATIONS],
  });
  return Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
}

/** zod has its messages in all languages. Those in English, which it takes by itself, come by a file of their own. */
const WITHOUT_TRANSLATIONS = {
  name: "without translations",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export {};" })),
};

/** The exports that an import takes: `{a,b as c}`, or a name for the default one. */
const exportsNamed = (names) =>
  names.startsWith("{") ? [...names.matchAll(/([\w$]+)(?: as [\w$]+)?/g)].map(([, name]) => name) : ["default"];

/** Entry points that export what is imported, by name: CommonJS libraries have no names of their own. */
const namesOf = (wanted) => ({
  name: "names",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^refute:/ }, ({ path }) => ({ path: path.slice("refute:".length), namespace: "names" }));
    onLoad({ filter: /./, namespace: "names" }, ({ path }) => ({
      contents: `export { ${[...wanted.get(path)].sort().join(", ")} } from ${JSON.stringify(path)};`,
      resolveDir: process.cwd(),
    }));
  },
});

/** Other ways to import a library would miss the bundle. */
function requireRewritten(file, text) {
  for (const [line, stated, called] of text.matchAll(LIBRARY))
    if (isBundled(stated ?? called))
      throw new Error(`${file}: ${line}: import it by names or its default, so that it can be bundled`);
}
