/** Bytes of the deployed verifier, by the class of their functions. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { FROM_IR, MODELLED } from "./modelled.ts";

/** Where the figures are kept: a checkout may have artifacts without the compiler's output. */
export const BYTES = "test/golden/proofBytes.json";

/** The contracts of the deployed verifier, and their paths. */
const VERIFIER = ["StepVerifier", "Elementary"] as const;
const artifactOf = (name: string): string => `artifacts/contracts/verifier/${name}.sol/${name}.json`;

/** Bytes of a contract: the instructions by the class of their function, and data after the instructions. */
type Figures = {
  readonly code: string;
  readonly proven: number;
  readonly modelled: number;
  readonly tested: number;
  readonly data: number;
};
type Bytes = Readonly<Record<string, Figures>>;

type Artifact = { readonly deployedBytecode: string; readonly buildInfoId?: string; readonly sourceName: string };
type Tree = { readonly nodeType?: string; readonly name?: string; readonly src?: string };
type Output = {
  readonly sources: Readonly<Record<string, { readonly id: number; readonly ast: Tree }>>;
  readonly contracts: Readonly<
    Record<string, Record<string, { evm: { deployedBytecode: { object: string; sourceMap: string } } }>>
  >;
};

const read = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

/** The hash of each contract's deployed bytecode. */
export const codeOf = (name: string): string =>
  createHash("sha256")
    .update((read(artifactOf(name)) as Artifact).deployedBytecode)
    .digest("hex")
    .slice(0, 16);

/** The kept figures. */
export const keptBytes = (): Bytes => read(BYTES) as Bytes;

/** The figures by the compiler's source maps; undefined where the build has none. */
export function bytesByBuild(): Bytes | undefined {
  const builds = VERIFIER.map((name) => {
    const { buildInfoId } = read(artifactOf(name)) as Artifact;
    return `artifacts/build-info/${buildInfoId}.output.json`;
  });
  if (!builds.every((path) => existsSync(path))) return undefined;
  const outputs = new Map([...new Set(builds)].map((path) => [path, (read(path) as { output: Output }).output]));
  return Object.fromEntries(VERIFIER.map((name, k) => [name, figuresOf(name, outputs.get(builds[k]!)!)]));
}

function figuresOf(name: string, { sources, contracts }: Output): Figures {
  const source = Object.keys(contracts).find((each) => each.endsWith(`contracts/verifier/${name}.sol`))!;
  const { object, sourceMap } = contracts[source]![name]!.evm.deployedBytecode;
  const code = Buffer.from(object.replace(/__\$\w{34}\$__/g, "00".repeat(20)), "hex");
  const proven = rangesOf(sources, (library) => FROM_IR[library] ?? []);
  const modelled = rangesOf(sources, (library) => Object.keys(MODELLED[library] ?? {}));
  let [at, inProven, inModels] = [0, 0, 0];
  let [start, file] = [0, -1];
  for (const entry of sourceMap.split(";")) {
    const [from, , index] = entry.split(":");
    if (from) start = Number(from);
    if (index) file = Number(index);
    const opcode = code[at]!;
    const size = opcode >= 0x60 && opcode <= 0x7f ? opcode - 0x5e : 1;
    if (isIn(proven, file, start)) inProven += size;
    else if (isIn(modelled, file, start)) inModels += size;
    at += size;
  }
  return {
    code: codeOf(name),
    proven: inProven,
    modelled: inModels,
    tested: at - inProven - inModels,
    data: code.length - at,
  };
}

type Ranges = ReadonlyMap<number, readonly (readonly [number, number])[]>;

const isIn = (ranges: Ranges, file: number, at: number): boolean =>
  ranges.get(file)?.some(([first, end]) => first <= at && at < end) ?? false;

/** Where the sources have functions of a class: pairs of offsets, by the number of the source. */
function rangesOf(sources: Output["sources"], namesOf: (library: string) => readonly string[]): Ranges {
  const ranges = new Map<number, (readonly [number, number])[]>();
  for (const [path, { id, ast }] of Object.entries(sources)) {
    const library = /contracts\/(?:verifier|merkle)\/(\w+)\.sol$/.exec(path)?.[1];
    const names = new Set(library === undefined ? [] : namesOf(library));
    if (names.size === 0) continue;
    const found = functionsIn(ast).filter((each) => names.has(each.name!));
    ranges.set(
      id,
      found.map(({ src }) => {
        const [start, length] = src!.split(":").map(Number) as [number, number];
        return [start, start + length] as const;
      }),
    );
  }
  return ranges;
}

function functionsIn(tree: unknown): Tree[] {
  if (typeof tree !== "object" || tree === null) return [];
  const own = (tree as Tree).nodeType === "FunctionDefinition" ? [tree as Tree] : [];
  return [...own, ...Object.values(tree).flatMap(functionsIn)];
}

/** The figures of a contract as a line of docs/security.md. */
export const bytesLine = (name: string, { proven, modelled, tested, data }: Figures): string =>
  `\`${name}\`: ${number(proven)} proven from intermediate code, ${number(modelled)} more ` +
  `modelled by hand and proven, ${number(tested)} tested, and ${number(data)} of data`;

/** The share in the README. */
export function bytesSentence(bytes: Bytes): string {
  const all = Object.values(bytes);
  const sum = (of: (each: Figures) => number): number => all.reduce((total, each) => total + of(each), 0);
  const [proven, models] = [sum((each) => each.proven), sum((each) => each.proven + each.modelled)];
  const code = models + sum((each) => each.tested);
  return (
    `The models cover ${number(models)} of the deployed verifier's ${number(code)} bytes of instructions; for ` +
    `${number(proven)} of these, the compiler's intermediate code is proven to be the model.`
  );
}

const number = (value: number): string => value.toLocaleString("en-US");
