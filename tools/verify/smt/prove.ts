/**
 * solc's SMTChecker on the harness contracts of test/contracts/smt, with the z3 inside the compiler's WASM: nothing but
 * the npm package `solc` is needed.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The result for one harness. */
type Verdict = {
  /** Targets (assertions, overflows, underflows, divisions by zero) that hold for all values. */
  readonly proved: number;
  /** Targets that are violated, undecided, vacuous or not checked. Empty if all is proved. */
  readonly problems: readonly string[];
};

type Place = { file: string; start: number; end: number };
type Message = { severity: string; message: string; formattedMessage: string; sourceLocation?: Place };

const require = createRequire(import.meta.url);
/**
 * Stands at the end of each function. A path that reaches it violates it. If none does, the assertions before it are
 * vacuous.
 */
const REACHED = "assert(false);";
const FUNCTION = /\n    function (\w+)\([^{]*\{\n([\s\S]*?)\n    \}\n/g;
/**
 * Warnings about unsupported features, such as errors and assembly, in imported files. The checker then assumes any
 * value, so that proofs still hold.
 */
const HARMLESS =
  /Assertion checker does not yet (implement|support)|Inline assembly|BMC engine of the SMTChecker is deprecated/;

/**
 * Proves the harness contract `name` of test/contracts/smt/`name`.sol.
 * @param edit Changes a source before it is checked, by its path (tests plant bugs by it).
 * @param only The one function to look at; all by default.
 */
export function prove(name: string, edit = (_path: string, source: string): string => source, only?: string): Verdict {
  const path = `test/contracts/smt/${name}.sol`;
  const read = (file: string): string => edit(file, readFileSync(file, "utf8"));
  const content = read(path).replace(FUNCTION, (text: string, called: string) => {
    if (only !== undefined && called !== only) return "\n";
    return text.replace(/\n    \}\n$/, `\n        ${REACHED}\n    }\n`);
  });
  const input = {
    language: "Solidity",
    sources: { [path]: { content } },
    settings: {
      modelChecker: {
        contracts: { [path]: [name] },
        engine: "bmc",
        solvers: ["z3"],
        targets: ["assert", "overflow", "underflow", "divByZero"],
        showProvedSafe: true,
        showUnproved: true,
        showUnsupported: true,
      },
      remappings: ["@openzeppelin/=node_modules/@openzeppelin/"],
      outputSelection: {},
    },
  };
  const imports = { import: (file: string) => ({ contents: read(file) }) };
  const solc = require("solc") as { compile(input: string, imports: object): string };
  const { errors = [] } = JSON.parse(solc.compile(JSON.stringify(input), imports)) as { errors?: Message[] };
  return judge(path, content, errors);
}

function judge(path: string, content: string, messages: readonly Message[]): Verdict {
  const textOf = ({ file, start, end }: Place): string => (file === path ? content.slice(start, end) : "");
  const asserts = new Map([...content.matchAll(/assert\(/g)].map(({ index }) => [index, "not looked at"]));
  const problems: string[] = [];
  let proved = 0;
  for (const { severity, message, formattedMessage, sourceLocation } of messages) {
    const place = sourceLocation ?? { file: "", start: -1, end: -1 };
    const reached = textOf(place).startsWith(REACHED.slice(0, -1));
    if (place.file === path) asserts.delete(place.start);
    if (severity === "info" && message.includes("check is safe")) {
      if (reached) problems.push(`vacuous: nothing reaches the end of the function\n${formattedMessage}`);
      else proved++;
    } else if (!reached && !HARMLESS.test(message)) {
      problems.push(formattedMessage);
    }
  }
  for (const start of asserts.keys())
    problems.push(`not looked at: ${content.slice(start, content.indexOf(";", start))}`);
  return { proved, problems };
}
