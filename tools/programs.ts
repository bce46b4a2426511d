/** A program of the tools. */
export type Program = {
  /** One word, or two: `market dispatch`. Empty for the only program of a script. */
  name: string;
  about: string;
  /** Its file, below `tools`. */
  main: string;
  /** Whether it needs the contracts compiled: they are compiled first if they changed. */
  needsBuild?: boolean;
  /** Options that come before the caller's. */
  options?: readonly string[];
  /** Flags of Node. */
  nodeFlags?: readonly string[];
};

const needsBuild = true;

/** The programs, by the package.json script that starts them: `npm run measure -- speed`. */
export const PROGRAMS: Readonly<Record<"measure" | "verify" | "write" | "release", readonly Program[]>> = {
  measure: [
    {
      name: "speed",
      about: "exact execution against plain onnxruntime, side by side",
      main: "measure/speed/main.ts",
    },
    {
      name: "speed generation",
      about: "tokens of decoders, against a loop of plain onnxruntime",
      main: "measure/speed/generation/main.ts",
    },
    {
      name: "speed batch",
      about: "items of a batch, against a loop of plain onnxruntime",
      main: "measure/speed/batch/main.ts",
    },
    {
      name: "speed training",
      about: "steps of training, against plain onnxruntime on the same graph",
      main: "measure/speed/training/main.ts",
    },
    {
      name: "speed native",
      about: "decisions by native execution, against plain onnxruntime",
      main: "measure/speed/native/main.ts",
    },
    {
      name: "speed float64",
      about: "operators of float64: nanoseconds an element",
      main: "measure/speed/float64.ts",
    },
    {
      name: "speed worst",
      about: "the slowest execution of some 2,600 programs, against the work of each",
      main: "measure/speed/worst/main.ts",
    },
    {
      name: "speed compiling",
      about: "processor time of compiling: long graphs, and a language model",
      main: "measure/speed/compiling.ts",
    },
    {
      name: "text",
      about: "text from a large decoder under one claim, and workers that leave layers out",
      main: "measure/text/main.ts",
      nodeFlags: ["--expose-gc"],
      needsBuild,
    },
    {
      name: "text gateway",
      about: "what a gateway takes of a block, beside plain onnxruntime; how long a liar is bought from",
      main: "measure/text/gateway.ts",
      needsBuild,
    },
    {
      name: "gas",
      about: "gas of every call, every move of a dispute, the step proof by kind",
      main: "measure/gas/main.ts",
      needsBuild,
    },
    {
      name: "gas inputs",
      about: "gas of a large input: by calldata, by blobs, by reference",
      main: "measure/gas/inputs.ts",
    },
    {
      name: "memory",
      about: "where the memory of a worker goes",
      main: "measure/memory/main.ts",
      nodeFlags: ["--expose-gc"],
    },
    {
      name: "market load",
      about: "jobs a second and gas a job on a market of 8 workers and 2 watchers",
      main: "measure/market/load/main.ts",
      needsBuild,
    },
    {
      name: "market batch",
      about: "1,000 pictures under one claim, and a lie in one of them",
      main: "measure/market/batch.ts",
      needsBuild,
    },
    {
      name: "market dispatch",
      about: "1,000 pictures over four workers: one lies, one is slow, one dies",
      main: "measure/market/dispatch.ts",
      needsBuild,
    },
    {
      name: "market runs",
      about: "items executed beside each other; disputes about items of a run of 10,000",
      main: "measure/market/runs.ts",
    },
    {
      name: "market tickets",
      about: "answers with signed claims, some of whose tickets win: gas and time an answer",
      main: "measure/market/tickets.ts",
      needsBuild,
    },
    {
      name: "market economics",
      about: "the tables of docs/economics.md, from what the contracts enforce",
      main: "measure/market/economics.ts",
      needsBuild,
    },
    {
      name: "decisions",
      about: "native decisions against exact ones, counted; and attacks on them",
      main: "measure/decisions/main.ts",
    },
    {
      name: "attestation relay",
      about: "what exams catch: devices that answer for others",
      main: "measure/attestation/relay/main.ts",
    },
    {
      name: "attestation canary",
      about: "which real jobs can be told from canaries",
      main: "measure/attestation/canary/main.ts",
    },
    {
      name: "gpu",
      about: "a visit to a GPU: tests, rates, products, models and exams beside the CPU, as JSON",
      main: "measure/gpu/main.ts",
    },
    {
      name: "models",
      about: "every model of the tests: steps, agreement with onnxruntime, audit on chain, gas",
      main: "measure/models/main.ts",
      needsBuild,
    },
    {
      name: "models training",
      about: "models trained on real data as runs: digits, text, diffusion",
      main: "measure/models/training/main.ts",
    },
  ],
  verify: [
    {
      name: "oldest",
      about: "the tests of what depends on Node, on the oldest Node that package.json promises",
      main: "verify/oldest.ts",
      needsBuild,
    },
    {
      name: "length",
      about: "what `npm test` leaves out: whole tests, and parts of some",
      main: "verify/length.ts",
      needsBuild,
    },
    {
      name: "system",
      about: "end to end: a fleet on a queue, the page in browsers, the package, the files of operations",
      main: "verify/system.ts",
      needsBuild,
    },
    {
      name: "contracts",
      about: "the packed contracts are the compiler's output; each deployed one is below 24,576 bytes",
      main: "verify/contracts.ts",
      needsBuild,
    },
    {
      name: "smt",
      about: "arithmetic of clocks, payouts and the ledger, proved for all values by an SMT solver",
      main: "verify/smt/main.ts",
    },
    {
      name: "proofs",
      about: "sums and products of float32, proven in Coq to be the real ones, rounded once",
      main: "verify/proofs/main.ts",
    },
    {
      name: "builds",
      about: "the tests of the contracts, on other builds of them",
      main: "verify/builds/main.ts",
    },
    {
      name: "coverage",
      about: "lines and branches of the contracts that tests pass",
      main: "verify/coverage/main.ts",
      needsBuild,
    },
    {
      name: "mutate",
      about: "small changes of the contracts, or realistic bugs in them, that tests must notice",
      main: "verify/mutate/main.ts",
      needsBuild,
    },
    {
      name: "tdx",
      about: "each bit of a real quote of Intel TDX, flipped",
      main: "verify/tdx/main.ts",
      needsBuild,
    },
    {
      name: "examClasses",
      about: "the programs of exams on many nonces, against the roots of ignition/examClasses",
      main: "verify/examClasses/main.ts",
    },
    {
      name: "exhaust",
      about: "elementary functions on all 2^32 float32: results, errors of the estimates",
      main: "verify/exhaust/main.ts",
    },
    {
      name: "soak",
      about: "random steps, graphs, disputes, markets: definition, executors and contracts must agree",
      main: "verify/soak/main.ts",
      needsBuild,
    },
    {
      name: "soak everyStep",
      about: "one lie in each step of the demonstration's model, each refuted",
      main: "verify/soak/everyStep.ts",
      needsBuild,
    },
  ],
  write: [
    {
      name: "artifacts",
      about: "ignition/artifacts.br: the compiled contracts that `npm start` unpacks",
      main: "write/artifacts.ts",
      needsBuild,
    },
    { name: "abi", about: "src/chain/abi, from the contracts", main: "write/abi.ts", needsBuild },
    {
      name: "snapshot",
      about: "test/contracts/snapshots: ABI and storage layout of every deployed contract",
      main: "write/snapshot/main.ts",
    },
    {
      name: "roots",
      about: "test/golden/programRoots.json: the program roots of all models of the catalogue",
      main: "write/roots.ts",
    },
    {
      name: "cases",
      about: "test/golden/onnxCases.br: cases of the ONNX backend tests",
      main: "write/cases.ts",
    },
    {
      name: "operators",
      about: "docs/operatorTable.md: every operator by operator set",
      main: "write/operators.ts",
    },
    {
      name: "kernels",
      about: "src/numerics/kernels/kernelHashes.ts: the SHA-256 of the kernels",
      main: "write/kernels.ts",
    },
    {
      name: "economics",
      about: "the tables of docs/economics.md, from what the contracts enforce",
      main: "write/economics.ts",
      needsBuild,
    },
    {
      name: "gas",
      about: "test/golden/gas.json: the figures of docs/gas.md, measured",
      main: "measure/gas/main.ts",
      options: ["--json", "test/golden/gas.json"],
      needsBuild,
    },
    {
      name: "exhaust",
      about: "tools/verify/exhaust/table.json and the table of docs/numerics.md, measured",
      main: "verify/exhaust/main.ts",
      options: ["--write"],
    },
    {
      name: "samples",
      about: "web/public/samples and web/landing/recorded.json: the page's models, and a dispute",
      main: "write/samples.ts",
      needsBuild,
    },
    {
      name: "relay",
      about: "the pictures of docs/provisioning.md",
      main: "measure/attestation/relay/main.ts",
      options: ["--write"],
    },
    {
      name: "training",
      about: "the pictures of docs/training.md",
      main: "measure/models/training/main.ts",
      options: ["--write"],
    },
  ],
  release: [
    {
      name: "",
      about: "what changed since the last release, and whether CHANGELOG.md names it",
      main: "release/main.ts",
    },
  ],
};

export type Script = keyof typeof PROGRAMS;
