/** The runner's input. */
export type Plan = {
  /** Tests, in the order in which they are to run. */
  files: readonly string[];
  mutants: readonly number[];
  /** The maximum number of tests that a mutant is tried on. */
  tries: number;
  /** The tests that killed other mutants, each once for every such mutant. */
  killers: readonly string[];
  /** Whether a mutant is tried on all tests, because the contracts do not report which of them execute it. */
  all: boolean;
  /** The file in which the runner keeps its `Reach`; it is read if it exists. */
  reach: string;
};

/** Which tests execute which mutants. */
export type Reach = {
  tests: Readonly<Record<string, { ids: readonly number[]; milliseconds: number }>>;
  /** The mutants that the set-up of suites executes; `titles` are the suites' tests. */
  suites: readonly { title: string; titles: readonly string[]; ids: readonly number[] }[];
  /** Tests that fail without a mutant, because they measure gas or size: they do not count. */
  failing: readonly string[];
};

/** A line of the runner's output. */
export type Report =
  | { kind: "fails"; title: string; message: string }
  | { kind: "begins"; id: number }
  /** killer: the test that failed. tests: how many execute the mutant. */
  | { kind: "ends"; id: number; tests: number; milliseconds: number; killer?: string | undefined };
