import { BIG } from "./big.ts";
import { DOUBLES } from "./doubles.ts";
import { ELEMENTARY } from "./elementary.ts";
import { FLOATS } from "./floats.ts";
import { SHA256 } from "./sha256.ts";
import { SUMS } from "./sums.ts";
import { WIDE } from "./wide.ts";

/** Invocations of a workgroup, and the workgroups of a row of the grid: adapters allow at least 65,535. */
const GROUP = 64;
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
 * A whole shader: binding 0 is the memory in words of 32 bits, binding 1 the parameters. Each invocation calls `work`
 * with its number.
 * @param body The declaration of `fn work(w: u32)`, and what else the library does not declare.
 * @param vectors How many vectors of four parameters there are.
 */
export const shaderOf = (body: string, vectors: number): string => `
@group(0) @binding(0) var<storage, read_write> mem: array<u32>;
@group(0) @binding(1) var<uniform> P: array<vec4u, ${vectors}>;
${needed(body).join("\n")}
${body}
@compute @workgroup_size(${GROUP}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) {
  work((g.y * ${ROW}u + g.x) * ${GROUP}u + l);
}`;

/** The grid for a number of invocations. */
export function gridOf(invocations: number): [number, number] {
  const groups = Math.ceil(invocations / GROUP);
  return [Math.min(groups, ROW), Math.ceil(groups / ROW)];
}
