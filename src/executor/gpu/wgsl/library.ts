import { BIG } from "./big.ts";
import { DOUBLES } from "./doubles.ts";
import { ELEMENTARY } from "./elementary.ts";
import { FLOATS } from "./floats.ts";
import { SHA256 } from "./sha256.ts";
import { SUMS } from "./sums.ts";
import { WIDE } from "./wide.ts";

/** Invocations of a workgroup, and the workgroups of a row of the grid: adapters allow at least 65,535. */
export const GROUP = 64;
const ROW = 32_768;

const HEAD = /^(?:fn|struct|alias|const|var<private>) (\w+)/;

/** Each declaration of the library, by its name. */
const DECLARATIONS: ReadonlyMap<string, string> = new Map(
  [WIDE, FLOATS, BIG, DOUBLES, ELEMENTARY, SUMS, SHA256]
    .flatMap((text) => text.split(/\n(?=(?:fn|struct|alias|const|var<private>) )/))
    .flatMap((text) => {
      const name = HEAD.exec(text)?.[1];
      return name === undefined ? [] : [[name, text] as const];
    }),
);

/** The declarations of the library that a text needs, each after the text that names it first. */
function needed(body: string): string[] {
  const found = new Set<string>();
  const texts = [body];
  for (let k = 0; k < texts.length; k++)
    for (const [name] of texts[k]!.matchAll(/\b[A-Za-z]\w*\b/g))
      if (DECLARATIONS.has(name) && !found.has(name)) {
        found.add(name);
        texts.push(DECLARATIONS.get(name)!);
      }
  return texts.slice(1);
}

/**
 * A kernel's text without bindings. Each invocation calls `work` with a number; `peek` and `poke` read and write a
 * memory word, and `P` holds the parameters.
 * @param body Declares `fn work(w: u32)`, and everything else missing in the library.
 */
export const shaderOf = (body: string): string => `${needed(body).join("\n")}\n${body}`;

/**
 * Adds the bindings and the entry function to a kernel's text. Memory addresses count words across several buffers with
 * `pageWords` each; with a single buffer, an address is an index.
 * @param vectors The number of parameter vectors, four words each; the last begins with the first invocation's number.
 */
export function boundText(source: string, vectors: number, pages: number, pageWords: number): string {
  const numbers = Array.from({ length: pages }, (_, k) => k);
  const places = numbers.map((k) => `@group(0) @binding(${k + 1}) var<storage, read_write> page${k}: array<u32>;`);
  const chosen = (text: (k: number) => string): string => {
    const cases = numbers.slice(1).map((k) => `case ${k}u: { ${text(k)} }`);
    const place = `let n = i / ${pageWords}u; let at = i - n * ${pageWords}u;`;
    return `${place} switch n { ${cases.join(" ")} default: { ${text(0)} } }`;
  };
  const [read, write] =
    pages === 1
      ? ["return page0[i];", "page0[i] = v;"]
      : [chosen((k) => `return page${k}[at];`), chosen((k) => `page${k}[at] = v;`)];
  return `@group(0) @binding(0) var<uniform> P: array<vec4u, ${vectors}>;
${places.join("\n")}
fn peek(i: u32) -> u32 { ${read} }
fn poke(i: u32, v: u32) { ${write} }
${source}
@compute @workgroup_size(${GROUP}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) {
  work(P[${vectors - 1}].x + (g.y * ${ROW}u + g.x) * ${GROUP}u + l);
}`;
}

/** The grid for a number of invocations. */
export function gridOf(invocations: number): [number, number] {
  const groups = Math.ceil(invocations / GROUP);
  return [Math.min(groups, ROW), Math.ceil(groups / ROW)];
}
