import { expect } from "chai";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/**
 * Files and folders from the ground up: each may import itself and what stands before it. A file belongs to the longest
 * entry that holds it, so that a folder may stand below a file that lies in it.
 */
const TYPESCRIPT = [
  "src/base/errors.ts",
  "src/base/getOrAdd.ts",
  "src/base/inTurn.ts",
  "src/base/optionalPackage.ts",
  "src/base/platform.ts",
  "src/base/prng.ts",
  "src/base/redact.ts",
  "src/base/regularFile.ts",
  "src/base/s3Client.ts",
  "src/base/text.ts",
  "src/base/writeWhole.ts",
  "src/base/database",
  "src/model/tokenizer",
  "src/numerics",
  "src/numerics/kernels",
  "src/program/merkle",
  "src/program",
  "src/model/onnx",
  "src/model/decision",
  "src/compiler/errors.ts",
  "src/compiler/runWiring.ts",
  "src/compiler/budget.ts",
  "src/compiler/expressions",
  "src/compiler/steps",
  "src/compiler/lowering",
  "src/compiler/operators/entry.ts",
  "src/compiler/operators",
  "src/compiler/operators/ml",
  "src/compiler/operators/microsoft",
  "src/compiler/operators/internal",
  "src/compiler/operators/registry.ts",
  "src/compiler/graph/control",
  "src/compiler/graph",
  "src/compiler/passes/provable",
  "src/compiler/passes",
  "src/compiler/wrapping",
  "src/compiler/gradients/values.ts",
  "src/compiler/gradients/inlineBody.ts",
  "src/compiler/gradients/backward.ts",
  "src/compiler/gradients/rules",
  "src/compiler/gradients",
  "src/compiler/training",
  "src/compiler/noise",
  "src/compiler/decoder",
  "src/compiler/drawn",
  "src/compiler",
  "src/executor/arrays.ts",
  "src/executor/certificateStats.ts",
  "src/executor/errors.ts",
  "src/executor/halfBits.ts",
  "src/executor/coordinates.ts",
  "src/executor/exactSums.ts",
  "src/executor/sources.ts",
  "src/executor/splitStep.ts",
  "src/executor/spotChecks.ts",
  "src/executor/stages.ts",
  "src/executor/referenceStep.ts",
  "src/executor/reference.ts",
  "src/executor/engine",
  "src/executor/loops",
  "src/executor/memory",
  "src/executor/machine.ts",
  "src/executor/product",
  "src/executor/plan",
  "src/executor/threads",
  "src/executor",
  "src/executor/items",
  "src/program/trace",
  "src/native/plain/ortTensor.ts",
  "src/native/plain/plainRun.ts",
  "src/examine/decoder",
  "src/examine/train",
  "src/native",
  "src/chain/abi",
  "src/chain",
  "src/chain/clients",
  "src/chain/market",
  "src/player",
  "src/runs/fleet",
  "src/dispute",
  "src/attestation",
  "src/parties/worker",
  "watcher",
  "src/parties/requester",
  "src/parties/dispatcher",
  "src/parties/tickets",
  "src/deploy",
  "src/examine",
  "src/package",
  "src/deploy/devnet",
  "src/cli",
  "src/deploy/demo",
  "testkit/atLength.ts",
  "testkit/rejection.ts",
  "testkit/random",
  "testkit/numerics",
  "testkit/numerics/kernels",
  "testkit/nodes",
  "testkit/onnx",
  "testkit/programs",
  "testkit/operators",
  "testkit/graphs",
  "testkit/fuzz",
  "testkit/models",
  "testkit/training",
  "testkit/economics",
  "testkit/native",
  "testkit/decoders",
  "testkit/game",
  "testkit/threads",
  "testkit/verifier",
  "testkit/players",
  "testkit/protocol",
  "testkit/tdx",
  "testkit/disturbances",
  "testkit/processes",
  "testkit/dispatch",
  "testkit/fleet",
  "testkit/soak",
  "testkit/adversaries",
  "web/platform",
  "web/format.ts",
  "web/route.ts",
  "web/value.ts",
  "web/ui",
  "web/pages.ts",
  "web/explorer",
  "web/playground",
  "web/operators",
  "web/docs/render",
  "web/docs",
  "web",
  "tools/options.ts",
  "tools/write",
  "tools/release",
  "tools/measure/keepFigures.ts",
  "tools/measure/chart.ts",
  "tools/measure/speed",
  "tools/measure/text",
  "tools/measure/gas",
  "tools/measure/memory",
  "tools/measure/market",
  "tools/measure/decisions",
  "tools/measure/attestation",
  "tools/measure/models",
  "tools/verify/totals.ts",
  "tools/verify/instrument",
  "tools/verify/builds",
  "tools/verify/replay",
  "tools/verify/coverage",
  "tools/verify/mutate",
  "tools/verify/smt",
  "tools/verify/examClasses",
  "tools/verify/soak",
  "tools/verify/tdx",
  "tools/verify/exhaust",
  "tools/verify",
  "tools",
];

const SOLIDITY = [
  "contracts/types/Semantics.sol",
  "contracts/interfaces/IStepVerifier.sol",
  "contracts/interfaces/IClasses.sol",
  "contracts/merkle",
  "contracts/verifier",
  "contracts/types",
  "contracts/interfaces",
  "contracts/program",
  "contracts/vault",
  "contracts/attestation",
  "contracts/attestation/tdx",
  "contracts/game",
  "contracts/market",
  "contracts/extras/pledge",
  "contracts/extras/tickets",
  "contracts/consumer",
  "contracts/extras/panel",
  "contracts/examples",
  "contracts/test",
];

/** The place of a file in an order; -1 if it has none. */
function rank(order: readonly string[], file: string): number {
  const holders = order.filter((entry) => file === entry || file.startsWith(`${entry}/`));
  return order.indexOf(holders.reduce((a, b) => (b.length > a.length ? b : a), ""));
}

function sources(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name));
}

/** The files that a file imports, of those in the repository. */
const imports = (file: string): string[] =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import) "(\.[^"]+)"/g)].map(([, path]) =>
    relative(".", normalize(join(dirname(file), path!))),
  );

/** Imports that go up an order, and files that have no place in it. */
function wrongImports(order: readonly string[], files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const own = rank(order, file);
    if (own === -1) return [`${file} has no place in the order`];
    const up = imports(file).filter((target) => rank(order, target) > own);
    return up.map((target) => `${file} imports ${target}`);
  });
}

describe("architecture", () => {
  const folders = ["src", "watcher", "testkit", "tools", "web"];
  const files = [...folders.flatMap((folder) => sources(folder, ".ts")), ...sources("web", ".tsx")];
  const contracts = sources("contracts", ".sol");

  it("importsOfTypeScript_goOneWay", () => {
    expect(wrongImports(TYPESCRIPT, files)).to.deep.equal([]);
  });

  it("importsOfSolidity_goOneWay", () => {
    expect(wrongImports(SOLIDITY, contracts)).to.deep.equal([]);
  });

  it("everyEntry_holdsAFile", () => {
    const empty = [
      ...TYPESCRIPT.filter((_, k) => !files.some((file) => rank(TYPESCRIPT, file) === k)),
      ...SOLIDITY.filter((_, k) => !contracts.some((file) => rank(SOLIDITY, file) === k)),
    ];
    expect(empty).to.deep.equal([]);
  });

  it("theCommandLine_isImportedByNothingElse", () => {
    const others = files.filter((file) => !file.startsWith("src/cli/"));
    const importing = others.filter((file) => imports(file).some((target) => target.startsWith("src/cli/")));
    expect(importing).to.deep.equal([]);
  });
});
