// The types that users of the package see.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";

const IMPORT = /((?:from|import) ?\(?)"(\.[^"]+)\.ts"/g;

/** Types that the compiler infers from constants. */
const ABI = "src/chain/abi/";

/**
 * Keeps the declarations that the package's entries reach, without their indentation, and removes the others. Their
 * imports name built files.
 * @param folder Of the built files.
 * @param entries Its folder with the entries.
 */
export function pruneDeclarations(folder, entries) {
  const waiting = readdirSync(join(folder, entries))
    .filter((name) => name.endsWith(".d.ts"))
    .map((name) => posix.join(entries, name));
  const kept = new Set(waiting);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const at = join(folder, file);
    const indented = readFileSync(at, "utf8");
    // Types of contracts are long, and fit readonly types too.
    const plain = file.startsWith(ABI) ? indented.replaceAll(/readonly |(?<=[{;])\n */g, "") : indented;
    // A link leads nowhere where its name is not imported: editors show the name.
    const unlinked = plain.replaceAll(/^ +/gm, "").replaceAll(/\{@link (\S+?)\}/g, "$1");
    const text = unlinked.replaceAll(IMPORT, (_, how, path) => {
      const target = posix.join(posix.dirname(file), `${path}.d.ts`);
      if (!kept.has(target)) waiting.push(target);
      kept.add(target);
      return `${how}"${path}.js"`;
    });
    writeFileSync(at, text);
  }
  for (const name of readdirSync(folder, { recursive: true }))
    if (name.endsWith(".d.ts") && !kept.has(name.replaceAll("\\", "/"))) rmSync(join(folder, name));
}
