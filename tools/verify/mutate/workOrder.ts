/** What the runner is told. */
export type Plan = {
  /** Tests, in the order in which they are to run. */
  files: readonly string[];
  mutants: readonly number[];
  /** Most tests that a mutant meets. */
  tries: number;
  /** The tests that killed other mutants, each as often as it did. */
  killers: readonly string[];
  /** Whether a mutant meets all tests, because the contracts do not tell which pass it. */
  all: boolean;
  /** Where the runner keeps its `Reach`; read if it is there. */
  reach: string;
};

/** Which tests pass which mutants. */
export type Reach = {
  tests: Readonly<Record<string, { ids: readonly number[]; milliseconds: number }>>;
  /** What the set-up of suites passes; `titles` are their tests. */
  suites: readonly { title: string; titles: readonly string[]; ids: readonly number[] }[];
  /** Tests that fail without a mutant, because they measure gas or size: they decide nothing. */
  failing: readonly string[];
};

/** A line of the runner. */
export type Report =
  | { kind: "fails"; title: string; message: string }
  | { kind: "begins"; id: number }
  /** killer: the test that failed. tests: how many pass the mutant. */
  | { kind: "ends"; id: number; tests: number; milliseconds: number; killer?: string | undefined };
