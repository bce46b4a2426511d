// The types that users of the package see.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";

const IMPORT = /((?:from|import) ?\(?)"(\.[^"]+)\.ts"/g;

/** Types that the compiler infers from constants. */
const ABI = "src/chain/abi/";

/** Methods of a session's contracts: editors show their comments, although no entry names the types. */
const CLIENTS = "src/chain/clients/";

/** A comment, once no line is indented. */
const COMMENT = /^\/\*\*[^]*?\*\/\n/gm;

/**
 * Keeps the declarations that the package's entries reach, without their indentation, and removes the others. Comments
 * are kept where an entry exports something. Their imports name built files.
 * @param folder Of the built files.
 * @param entries Its folder with the entries.
 */
export function pruneDeclarations(folder, entries) {
  const waiting = readdirSync(join(folder, entries))
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => posix.join(entries, name));
  const kept = new Set(waiting);
  const shown = new Set(waiting);
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const at = join(folder, file);
    const indented = readFileSync(at, "utf8");
    // Types of contracts are long, and fit readonly types too.
    const plain = file.startsWith(ABI) ? indented.replaceAll(/readonly |(?<=[{;])\n */g, "") : indented;
    // A link leads nowhere where its name is not imported: editors show the name.
    const unlinked = plain.replaceAll(/^ +/gm, "").replaceAll(/\{@link (\S+?)\}/g, "$1");
    const isEntry = posix.dirname(file) === entries;
    const isShown = shown.has(file) || file.startsWith(CLIENTS);
    const text = (isShown ? unlinked : unlinked.replaceAll(COMMENT, "")).replaceAll(IMPORT, (_, how, path) => {
      const target = posix.join(posix.dirname(file), `${path}.d.ts`);
      if (isEntry) shown.add(target);
      if (!kept.has(target)) waiting.push(target);
      kept.add(target);
      return `${how}"${path}.js"`;
    });
    writeFileSync(at, text);
  }
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith(".d.ts") && !kept.has(name.replaceAll("\\", "/"))) rmSync(join(folder, name));
}
